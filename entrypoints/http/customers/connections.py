"""Connections that a vendor makes for a customer."""

from uuid import UUID

import msgspec

from core.customers import connections
from core.customers.connections import CustomerConnection, CustomerConnectionState
from core.customers.customers import CustomerUnknown
from core.customers.setup_callers import BeyondVendorSetup, CustomerClosed, CustomerPath, MakerOfKeyGone, SetupAttempt
from core.limits import LARGE_BODY_BYTES_MAX
from core.organizations.access import Operation
from core.services.api_keys import Permission
from core.services.services import ServiceUnknown
from core.sign_in.upstream.connections.connection_fields import ConnectionFields, ConnectionRecord
from core.sign_in.upstream.connections.connections import ConnectionUnknown, TooManyConnections
from core.sign_in.upstream.saml import SamlDescription
from entrypoints.shared.sign_in.upstream.upstream_providers import described
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import on_service, service_key
from entrypoints.web.serving.answering.bodies import Input, Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "connections of customers",
    "Identity providers by which the people of a customer sign in to your service, in the context of this customer"
    " alone. They take the fields of upstream connections, but make no members, replace no second factor and accept no"
    " agents. Each person types a mailed code once, at the first sign-in by one.",
)
_LEFT_OUT = ("joins_as", "trust_mfa")


class CustomerConnectionChange(Input, SecretBody, of=ConnectionFields, without=_LEFT_OUT):
    """The fields to change; omitted fields keep their values."""

    @property
    def given(self) -> ConnectionFields:
        """The fields to set."""
        return self.to(ConnectionFields, joins_as=None, trust_mfa=None)


class CustomerConnectionCreation(CustomerConnectionChange):
    """A new connection: name, issuer, client id and client secret are required; by SAML, the name is."""

    type: str


class CustomerConnectionRecord(Record, of=ConnectionRecord, without=_LEFT_OUT):
    """A connection of a customer, without its secret; `state` and `last_attempt` say how far it is."""

    state: CustomerConnectionState
    last_attempt: SetupAttempt | None

    @classmethod
    def shown(cls, found: CustomerConnection) -> "CustomerConnectionRecord":
        """Return a connection as the vendor sees it."""
        return cls.of(found.connection, state=found.state, last_attempt=found.last_attempt)


class CustomerConnectionList(msgspec.Struct, kw_only=True):
    """All connections of a customer, the oldest first."""

    connections: list[CustomerConnectionRecord]
    total: int


@routes.get(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/connections",
    refuses=(ServiceUnknown, CustomerUnknown, BeyondVendorSetup, CustomerClosed),
)
@on_service(Operation.CUSTOMER_SETUP_READ)
async def list_customer_connections(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID
) -> CustomerConnectionList:
    """List the connections of a customer that you have made, the oldest first."""
    return await _list(call, CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug))


@routes.get(
    "/api/service/customers/:customer_id/connections",
    refuses=(CustomerUnknown, BeyondVendorSetup, CustomerClosed, MakerOfKeyGone),
)
@service_key(Permission.SETUP_CUSTOMERS)
async def list_customer_connections_by_key(call: Call, customer_id: UUID) -> CustomerConnectionList:
    """List the connections of a customer that you have made, the oldest first."""
    return await _list(call, CustomerPath(customer_id=customer_id))


@routes.post(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/connections",
    body_bytes_max=LARGE_BODY_BYTES_MAX,
    refuses=(ServiceUnknown, CustomerUnknown, BeyondVendorSetup, CustomerClosed, TooManyConnections),
)
@on_service(Operation.CUSTOMER_SETUP)
async def create_customer_connection(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, body: CustomerConnectionCreation
) -> CustomerConnectionRecord:
    """Make a connection for a customer, by OpenID Connect discovery or by SAML metadata, which are read now."""
    return await _create(
        call, CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug), body
    )


@routes.post(
    "/api/service/customers/:customer_id/connections",
    body_bytes_max=LARGE_BODY_BYTES_MAX,
    refuses=(CustomerUnknown, BeyondVendorSetup, CustomerClosed, MakerOfKeyGone, TooManyConnections),
)
@service_key(Permission.SETUP_CUSTOMERS)
async def create_customer_connection_by_key(
    call: Call, customer_id: UUID, body: CustomerConnectionCreation
) -> CustomerConnectionRecord:
    """Make a connection for a customer, by OpenID Connect discovery or by SAML metadata, which are read now."""
    return await _create(call, CustomerPath(customer_id=customer_id), body)


@routes.get(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/connections/:provider_id",
    refuses=(ServiceUnknown, CustomerUnknown, BeyondVendorSetup, CustomerClosed, ConnectionUnknown),
)
@on_service(Operation.CUSTOMER_SETUP_READ)
async def show_customer_connection(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, provider_id: UUID
) -> CustomerConnectionRecord:
    """Show a connection of a customer, without its secret."""
    return await _show(
        call, CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug), provider_id
    )


