"""Connections that a vendor makes for a customer."""

from uuid import UUID

import msgspec

from core.customers import connections
from core.customers.connections import CustomerConnection, CustomerConnectionState
from core.customers.setup_callers import CustomerPath, SetupAttempt
from core.limits import LARGE_BODY_BYTES_MAX
from core.organizations.access import Operation
from core.sign_in.upstream.connections.connection_fields import ConnectionFields, ConnectionRecord
from core.sign_in.upstream.connections.connections import ConnectionUnknown, TooManyConnections
from core.sign_in.upstream.saml import SamlDescription
from entrypoints.http.customers.setup_callers import for_vendor
from entrypoints.shared.sign_in.upstream.upstream_providers import described
from entrypoints.web.input.hidden import SecretBody
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


@for_vendor(routes.get, "/connections", Operation.CUSTOMER_SETUP_READ)
async def list_customer_connections(call: Call, customer: CustomerPath) -> CustomerConnectionList:
    """List the connections of a customer that you have made, the oldest first."""
    found = await call.read(connections.list_all, customer)
    return CustomerConnectionList(connections=[CustomerConnectionRecord.shown(one) for one in found], total=len(found))


@for_vendor(
    routes.post,
    "/connections",
    Operation.CUSTOMER_SETUP,
    body_bytes_max=LARGE_BODY_BYTES_MAX,
    refuses=(TooManyConnections,),
)
async def create_customer_connection(
    call: Call, customer: CustomerPath, body: CustomerConnectionCreation
) -> CustomerConnectionRecord:
    """Make a connection for a customer, by OpenID Connect discovery or by SAML metadata, which are read now."""
    made = await call.transact(
        connections.create,
        customer,
        body.type,
        body.given,
        described=await _described(call, customer, body.given),
        allowed=call.installation.settings.outbound_allowed,
    )
    return CustomerConnectionRecord.shown(made)


@for_vendor(routes.get, "/connections/:provider_id", Operation.CUSTOMER_SETUP_READ, refuses=(ConnectionUnknown,))
async def show_customer_connection(call: Call, customer: CustomerPath, provider_id: UUID) -> CustomerConnectionRecord:
    """Show a connection of a customer, without its secret."""
    return CustomerConnectionRecord.shown(await call.read(connections.show, customer, provider_id))


@for_vendor(
    routes.patch,
    "/connections/:provider_id",
    Operation.CUSTOMER_SETUP,
    body_bytes_max=LARGE_BODY_BYTES_MAX,
    refuses=(ConnectionUnknown,),
)
async def change_customer_connection(
    call: Call, customer: CustomerPath, provider_id: UUID, body: CustomerConnectionChange
) -> CustomerConnectionRecord:
    """Change a connection of a customer. With another issuer, the people who signed in by it are unlinked."""
    changed = await call.transact(
        connections.change,
        customer,
        provider_id,
        body.given,
        described=await _described(call, customer, body.given),
        allowed=call.installation.settings.outbound_allowed,
    )
    return CustomerConnectionRecord.shown(changed)


@for_vendor(
    routes.delete,
    "/connections/:provider_id",
    Operation.CUSTOMER_SETUP,
    status=204,
    refuses=(ConnectionUnknown,),
)
async def delete_customer_connection(call: Call, customer: CustomerPath, provider_id: UUID) -> None:
    """Delete a connection of a customer with its mail domains. The sessions that began by it end."""
    await call.transact(connections.delete, customer, provider_id)


async def _described(call: Call, customer: CustomerPath, given: ConnectionFields) -> SamlDescription | None:
    """Return what the metadata say that a caller has named; None without any."""
    if given.metadata_url is None and given.metadata_xml is None:
        return None
    # Before anything is fetched for them.
    return await described(call, await call.read(connections.find_vendor, customer), given)
