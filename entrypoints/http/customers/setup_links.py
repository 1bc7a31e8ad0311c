"""Setup links that a vendor makes for a customer."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from core.customers import setup_links
from core.customers.setup_callers import CustomerPath
from core.customers.setup_links import (
    MINUTES_BY_DEFAULT,
    MINUTES_MAX,
    MINUTES_MIN,
    CustomerSetupLink,
    NewSetupLink,
    TooManyCustomerLinks,
)
from core.organizations.access import Operation
from core.organizations.setup_links import SetupLinkUnknown, TooManySetupLinks
from entrypoints.http.customers.setup_callers import for_vendor
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.answering.bodies import Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "setup links of customers",
    "Links with which the IT staff of a customer set its sign-in up, without an account. What they set works for your"
    " service in the context of this customer alone, and ends with the customer.",
)


# Who made it is in the logs.
_LEFT_OUT = ("made_by", "made_by_api_key", "made_by_key", "last_used_at")


class CustomerLinkCreation(msgspec.Struct, kw_only=True):
    """The parts that the holder of the link may set, and where the pages lead back to after each."""

    parts: Annotated[list[str], msgspec.Meta(description="Of `upstream`, `mail_domain`, `scim` and `groups`.")]
    expires_in_minutes: Annotated[int, msgspec.Meta(ge=MINUTES_MIN, le=MINUTES_MAX)] = MINUTES_BY_DEFAULT
    return_url: Annotated[
        str | None,
        msgspec.Meta(
            description="Where the pages lead back to after each part: an address at the origin of one of the redirect"
            " URIs of the service, also with a path and a query."
        ),
    ] = None
    actor: Annotated[
        str | None, msgspec.Meta(description="Who uses the link; both logs show it as reported by you.")
    ] = None


class CustomerLinkAttempt(msgspec.Struct, kw_only=True):
    """When the link was last opened."""

    at: datetime
    succeeded: bool


class CustomerLinkRecord(Record, of=CustomerSetupLink, without=_LEFT_OUT):
    """A setup link of a customer; `last_attempt` is null until it has been opened."""

    last_attempt: CustomerLinkAttempt | None

    @classmethod
    def shown(cls, link: CustomerSetupLink) -> "CustomerLinkRecord":
        """Return a link as the vendor sees it."""
        return cls.of(link, last_attempt=_opened(link))


class CreatedCustomerLink(Record, SecretBody, of=CustomerSetupLink, without=_LEFT_OUT):
    """The new link with its address, which is shown only once."""

    url: str


class CustomerLinkList(msgspec.Struct, kw_only=True):
    """The valid links, the newest first."""

    setup_links: list[CustomerLinkRecord]
    total: int


@for_vendor(routes.get, "/setup-links", Operation.CUSTOMER_SETUP_READ)
async def list_customer_links(call: Call, customer: CustomerPath) -> CustomerLinkList:
    """List the valid setup links of a customer, the newest first."""
    found = await call.read(setup_links.list_all, customer)
    return CustomerLinkList(setup_links=[CustomerLinkRecord.shown(one) for one in found], total=len(found))


@for_vendor(routes.post, "/setup-links", Operation.CUSTOMER_SETUP, refuses=(TooManySetupLinks, TooManyCustomerLinks))
async def create_customer_link(call: Call, customer: CustomerPath, body: CustomerLinkCreation) -> CreatedCustomerLink:
    """Make a setup link for a customer. Keep its address: it is shown only once.

    It ends with the customer, with the key of the service that made it, and as soon as the member who made it may no
    longer manage the service. Your customers can have 1,000 valid links together, and one of them 20.
    """
    new = NewSetupLink(parts=body.parts, minutes=body.expires_in_minutes, return_url=body.return_url, actor=body.actor)
    link, secret = await call.transact(setup_links.create, customer, new)
    base_url = call.installation.settings.base_url
    return CreatedCustomerLink.of(link, url=f"{base_url}/app/setup/{secret.reveal()}")


@for_vendor(routes.delete, "/setup-links/:link_id", Operation.CUSTOMER_SETUP, status=204, refuses=(SetupLinkUnknown,))
async def revoke_customer_link(call: Call, customer: CustomerPath, link_id: UUID) -> None:
    """Revoke a setup link of a customer, which ends what was begun with it at once."""
    await call.transact(setup_links.revoke, customer, link_id)


def _opened(link: CustomerSetupLink) -> CustomerLinkAttempt | None:
    return CustomerLinkAttempt(at=link.last_used_at, succeeded=True) if link.last_used_at is not None else None