@routes.get(
    "/api/service/customers/:customer_id/connections/:provider_id",
    refuses=(CustomerUnknown, BeyondVendorSetup, CustomerClosed, MakerOfKeyGone, ConnectionUnknown),
)
@service_key(Permission.SETUP_CUSTOMERS)
async def show_customer_connection_by_key(call: Call, customer_id: UUID, provider_id: UUID) -> CustomerConnectionRecord:
    """Show a connection of a customer, without its secret."""
    return await _show(call, CustomerPath(customer_id=customer_id), provider_id)


@routes.patch(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/connections/:provider_id",
    body_bytes_max=LARGE_BODY_BYTES_MAX,
    refuses=(ServiceUnknown, CustomerUnknown, BeyondVendorSetup, CustomerClosed, ConnectionUnknown),
)
@on_service(Operation.CUSTOMER_SETUP)
async def change_customer_connection(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, provider_id: UUID, body: CustomerConnectionChange
) -> CustomerConnectionRecord:
    """Change a connection of a customer. With another issuer, the people who signed in by it are unlinked."""
    return await _change(
        call, CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug), provider_id, body
    )


@routes.patch(
    "/api/service/customers/:customer_id/connections/:provider_id",
    body_bytes_max=LARGE_BODY_BYTES_MAX,
    refuses=(CustomerUnknown, BeyondVendorSetup, CustomerClosed, MakerOfKeyGone, ConnectionUnknown),
)
@service_key(Permission.SETUP_CUSTOMERS)
async def change_customer_connection_by_key(
    call: Call, customer_id: UUID, provider_id: UUID, body: CustomerConnectionChange
) -> CustomerConnectionRecord:
    """Change a connection of a customer. With another issuer, the people who signed in by it are unlinked."""
    return await _change(call, CustomerPath(customer_id=customer_id), provider_id, body)


@routes.delete(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/connections/:provider_id",
    status=204,
    refuses=(ServiceUnknown, CustomerUnknown, BeyondVendorSetup, CustomerClosed, ConnectionUnknown),
)
@on_service(Operation.CUSTOMER_SETUP)
async def delete_customer_connection(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, provider_id: UUID
) -> None:
    """Delete a connection of a customer with its mail domains. The sessions that began by it end."""
    await _delete(
        call, CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug), provider_id
    )


@routes.delete(
    "/api/service/customers/:customer_id/connections/:provider_id",
    status=204,
    refuses=(CustomerUnknown, BeyondVendorSetup, CustomerClosed, MakerOfKeyGone, ConnectionUnknown),
)
@service_key(Permission.SETUP_CUSTOMERS)
async def delete_customer_connection_by_key(call: Call, customer_id: UUID, provider_id: UUID) -> None:
    """Delete a connection of a customer with its mail domains. The sessions that began by it end."""
    await _delete(call, CustomerPath(customer_id=customer_id), provider_id)


async def _list(call: Call, path: CustomerPath) -> CustomerConnectionList:
    found = await call.read(connections.list_all, path)
    return CustomerConnectionList(connections=[CustomerConnectionRecord.shown(one) for one in found], total=len(found))


async def _show(call: Call, path: CustomerPath, provider_id: UUID) -> CustomerConnectionRecord:
    return CustomerConnectionRecord.shown(await call.read(connections.show, path, provider_id))


async def _create(call: Call, path: CustomerPath, body: CustomerConnectionCreation) -> CustomerConnectionRecord:
    made = await call.transact(
        connections.create,
        path,
        body.type,
        body.given,
        described=await _described(call, path, body.given),
        allowed=call.installation.settings.outbound_allowed,
    )
    return CustomerConnectionRecord.shown(made)


async def _change(
    call: Call, path: CustomerPath, provider_id: UUID, body: CustomerConnectionChange
) -> CustomerConnectionRecord:
    changed = await call.transact(
        connections.change,
        path,
        provider_id,
        body.given,
        described=await _described(call, path, body.given),
        allowed=call.installation.settings.outbound_allowed,
    )
    return CustomerConnectionRecord.shown(changed)


async def _delete(call: Call, path: CustomerPath, provider_id: UUID) -> None:
    await call.transact(connections.delete, path, provider_id)


async def _described(call: Call, path: CustomerPath, given: ConnectionFields) -> SamlDescription | None:
    """Return what the metadata say that a caller has named; None without any."""
    if given.metadata_url is None and given.metadata_xml is None:
        return None
    # Before anything is fetched for them.
    return await described(call, await call.read(connections.find_vendor, path), given)
