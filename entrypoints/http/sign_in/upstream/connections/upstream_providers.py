"""Upstream connections: identity providers of an organization."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.key_certificates import SamlCertificate
from core.limits import LARGE_BODY_BYTES_MAX
from core.organizations.access import Operation
from core.sign_in.upstream.connections import checks, connection_keys, connections
from core.sign_in.upstream.connections.connection_keys import NoKeyOfConnection
from core.sign_in.upstream.connections.connections import (
    AdoptedUntested,
    ConnectionFields,
    ConnectionRecord,
    ConnectionUnknown,
    TooManyConnections,
)
from core.sign_in.upstream.revocation import moves
from core.sign_in.upstream.revocation.moves import ChangeEffects
from core.sign_in.upstream.saml import SamlDescription
from entrypoints.shared.sign_in.upstream.saml_connections import make_key
from entrypoints.shared.sign_in.upstream.upstream_providers import ConnectionTested, as_answer, described, tested
from entrypoints.web.input.decoding import Query
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.answering.bodies import Input, Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "upstream connections",
    "Identity providers of an organization, by which its people sign in. A session that begins by one is confined to"
    " the organization and its services. Register `{base_url}/auth/upstream/callback` with an OpenID provider, and"
    " `{base_url}/auth/upstream/:id/metadata` with a SAML identity provider, whose metadata may follow afterwards."
    " Made with them, a connection is enabled; a change enables or disables it by `enabled` alone. The assertion"
    " consumer service is `{base_url}/auth/upstream/:id/acs`.",
)


class ConnectionChange(Input, SecretBody, of=ConnectionFields):
    """The fields to change; omitted fields keep their values, and an empty `joins_as` makes no members."""

    @property
    def given(self) -> ConnectionFields:
        """The fields to set."""
        return self.to(ConnectionFields)


class ConnectionCreation(ConnectionChange):
    """A new connection: name, issuer, client id and client secret are required; by SAML, the name is."""

    type: str


class ConnectionChangeQuery(Query, kw_only=True):
    """Whether the change is made, or only its effects are said."""

    dry_run: Annotated[bool, msgspec.Meta(description="Change nothing, and answer what would end.")] = False


class ConnectionChangeEffects(Record, of=ChangeEffects):
    """What a change ends, and how its people are linked again at their next sign-in.

    `at_once` are linked without a code, because their account is the organization's own, and `by_code` type one mailed
    code. `kept_out` are deactivated, or their address lies in no verified mail domain. All are zero where the
    connection leads on to the same provider: a new certificate beside the old one ends nothing.
    """


class ConnectionList(msgspec.Struct, kw_only=True):
    """All connections of the organization, the oldest first."""

    upstream_providers: list[ConnectionRecord]
    total: int


class ConnectionKeyRecord(Record, of=SamlCertificate, without=("id", "published_until")):
    """The certificate of a connection's key. Its private key never leaves Gatehouse."""


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
async def create_upstream_provider(call: Call, slug: str, body: ConnectionCreation) -> ConnectionRecord:
    """Create a connection by OpenID Connect discovery, or by SAML metadata, which are read now."""
    return await call.transact(
        connections.create,
        slug,
        body.type,
        body.given,
        described=await _described(call, slug, body.given),
        allowed=call.installation.settings.outbound_allowed,
    )


@routes.get("/api/organizations/:slug/upstream-providers/:provider_id", refuses=(ConnectionUnknown,))
@in_organization(Operation.CONNECTIONS_READ)
async def show_upstream_provider(call: Call, slug: str, provider_id: UUID) -> ConnectionRecord:
    """Show a connection, without its secret."""
    return await call.read(connections.show, slug, provider_id)


@routes.patch(
    "/api/organizations/:slug/upstream-providers/:provider_id",
    body_bytes_max=LARGE_BODY_BYTES_MAX,
    refuses=(ConnectionUnknown, AdoptedUntested),
)
@in_organization(Operation.CONNECTION_CONFIGURE)
async def change_upstream_provider(
    call: Call, slug: str, provider_id: UUID, query: ConnectionChangeQuery, body: ConnectionChange
) -> ConnectionRecord | ConnectionChangeEffects:
    """Change a connection. With another issuer, the accounts of the one before are unlinked.

    So they are with another client id, another claim for the id, and metadata without any of the certificates before;
    what the metadata address of the connection publishes itself counts as staying. With `dry_run=true` nothing changes,
    and the answer says how many links and sessions would end.
    """
    described, allowed = await _described(call, slug, body.given), call.installation.settings.outbound_allowed
    if query.dry_run:
        effects = await call.read(
            moves.preview_change, slug, provider_id, body.given, described=described, allowed=allowed
        )
        return ConnectionChangeEffects.of(effects)
    return await call.transact(connections.change, slug, provider_id, body.given, described=described, allowed=allowed)


@routes.delete("/api/organizations/:slug/upstream-providers/:provider_id", status=204, refuses=(ConnectionUnknown,))
@in_organization(Operation.CONNECTIONS_CHANGE)
async def delete_upstream_provider(call: Call, slug: str, provider_id: UUID) -> None:
    """Delete a connection with its identities and domain routes. The sessions that began by it end."""
    await call.transact(connections.delete, slug, provider_id)


@routes.post("/api/organizations/:slug/upstream-providers/:provider_id/test", refuses=(ConnectionUnknown,))
@in_organization(Operation.CONNECTIONS_CHANGE)
async def test_upstream_provider(call: Call, slug: str, provider_id: UUID) -> ConnectionTested:
    """Fetch the provider's description of itself, and its keys or certificates.

    By OpenID Connect, its token endpoint is asked whether it accepts the client id and secret, for which no user is
    needed. An organization can ask ten times at once, and ten times a minute.
    """
    return as_answer(await tested(call, await call.read(checks.prepare_test, slug, provider_id)))


@routes.post(
    "/api/organizations/:slug/upstream-providers/:provider_id/rotate-key-pair",
    refuses=(ConnectionUnknown, NoKeyOfConnection),
)
@in_organization(Operation.CONNECTION_CONFIGURE)
async def rotate_upstream_key(call: Call, slug: str, provider_id: UUID) -> ConnectionKeyRecord:
    """Create a key for a connection by SAML, valid for three years, which signs our requests from now on.

    Our metadata contain the certificate of the previous one for seven more days, and assertions that are encrypted for
    it are taken as long. An identity provider that does not read our metadata again has to be given the new one.
    """
    await call.read(connection_keys.require_rotatable, slug, provider_id)
    made, valid_from = await make_key(call, provider_id)
    rotated = await call.transact(connection_keys.rotate, slug, provider_id, made, valid_from=valid_from)
    return ConnectionKeyRecord.of(rotated)


async def _described(call: Call, slug: str, given: ConnectionFields) -> SamlDescription | None:
    """Return what the metadata say that a caller has named; None without any."""
    if given.metadata_url is None and given.metadata_xml is None:
        return None
    # Before anything is fetched for them.
    organization_id = await call.read(connections.require_may_change, slug)
    return await described(call, organization_id, given)
