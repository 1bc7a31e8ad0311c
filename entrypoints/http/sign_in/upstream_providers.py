"""Upstream connections: identity providers of an organization."""

from uuid import UUID

import msgspec

from core.errors import BadRequest
from core.limits import LARGE_BODY_BYTES_MAX
from core.organizations.access import Operation
from core.sign_in.upstream import connection_wishes, connections
from core.sign_in.upstream.answers import UpstreamFailed
from core.sign_in.upstream.connections import Connection, ConnectionUnknown, ConnectionWishes, TooManyConnections
from core.sign_in.upstream.saml import MetadataUnusable, SamlDescription, SamlMetadata
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_organization
from entrypoints.web.hidden import SecretBody
from entrypoints.web.routes import Routes

routes = Routes(
    "upstream connections",
    "Identity providers of an organization, by which its people sign in. A session that begins by one is confined to"
    " the organization and its services. Register `{base_url}/auth/upstream/callback` with an OpenID provider, and"
    " `{base_url}/auth/upstream/:id/metadata` with a SAML identity provider, whose metadata may follow afterwards: the"
    " connection is enabled with them. The assertion consumer service is `{base_url}/auth/upstream/:id/acs`.",
)


class ConnectionChange(SecretBody, kw_only=True):
    """The fields to change; omitted fields keep their values, and an empty `joins_as` makes no members."""

    name: str | None = None
    issuer: str | None = None
    client_id: str | None = None
    client_secret: str | None = None
    scopes: list[str] | None = None
    metadata_url: str | None = None
    metadata_xml: str | None = None
    attribute_mapping: dict[str, str] | None = None
    joins_as: str | None = None
    trust_mfa: bool | None = None
    enabled: bool | None = None

    @property
    def wishes(self) -> ConnectionWishes:
        """The fields to set."""
        return ConnectionWishes(**{name: getattr(self, name) for name in ConnectionWishes.__dataclass_fields__})


class ConnectionCreation(ConnectionChange, kw_only=True):
    """A new connection: name, issuer, client id and client secret are required; by SAML, the name is."""

    type: str


class ConnectionList(msgspec.Struct, kw_only=True):
    """All connections of the organization, the oldest first."""

    upstream_providers: list[Connection]
    total: int


class ConnectionTested(msgspec.Struct, kw_only=True):
    """Whether the provider can be reached and describes itself as it should."""

    success: bool
    message: str


@routes.get("/api/organizations/:slug/upstream-providers")
@in_organization(Operation.CONNECTIONS_READ)
async def list_upstream_providers(call: Call, slug: str) -> ConnectionList:
    """List the connections, the oldest first."""
    found = list(await call.read(connections.list_all, slug))
    return ConnectionList(upstream_providers=found, total=len(found))


@routes.post(
    "/api/organizations/:slug/upstream-providers", body_bytes_max=LARGE_BODY_BYTES_MAX, refuses=(TooManyConnections,)
)
@in_organization(Operation.CONNECTION_CONFIGURE)
async def create_upstream_provider(call: Call, slug: str, body: ConnectionCreation) -> Connection:
    """Create a connection by OpenID Connect discovery, or by SAML metadata, which are read now."""
    return await call.transact(
        connections.create,
        slug,
        body.type,
        body.wishes,
        described=await _described(call, slug, body.wishes),
        allowed=call.installation.settings.outbound_allowed,
    )


@routes.get("/api/organizations/:slug/upstream-providers/:provider_id", refuses=(ConnectionUnknown,))
@in_organization(Operation.CONNECTIONS_READ)
async def show_upstream_provider(call: Call, slug: str, provider_id: UUID) -> Connection:
    """Show a connection, without its secret."""
    return await call.read(connections.show, slug, provider_id)


@routes.patch(
    "/api/organizations/:slug/upstream-providers/:provider_id",
    body_bytes_max=LARGE_BODY_BYTES_MAX,
    refuses=(ConnectionUnknown,),
)
@in_organization(Operation.CONNECTION_CONFIGURE)
async def change_upstream_provider(call: Call, slug: str, provider_id: UUID, body: ConnectionChange) -> Connection:
    """Change a connection. With another issuer, the accounts of the one before are unlinked."""
    return await call.transact(
        connections.change,
        slug,
        provider_id,
        body.wishes,
        described=await _described(call, slug, body.wishes),
        allowed=call.installation.settings.outbound_allowed,
    )


@routes.delete("/api/organizations/:slug/upstream-providers/:provider_id", status=204, refuses=(ConnectionUnknown,))
@in_organization(Operation.CONNECTIONS_CHANGE)
async def delete_upstream_provider(call: Call, slug: str, provider_id: UUID) -> None:
    """Delete a connection with its identities and domain routes. The sessions that began by it end."""
    await call.transact(connections.delete, slug, provider_id)


@routes.post("/api/organizations/:slug/upstream-providers/:provider_id/test", refuses=(ConnectionUnknown,))
@in_organization(Operation.CONNECTIONS_CHANGE)
async def test_upstream_provider(call: Call, slug: str, provider_id: UUID) -> ConnectionTested:
    """Fetch the provider's description of itself, and its keys or certificates."""
    return await tested(call, await call.read(connections.find_to_test, slug, provider_id))


async def tested(call: Call, connection: Connection) -> ConnectionTested:
    """Ask the provider of a connection what it says of itself now."""
    if connection.issuer is None:
        return ConnectionTested(success=False, message="Set the metadata of the identity provider first.")
    try:
        if connection.is_saml:
            await call.installation.saml_connections.describe(connection.metadata, is_fresh=True)
        else:
            await call.installation.upstream_connections.discover(connection.issuer, is_fresh=True)
    except MetadataUnusable as unusable:
        return ConnectionTested(success=False, message=unusable.problem)
    except UpstreamFailed as failed:
        return ConnectionTested(
            success=False,
            message=f"{failed.problem or 'The provider did not answer as it should.'} Check that its address is right"
            " and can be reached, and try again.",
        )
    return ConnectionTested(success=True, message="The provider can be reached, and describes itself as it should.")


async def _described(call: Call, slug: str, wishes: ConnectionWishes) -> SamlDescription | None:
    """Return what the metadata say that a caller has named; None without any."""
    if wishes.metadata_url is None and wishes.metadata_xml is None:
        return None
    # Before anything is fetched for them.
    await call.read(connections.require_may_change, slug)
    return await described(call, wishes)


async def described(call: Call, wishes: ConnectionWishes) -> SamlDescription | None:
    """Return what the metadata of a wish say; raise `BadRequest` of its field when they cannot be used."""
    url, xml = connection_wishes.metadata_of(wishes, call.installation.settings.outbound_allowed)
    try:
        return await call.installation.saml_connections.describe(SamlMetadata(url=url, xml=xml), is_fresh=True)
    except MetadataUnusable as unusable:
        raise BadRequest.of_field("metadata_xml" if url is None else "metadata_url", unusable.problem) from None
    except UpstreamFailed as failed:
        problem = failed.problem or "Check the address."
        raise BadRequest.of_field("metadata_url", f"The metadata cannot be read there. {problem}") from None
