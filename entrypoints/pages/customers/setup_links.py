"""The page of the setup links that a vendor makes for a customer: the valid ones, making one, and revoking one."""

from collections.abc import Sequence
from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.customers import setup_callers, setup_links
from core.customers.setup_callers import CustomerPath
from core.customers.setup_links import (
    ACTOR_CHARACTERS_MAX,
    MINUTES_BY_DEFAULT,
    CustomerSetupLink,
    NewSetupLink,
    TooManyCustomerLinks,
)
from core.errors import BadRequest, Refusal
from core.organizations.access import Operation
from core.organizations.setup_links import SetupLinkUnknown, TooManySetupLinks
from core.sessions.shown_secrets import ToShow
from entrypoints.pages.console.frame import Program, after
from entrypoints.pages.customers.setup_callers import (
    REFUSES,
    SETUP_LINKS,
    opened_setup,
    path_of,
    require_change,
    setup_page,
)
from entrypoints.pages.customers.setup_progress import ABOUT, PARTS
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.sessions.shown_secrets import leading_to, shown_once
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

LINK: Final = f"{SETUP_LINKS}/:link_id"
LIFETIMES: Final = (
    ("60", marked("One hour")),
    ("1440", marked("One day")),
    (str(MINUTES_BY_DEFAULT), marked("Seven days")),
    ("20160", marked("14 days")),
    ("43200", marked("30 days")),
)


class CustomerLinkForm(ProtectedForm, kw_only=True):
    """A new link: its parts, how long it is valid, where its pages lead back to, and who uses it."""

    parts: list[str] = msgspec.field(default_factory=list[str])
    minutes: str = str(MINUTES_BY_DEFAULT)
    return_url: str = ""
    actor: str = ""

    @property
    def new(self) -> NewSetupLink:
        """The link that is meant; raise `BadRequest` for a time that the page does not offer."""
        if self.minutes not in {minutes for minutes, _ in LIFETIMES}:
            raise BadRequest.of_field("minutes", "Choose one of these times.")
        return NewSetupLink(
            parts=self.parts,
            minutes=int(self.minutes),
            return_url=self.return_url.strip() or None,
            actor=self.actor.strip() or None,
        )


class CustomerLinksQuery(DoneQuery, kw_only=True):
    """What the form held before its sender was asked to sign in again, and what was just done."""

    parts: Annotated[list[str], msgspec.Meta(description="The parts of a new link.")] = msgspec.field(
        default_factory=list[str]
    )
    minutes: Annotated[str, msgspec.Meta(description="For how many minutes a new link is valid.")] = str(
        MINUTES_BY_DEFAULT
    )
    return_url: Annotated[str, msgspec.Meta(description="Where its pages lead back to.", max_length=2_000)] = ""
    actor: Annotated[str, msgspec.Meta(description="Who uses it.", max_length=ACTOR_CHARACTERS_MAX)] = ""

    @property
    def form(self) -> CustomerLinkForm | None:
        """The form with what was typed; None where nothing was chosen."""
        if not self.parts:
            return None
        return CustomerLinkForm(parts=self.parts, minutes=self.minutes, return_url=self.return_url, actor=self.actor)


@routes.get(SETUP_LINKS, refuses=REFUSES)
@on_service_in_console(Operation.CUSTOMER_SETUP_READ)
async def show_customer_links(
    call: Call,
    org_slug: str,
    service_slug: str,
    customer_id: UUID,
    *,
    query: CustomerLinksQuery | None = None,
    form: CustomerLinkForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the valid setup links of a customer, and a form that makes one."""
    query = query or CustomerLinksQuery()
    return await _page(
        call,
        path_of(org_slug, service_slug, customer_id),
        done=query.done,
        form=form or query.form,
        refusal=refusal,
    )


@routes.post(SETUP_LINKS, makes_secret=True, refuses=(*REFUSES, BadRequest, TooManySetupLinks, TooManyCustomerLinks))
@on_service_in_console(Operation.CUSTOMER_SETUP)
@shows_again(show_customer_links, BadRequest)
async def make_customer_link(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, form: CustomerLinkForm
) -> PageOrRedirect:
    """Make a setup link and lead to it; programs use `POST …/customers/:customer_id/setup-links`."""
    await require_change(call, org_slug, service_slug, customer_id)
    page, path, new = call.request.path, path_of(org_slug, service_slug, customer_id), form.new
    return await leading_to(
        call,
        lambda uow: setup_links.create(uow, path, new),
        lambda made: ToShow(page=page, secrets=(made[1],)),
    )


@routes.get(f"{SETUP_LINKS}/shown/:shown_id", shows_secret=True, refuses=REFUSES)
@on_service_in_console(Operation.CUSTOMER_SETUP)
async def show_new_customer_link(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, shown_id: UUID
) -> Page:
    """Show the same with a new link to copy, once and in the browser that made it."""
    await require_change(call, org_slug, service_slug, customer_id)
    return await _page(call, path_of(org_slug, service_slug, customer_id), shown_id=shown_id)


@routes.post(f"{LINK}/revoke", refuses=(*REFUSES, SetupLinkUnknown))
@on_service_in_console(Operation.CUSTOMER_SETUP)
async def revoke_customer_link_here(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, link_id: UUID
) -> PageOrRedirect:
    """Revoke a setup link; programs use `DELETE …/customers/:customer_id/setup-links/:link_id`."""
    await call.transact(setup_links.revoke, path_of(org_slug, service_slug, customer_id), link_id)
    return after(call.request.path.rsplit("/", 2)[0], "link-revoked")


async def _page(
    call: Call,
    path: CustomerPath,
    *,
    done: str = "",
    form: CustomerLinkForm | None = None,
    shown_id: UUID | None = None,
    refusal: Refusal | None = None,
) -> Page:
    place, found = await opened_setup(call, path, "setup-links", setup_links.list_all)
    parts = setup_callers.open_parts(place.customer)
    secret = "" if shown_id is None else "".join(await shown_once(call, shown_id))
    return setup_page(
        call,
        "customers/setup_links.html",
        place,
        program=Program(
            "setup_links_of_customers_create_customer_link",
            place.at.reader.organization.slug,
            place.at.service.slug,
            place.customer.id,
            body={"parts": [part.value for part in parts], "expires_in_minutes": MINUTES_BY_DEFAULT},
        ),
        done=done,
        refusal=refusal,
        found=found,
        made=_newest(found) if secret else None,
        made_url=f"{call.installation.settings.base_url}/app/setup/{secret}" if secret else "",
        was_shown=shown_id is not None and not secret,
        titles=PARTS,
        boxes=[(part.value, PARTS[part.value], ABOUT.get(part, ""), None) for part in parts],
        typed=form or CustomerLinkForm(parts=[part.value for part in parts]),
        lifetimes=LIFETIMES,
        actor_max=ACTOR_CHARACTERS_MAX,
    )


def _newest(links: Sequence[CustomerSetupLink]) -> CustomerSetupLink | None:
    """Return the link that was made last, of which a page shows the address."""
    return next(iter(links), None)
