"""An organization's own credentials at the external providers."""

from core.organizations.access import Operation
from core.sign_in.upstream.connections import oauth_credentials
from core.sign_in.upstream.connections.oauth_credentials import CredentialsUnset, OwnCredentials
from core.sign_in.upstream.providers import linked_of
from entrypoints.shared.sign_in.identities import external_of
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "provider credentials",
    "An organization's own credentials at GitHub (`codehost`), Google (`websuite`) and Microsoft (`officesuite`), and"
    " at providers that the operator has added. They take precedence over the platform's, and what they sign in to is"
    " the organization and its services alone.",
)


class CredentialsBody(SecretBody, kw_only=True):
    """What the provider has given to the organization."""

    client_id: str
    client_secret: str


@routes.get("/api/organizations/:slug/oauth-credentials/:provider", refuses=(CredentialsUnset,))
@in_organization(Operation.OAUTH_CREDENTIALS_READ)
async def show_oauth_credentials(call: Call, slug: str, provider: str) -> OwnCredentials:
    """Show the credentials, without the secret."""
    return await call.read(oauth_credentials.show, slug, linked_of(provider))


@routes.put("/api/organizations/:slug/oauth-credentials/:provider", refuses=(CredentialsUnset,))
@in_organization(Operation.OAUTH_CREDENTIALS_SET)
async def set_oauth_credentials(call: Call, slug: str, provider: str, body: CredentialsBody) -> OwnCredentials:
    """Set the credentials. Register `{base_url}/auth/{provider}/callback` with the provider."""
    return await call.transact(
        oauth_credentials.save,
        slug,
        external_of(call, provider),
        client_id=body.client_id,
        client_secret=body.client_secret,
    )


@routes.delete("/api/organizations/:slug/oauth-credentials/:provider", status=204, refuses=(CredentialsUnset,))
@in_organization(Operation.OAUTH_CREDENTIALS_CHANGE)
async def delete_oauth_credentials(call: Call, slug: str, provider: str) -> None:
    """Delete the credentials; the platform's apply again, if it has any."""
    await call.transact(oauth_credentials.remove, slug, linked_of(provider))
