"""SCIM tokens that a vendor makes for a customer."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from core.customers import scim_tokens
from core.customers.scim_tokens import CustomerScimToken
from core.customers.setup_callers import CustomerPath
from core.organizations.access import Operation
from core.scim.tokens import ScimTokenUnknown, TooManyTokens
from entrypoints.http.customers.setup_callers import for_vendor
from entrypoints.http.scim.tokens import TokenName
from entrypoints.web.input.hidden import SecretBody
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


@for_vendor(routes.get, "/scim-tokens", Operation.CUSTOMER_SETUP_READ)
async def list_customer_tokens(call: Call, customer: CustomerPath) -> CustomerTokenList:
    """List the SCIM tokens of a customer, the newest first, also those that have expired."""
    found = list(await call.read(scim_tokens.list_all, customer))
    return CustomerTokenList(tokens=found, total=len(found))


@for_vendor(routes.post, "/scim-tokens", Operation.CUSTOMER_SETUP, refuses=(TooManyTokens,))
async def create_customer_token(
    call: Call, customer: CustomerPath, body: CustomerTokenCreation
) -> CreatedCustomerToken:
    """Make a SCIM token for a customer. Store its secret: it cannot be shown again."""
    token, secret = await call.transact(scim_tokens.create, customer, name=body.name, expires_at=body.expires_at)
    return CreatedCustomerToken.of(token, token=secret.reveal())


@for_vendor(routes.delete, "/scim-tokens/:token_id", Operation.CUSTOMER_SETUP, status=204, refuses=(ScimTokenUnknown,))
async def revoke_customer_token(call: Call, customer: CustomerPath, token_id: UUID) -> None:
    """Revoke a SCIM token of a customer. It loses access at once."""
    await call.transact(scim_tokens.revoke, customer, token_id)
