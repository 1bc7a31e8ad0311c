"""SCIM tokens that a vendor makes for a customer."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from core.customers import scim_tokens
from core.customers.customers import CustomerUnknown
from core.customers.scim_tokens import CustomerScimToken
from core.customers.setup_callers import BeyondVendorSetup, CustomerClosed, CustomerPath, MakerOfKeyGone
from core.organizations.access import Operation
from core.scim.tokens import ScimTokenUnknown, TooManyTokens
from core.services.api_keys import Permission
from core.services.services import ServiceUnknown
from entrypoints.http.scim.tokens import TokenName
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import on_service, service_key
from entrypoints.web.serving.answering.bodies import Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "SCIM tokens of customers",
    "Tokens with which the directory of a customer calls `/scim/v2`, and provisions people to your service for this"
    " customer. It creates groups of its own; it changes no account that people have. A token is shown once.",
)


class CustomerTokenCreation(msgspec.Struct, kw_only=True):
    """A new token."""

    name: TokenName
    expires_at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class CreatedCustomerToken(Record, SecretBody, of=CustomerScimToken, without=("last_attempt",)):
    """The new token with its secret in `token`, which is shown only here. Send it in the `Authorization` header."""

    token: str


class CustomerTokenList(msgspec.Struct, kw_only=True):
    """The tokens of a customer, and their number."""

    tokens: list[CustomerScimToken]
    total: int


@routes.get(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/scim-tokens",
    refuses=(ServiceUnknown, CustomerUnknown, BeyondVendorSetup, CustomerClosed),
)
@on_service(Operation.CUSTOMER_SETUP_READ)
async def list_customer_tokens(call: Call, org_slug: str, service_slug: str, customer_id: UUID) -> CustomerTokenList:
    """List the SCIM tokens of a customer, the newest first, also those that have expired."""
    return await _list(call, CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug))


@routes.get(
    "/api/service/customers/:customer_id/scim-tokens",
    refuses=(CustomerUnknown, BeyondVendorSetup, CustomerClosed, MakerOfKeyGone),
)
@service_key(Permission.SETUP_CUSTOMERS)
async def list_customer_tokens_by_key(call: Call, customer_id: UUID) -> CustomerTokenList:
    """List the SCIM tokens of a customer, the newest first, also those that have expired."""
    return await _list(call, CustomerPath(customer_id=customer_id))


@routes.post(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/scim-tokens",
    refuses=(ServiceUnknown, CustomerUnknown, BeyondVendorSetup, CustomerClosed, TooManyTokens),
)
@on_service(Operation.CUSTOMER_SETUP)
async def create_customer_token(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, body: CustomerTokenCreation
) -> CreatedCustomerToken:
    """Make a SCIM token for a customer. Store its secret: it cannot be shown again."""
    return await _create(
        call, CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug), body
    )


@routes.post(
    "/api/service/customers/:customer_id/scim-tokens",
    refuses=(CustomerUnknown, BeyondVendorSetup, CustomerClosed, MakerOfKeyGone, TooManyTokens),
)
@service_key(Permission.SETUP_CUSTOMERS)
async def create_customer_token_by_key(
    call: Call, customer_id: UUID, body: CustomerTokenCreation
) -> CreatedCustomerToken:
    """Make a SCIM token for a customer. Store its secret: it cannot be shown again."""
    return await _create(call, CustomerPath(customer_id=customer_id), body)


@routes.delete(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/scim-tokens/:token_id",
    status=204,
    refuses=(ServiceUnknown, CustomerUnknown, BeyondVendorSetup, CustomerClosed, ScimTokenUnknown),
)
@on_service(Operation.CUSTOMER_SETUP)
async def revoke_customer_token(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, token_id: UUID
) -> None:
    """Revoke a SCIM token of a customer. It loses access at once."""
    await _revoke(call, CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug), token_id)


@routes.delete(
    "/api/service/customers/:customer_id/scim-tokens/:token_id",
    status=204,
    refuses=(CustomerUnknown, BeyondVendorSetup, CustomerClosed, MakerOfKeyGone, ScimTokenUnknown),
)
@service_key(Permission.SETUP_CUSTOMERS)
async def revoke_customer_token_by_key(call: Call, customer_id: UUID, token_id: UUID) -> None:
    """Revoke a SCIM token of a customer. It loses access at once."""
    await _revoke(call, CustomerPath(customer_id=customer_id), token_id)


async def _list(call: Call, path: CustomerPath) -> CustomerTokenList:
    found = list(await call.read(scim_tokens.list_all, path))
    return CustomerTokenList(tokens=found, total=len(found))


async def _create(call: Call, path: CustomerPath, body: CustomerTokenCreation) -> CreatedCustomerToken:
    token, secret = await call.transact(scim_tokens.create, path, name=body.name, expires_at=body.expires_at)
    return CreatedCustomerToken.of(token, token=secret.reveal())


async def _revoke(call: Call, path: CustomerPath, token_id: UUID) -> None:
    await call.transact(scim_tokens.revoke, path, token_id)
