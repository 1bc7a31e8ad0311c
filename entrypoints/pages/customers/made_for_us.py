"""The pages of what vendors have made for an organization: its owner reads it, adopts it, and removes it."""

from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.customers import made_for_us
from core.customers.made_for_us import THINGS_SHOWN, Adopted, MadeThingUnknown, ThingKind
from core.errors import BadRequest, Conflict, Forbidden, Refusal
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.organizations.organizations import MadeThrough
from core.scim.tokens import TooManyTokens
from core.sessions.shown_secrets import ToShow
from core.sign_in.upstream.connections.connections import TooManyConnections
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of, with_query
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.sessions.shown_secrets import leading_to, shown_once
from entrypoints.web.serving.admission.browsers import recent
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

MADE_FOR_US: Final = "/app/organizations/:org_slug/made-for-us"
THING: Final = f"{MADE_FOR_US}/:thing_id"
KINDS: Final = {
    ThingKind.CONNECTION: marked("Connection"),
    ThingKind.MAIL_DOMAIN: marked("Mail domain"),
    ThingKind.SCIM_TOKEN: marked("SCIM token"),
    ThingKind.GROUP_RULE: marked("Rule for a group"),
    ThingKind.SETUP_LINK: marked("Setup link"),
}
MAKERS: Final = {
    MadeThrough.MEMBER: marked("By a person of the vendor"),
    MadeThrough.PROGRAM: marked("By the program of the vendor"),
    MadeThrough.SETUP_LINK: marked("With a setup link of the vendor"),
}


class MadeThingsQuery(DoneQuery, kw_only=True):
    """From where on the list is shown, and what was just done."""

    begin: Annotated[int, msgspec.Meta(description="How many rows to leave out.", ge=0, le=100_000)] = 0


@routes.get(MADE_FOR_US)
@in_console(Operation.MADE_FOR_US_READ)
async def show_made_things(
    call: Call, org_slug: str, *, query: MadeThingsQuery | None = None, shown_id: UUID | None = None
) -> Page:
    """Show what vendors have made for an organization: what it is, of which vendor and service, and since when."""
    query = query or MadeThingsQuery()
    standing, found = await opened(
        call, org_slug, Operation.MADE_FOR_US_READ, made_for_us.list_page, limit=THINGS_SHOWN, offset=query.begin
    )
    token = "" if shown_id is None else "".join(await shown_once(call, shown_id))
    page = _page_of(org_slug)
    end = query.begin + len(found.things)
    return console_page(
        call,
        "customers/made_for_us.html",
        standing,
        program=Program("made_for_us_list_made_things", org_slug),
        done=query.done,
        found=found,
        kinds=KINDS,
        makers=MAKERS,
        token=token,
        was_shown=shown_id is not None and not token,
        page=page,
        first=page if query.begin else "",
        next=with_query(page, begin=end) if end < found.total else "",
        provisioning=f"{page_of(org_slug)}/provisioning",
        lacks_lasting=standing.lacks_lasting(Operation.MADE_FOR_US_ADOPT),
    )


@routes.get(f"{MADE_FOR_US}/shown/:shown_id", shows_secret=True)
@in_console(Operation.MADE_FOR_US_ADOPT)
async def show_adopted_token(call: Call, org_slug: str, shown_id: UUID, query: MadeThingsQuery) -> Page:
    """Show the same with the secret of a SCIM token that was adopted, once and in the browser that adopted it."""
    await call.read(authorize, org_slug, Operation.MADE_FOR_US_ADOPT)
    return await show_made_things(call, org_slug, query=query, shown_id=shown_id)


@routes.get(f"{THING}/adopt", refuses=(MadeThingUnknown,))
@in_console(Operation.MADE_FOR_US_ADOPT)
async def ask_to_adopt_made_thing(call: Call, org_slug: str, thing_id: UUID, *, refusal: Refusal | None = None) -> Page:
    """Show what becomes of a thing that the organization adopts, and what it takes."""
    return await _confirmation(call, org_slug, thing_id, Operation.MADE_FOR_US_ADOPT, refusal)


_REFUSALS: Final = (BadRequest, Conflict, TooManyConnections, TooManyTokens)


@routes.post(f"{THING}/adopt", makes_secret=True, refuses=(*_REFUSALS, MadeThingUnknown, Forbidden))
@in_console(Operation.MADE_FOR_US_ADOPT)
@shows_again(ask_to_adopt_made_thing, *_REFUSALS)
async def adopt_here(call: Call, org_slug: str, thing_id: UUID) -> PageOrRedirect:
    """Adopt a thing; programs use `POST /api/organizations/:org_slug/made-for-us/:thing_id/adopt`."""
    await call.read(authorize, org_slug, Operation.MADE_FOR_US_ADOPT)
    await recent(call, page=f"{_page_of(org_slug)}/{thing_id}/adopt")
    kind = (await call.read(made_for_us.show, org_slug, thing_id)).thing.kind

    def to_show(adopted: Adopted) -> ToShow:
        # What there is to do next is on the page of a connection.
        is_connection = adopted.kind is ThingKind.CONNECTION
        page = f"{page_of(org_slug)}/sign-in/connections/{adopted.id}" if is_connection else _page_of(org_slug)
        return ToShow(page=page, secrets=(adopted.secret,) if adopted.secret is not None else ())

    done = "connection-adopted" if kind is ThingKind.CONNECTION else "thing-adopted"
    return await leading_to(call, lambda uow: made_for_us.adopt(uow, org_slug, thing_id), to_show, query={"done": done})


@routes.get(f"{THING}/remove", refuses=(MadeThingUnknown,))
@in_console(Operation.MADE_FOR_US_REMOVE)
async def ask_to_remove_made_thing(call: Call, org_slug: str, thing_id: UUID) -> Page:
    """Show what ends with a thing that the organization removes."""
    return await _confirmation(call, org_slug, thing_id, Operation.MADE_FOR_US_REMOVE, None)


@routes.post(f"{THING}/remove", refuses=(MadeThingUnknown, Forbidden))
@in_console(Operation.MADE_FOR_US_REMOVE)
async def remove_here(call: Call, org_slug: str, thing_id: UUID) -> PageOrRedirect:
    """Remove a thing; programs use `DELETE /api/organizations/:org_slug/made-for-us/:thing_id`."""
    await recent(call, page=f"{_page_of(org_slug)}/{thing_id}/remove")
    await call.transact(made_for_us.remove, org_slug, thing_id)
    return after(_page_of(org_slug), "thing-removed")


async def _confirmation(
    call: Call, org_slug: str, thing_id: UUID, operation: Operation, refusal: Refusal | None
) -> Page:
    standing, detail = await opened(call, org_slug, operation, made_for_us.show, thing_id)
    is_adopting = operation is Operation.MADE_FOR_US_ADOPT
    named = "made_for_us_adopt_made_thing" if is_adopting else "made_for_us_remove_made_thing"
    return console_page(
        call,
        "customers/made_for_us_one.html",
        standing,
        program=Program(named, org_slug, thing_id),
        refusal=refusal,
        detail=detail,
        thing=detail.thing,
        kind=KINDS[detail.thing.kind],
        is_adopting=is_adopting,
        page=_page_of(org_slug),
        action=f"{_page_of(org_slug)}/{thing_id}/{'adopt' if is_adopting else 'remove'}",
        domains=f"{page_of(org_slug)}/sign-in/mail-domains",
        product=f"{page_of(org_slug)}/products/{detail.thing.client_id}",
    )


def _page_of(org_slug: str) -> str:
    return f"{page_of(org_slug)}/made-for-us"
