"""The page of an organization's own credentials at one external provider."""

from typing import Final

from msgspec import field

from core.errors import BadRequest, Refusal
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.secrets import Secret
from core.sign_in.upstream import configuring
from core.sign_in.upstream.connections import oauth_credentials
from core.sign_in.upstream.connections.oauth_credentials import CredentialsUnset
from core.sign_in.upstream.providers import ExternalProvider
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of
from entrypoints.pages.frame.forms import no_secret
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.sign_in.upstream.providers import callback_of
from entrypoints.shared.sign_in.identities import external_of
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent, recent_for_form
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()
CREDENTIALS: Final = "/app/organizations/:org_slug/sign-in/oauth-credentials/:provider"


class CredentialsForm(ProtectedForm, kw_only=True):
    """What the provider has given to the organization."""

    client_id: str = ""
    client_secret: Secret = field(default_factory=no_secret)


async def _page(
    call: Call,
    org_slug: str,
    provider: str,
    *,
    form: CredentialsForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    standing, found = await opened(call, org_slug, Operation.OAUTH_CREDENTIALS_READ, configuring.overview)
    external = _named(call, provider)
    named = external.provider
    client_id = found.client_id_at(external)
    return console_page(
        call,
        "sign_in/upstream/connections/oauth_credentials.html",
        standing,
        program=Program(
            "provider_credentials_set_oauth_credentials",
            org_slug,
            named,
            body={"client_id": client_id or "…", "client_secret": "…"},
        ),
        refusal=refusal,
        problems=problems_of(refusal),
        provider=external.title,
        client_id=client_id,
        typed=form.client_id if form is not None else client_id or "",
        is_of_platform=external.client is not None,
        callback=callback_of(call, named),
        lacks_setting=standing.lacks(Operation.OAUTH_CREDENTIALS_SET),
        page=f"{page_of(org_slug)}/sign-in/oauth-credentials/{named}",
        overview=f"{page_of(org_slug)}/sign-in",
    )


@routes.get(CREDENTIALS, refuses=(CredentialsUnset,))
@in_console(Operation.OAUTH_CREDENTIALS_READ)
async def show_credentials(call: Call, org_slug: str, provider: str) -> Page:
    """Show the credentials at a provider without the secret, the callback address, and the form that sets them."""
    page = await _page(call, org_slug, provider)
    await recent_for_form(call)
    return page


@routes.post(CREDENTIALS, refuses=(BadRequest, CredentialsUnset))
@in_console(Operation.OAUTH_CREDENTIALS_SET)
@shows_again(_page, BadRequest)
async def save_credentials(call: Call, org_slug: str, provider: str, form: CredentialsForm) -> PageOrRedirect:
    """Set the credentials; programs use `PUT /api/organizations/:slug/oauth-credentials/:provider`."""
    await call.read(authorize, org_slug, Operation.OAUTH_CREDENTIALS_SET)
    external = _named(call, provider)
    await call.transact(
        oauth_credentials.save, org_slug, external, client_id=form.client_id, client_secret=form.client_secret.reveal()
    )
    return after(f"{page_of(org_slug)}/sign-in", "credentials-saved")


@routes.post(f"{CREDENTIALS}/delete", refuses=(CredentialsUnset,))
@in_console(Operation.OAUTH_CREDENTIALS_CHANGE)
async def delete_credentials(call: Call, org_slug: str, provider: str) -> PageOrRedirect:
    """Delete the credentials; programs use `DELETE /api/organizations/:slug/oauth-credentials/:provider`."""
    await call.read(authorize, org_slug, Operation.OAUTH_CREDENTIALS_CHANGE)
    named = _named(call, provider).provider
    await recent(call, page=f"{page_of(org_slug)}/sign-in/oauth-credentials/{named}")
    await call.transact(oauth_credentials.remove, org_slug, named)
    return after(f"{page_of(org_slug)}/sign-in", "credentials-deleted")


def _named(call: Call, text: str) -> ExternalProvider:
    """Return the external provider of that name; raise `CredentialsUnset`."""
    found = external_of(call, text)
    if found is None:
        raise CredentialsUnset
    return found
