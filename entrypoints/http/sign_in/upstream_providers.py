"""Upstream connections: identity providers of an organization."""

from uuid import UUID

import msgspec

from core.organizations.access import Operation
from core.sign_in.upstream import connections
from core.sign_in.upstream.answers import UpstreamFailed
from core.sign_in.upstream.connections import Connection, ConnectionUnknown, ConnectionWishes, TooManyConnections
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_organization
from entrypoints.web.hidden import SecretBody
from entrypoints.web.routes import Routes

routes = Routes(
    "upstream connections",
    "Identity providers of an organization, by which its people sign in. A session that begins by one is confined to"
    " the organization and its services. Register `{base_url}/auth/upstream/callback` with the provider.",
)


class ConnectionChange(SecretBody, kw_only=True):
    """The fields to change; omitted fields keep their values, and an empty `joins_as` makes no members."""

    name: str | None = None
    issuer: str | None = None
    client_id: str | None = None
    client_secret: str | None = None
    scopes: list[str] | None = None
    attribute_mapping: dict[str, str] | None = None
    joins_as: str | None = None
    trust_mfa: bool | None = None
    enabled: bool | None = None

    @property
    def wishes(self) -> ConnectionWishes:
        """The fields to set."""
        return ConnectionWishes(**{name: getattr(self, name) for name in ConnectionWishes.__dataclass_fields__})


class ConnectionCreation(ConnectionChange, kw_only=True):
    """A new connection: name, issuer, client id and client secret are required."""

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


@routes.post("/api/organizations/:slug/upstream-providers", refuses=(TooManyConnections,))
@in_organization(Operation.CONNECTIONS_CHANGE)
async def create_upstream_provider(call: Call, slug: str, body: ConnectionCreation) -> Connection:
    """Create a connection by OpenID Connect discovery."""
    allowed = call.installation.settings.outbound_allowed
    return await call.transact(connections.create, slug, body.type, body.wishes, allowed=allowed)


@routes.get("/api/organizations/:slug/upstream-providers/:provider_id", refuses=(ConnectionUnknown,))
@in_organization(Operation.CONNECTIONS_READ)
async def show_upstream_provider(call: Call, slug: str, provider_id: UUID) -> Connection:
    """Show a connection, without its secret."""
    return await call.read(connections.show, slug, provider_id)


@routes.patch("/api/organizations/:slug/upstream-providers/:provider_id", refuses=(ConnectionUnknown,))
@in_organization(Operation.CONNECTIONS_CHANGE)
async def change_upstream_provider(call: Call, slug: str, provider_id: UUID, body: ConnectionChange) -> Connection:
    """Change a connection. With another issuer, the accounts of the one before are unlinked."""
    allowed = call.installation.settings.outbound_allowed
    return await call.transact(connections.change, slug, provider_id, body.wishes, allowed=allowed)


@routes.delete("/api/organizations/:slug/upstream-providers/:provider_id", status=204, refuses=(ConnectionUnknown,))
@in_organization(Operation.CONNECTIONS_CHANGE)
async def delete_upstream_provider(call: Call, slug: str, provider_id: UUID) -> None:
    """Delete a connection with its identities and domain routes. The sessions that began by it end."""
    await call.transact(connections.delete, slug, provider_id)


@routes.post("/api/organizations/:slug/upstream-providers/:provider_id/test", refuses=(ConnectionUnknown,))
@in_organization(Operation.CONNECTIONS_CHANGE)
async def test_upstream_provider(call: Call, slug: str, provider_id: UUID) -> ConnectionTested:
    """Fetch the provider's description of itself, and its keys."""
    connection = await call.read(connections.find_to_test, slug, provider_id)
    try:
        await call.installation.upstream_connections.discover(connection.issuer, is_fresh=True)
    except UpstreamFailed as failed:
        return ConnectionTested(success=False, message=f"The provider did not answer as it should: {failed.reason}.")
    return ConnectionTested(success=True, message="The provider can be reached, and describes itself as it should.")
