"""The pages of the setup links of an organization: the valid ones, making one, and revoking one.

The pages that a link opens are in `setup.py`.
"""

from collections.abc import Sequence
from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.errors import BadRequest, Forbidden, Refusal
from core.organizations import setup_links
from core.organizations.access import Capability, Operation
from core.organizations.authorization import authorize
from core.organizations.setup_links import (
    DAYS_BY_DEFAULT,
    DAYS_MAX,
    Part,
    SetupLinkUnknown,
    TooManySetupLinks,
)
from core.organizations.standing import Standing
from core.services import found_services
from core.sessions.shown_secrets import ToShow
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of
from entrypoints.pages.console.pickers import picker
from entrypoints.pages.frame.forms import DoneQuery, filled
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.organizations.setup import ABOUT, PARTS
from entrypoints.pages.sessions.shown_secrets import leading_to, shown_once
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

LINKS: Final = "/app/organizations/:org_slug/setup-links"
DAYS: Final = [(str(days), str(days)) for days in range(1, DAYS_MAX + 1)]


class SetupLinkForm(ProtectedForm, kw_only=True):
    """The parts that the holder of the new link may set, the service of the part `saml`, and for how many days.

    `find_service_slug` is what was searched for among many services.
    """

    parts: Annotated[list[str], msgspec.Meta(description="The words of the parts.")] = msgspec.field(
        default_factory=list[str]
    )
    service_slug: str = ""
    find_service_slug: str = ""
    roles: Annotated[list[str], msgspec.Meta(description="The roles that groups may give.")] = msgspec.field(
        default_factory=list[str]
    )
    expires_in_days: str = str(DAYS_BY_DEFAULT)

    def days(self) -> int:
        """Return for how many days the link is valid; raise `BadRequest` for what the page does not offer."""
        if self.expires_in_days not in dict(DAYS):
            raise BadRequest.of_field("expires_in_days", "Choose one of the numbers of days.")
        return int(self.expires_in_days)


class SetupLinksQuery(DoneQuery, kw_only=True):
    """What the form held before its sender searched or was asked to sign in again, and what was just done."""

    parts: Annotated[list[str], msgspec.Meta(description="The parts of a new link.")] = msgspec.field(
        default_factory=list[str]
    )
    service_slug: Annotated[str, msgspec.Meta(description="The service of a new link.", max_length=100)] = ""
    find_service_slug: Annotated[
        str, msgspec.Meta(description="A part of the name or the slug of a service.", max_length=254)
    ] = ""
    roles: Annotated[list[str], msgspec.Meta(description="The roles that groups may give.")] = msgspec.field(
        default_factory=list[str]
    )
    expires_in_days: Annotated[str, msgspec.Meta(description="For how many days a new link is valid.")] = str(
        DAYS_BY_DEFAULT
    )


@routes.get(LINKS)
@in_console(Operation.SETUP_LINKS_READ)
async def show_setup_links(
    call: Call,
    org_slug: str,
    *,
    query: SetupLinksQuery | None = None,
    form: SetupLinkForm | None = None,
    made_id: UUID | None = None,
    shown_id: UUID | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the valid setup links of an organization."""
    standing, found = await opened(call, org_slug, Operation.SETUP_LINKS_READ, setup_links.list_with_makers)
    form = form or filled(SetupLinkForm, query or SetupLinksQuery())
    services = await call.read(
        found_services.service_choices, org_slug, Operation.SETUP_LINKS_READ, form.find_service_slug
    )
    roles = await call.read(setup_links.roles_to_give, org_slug)
    made = next((one.link for one in found if one.link.id == made_id), None)
    if made_id is not None and made is None:
        raise SetupLinkUnknown
    secret = "" if shown_id is None else "".join(await shown_once(call, shown_id))
    url = f"{call.installation.settings.base_url}/app/setup/"
    return console_page(
        call,
        "organizations/setup_links.html",
        standing,
        program=Program(
            "setup_links_create_setup_link",
            org_slug,
            body={"parts": form.parts or [Part.UPSTREAM.value], "expires_in_days": DAYS_BY_DEFAULT},
        ),
        done=query.done if query is not None else "",
        refusal=refusal,
        found=found,
        form=form,
        problems=problems_of(refusal),
        made=made,
        made_url=f"{url}{secret}" if secret else "",
        was_shown=shown_id is not None and not secret,
        titles={part.value: title for part, (title, _) in PARTS.items()},
        boxes=_boxes(standing),
        service=picker(
            "service_slug", ("", services), chosen=form.service_slug, searched=form.find_service_slug, keeps=True
        ),
        roles=[(role, role, "", None) for role in roles],
        days=DAYS,
        lacks_creation=standing.lacks(Operation.SETUP_LINK_CREATE),
        page=f"{page_of(org_slug)}/setup-links",
    )


@routes.post(LINKS, makes_secret=True, refuses=(TooManySetupLinks, Forbidden, BadRequest))
@in_console(Operation.SETUP_LINK_CREATE)
@shows_again(show_setup_links, BadRequest)
async def make_setup_link(call: Call, org_slug: str, form: SetupLinkForm) -> PageOrRedirect:
    """Make a setup link and lead to it; programs use `POST /api/organizations/:slug/setup-links`."""
    await call.read(authorize, org_slug, Operation.SETUP_LINK_CREATE)
    days = form.days()
    return await leading_to(
        call,
        lambda uow: setup_links.create(
            uow,
            org_slug,
            parts=form.parts,
            service_slug=form.service_slug.strip() or None,
            roles=form.roles if Part.GROUPS.value in form.parts else (),
            expires_in_days=days,
        ),
        lambda made: ToShow(page=f"{page_of(org_slug)}/setup-links/{made.link.id}", secrets=(made.secret,)),
    )


@routes.get(f"{LINKS}/:link_id/shown/:shown_id", shows_secret=True, refuses=(SetupLinkUnknown,))
@in_console(Operation.SETUP_LINK_CREATE)
async def show_new_setup_link(call: Call, org_slug: str, link_id: UUID, shown_id: UUID) -> Page:
    """Show the valid setup links, and a new one to copy, once and in the browser that made it."""
    await call.read(authorize, org_slug, Operation.SETUP_LINK_CREATE)
    return await show_setup_links(call, org_slug, made_id=link_id, shown_id=shown_id)


@routes.get(f"{LINKS}/:link_id/revoke", refuses=(SetupLinkUnknown,))
@in_console(Operation.SETUP_LINKS_CHANGE)
async def ask_to_revoke_setup_link(call: Call, org_slug: str, link_id: UUID) -> Page:
    """Show what ends with a setup link, and ask whether it is to be revoked."""
    standing, link = await opened(call, org_slug, Operation.SETUP_LINKS_CHANGE, setup_links.show_with_maker, link_id)
    page = f"{page_of(org_slug)}/setup-links"
    return console_page(
        call,
        "organizations/setup_links_revocation.html",
        standing,
        program=Program("setup_links_revoke_setup_link", org_slug, link_id),
        one=link,
        titles={part.value: title for part, (title, _) in PARTS.items()},
        page=page,
    )


@routes.post(f"{LINKS}/:link_id/revoke", refuses=(SetupLinkUnknown,))
@in_console(Operation.SETUP_LINKS_CHANGE)
@shows_again(show_setup_links, SetupLinkUnknown)
async def revoke_setup_link_for_good(call: Call, org_slug: str, link_id: UUID) -> PageOrRedirect:
    """Revoke a setup link; programs use `DELETE /api/organizations/:slug/setup-links/:link_id`."""
    await call.transact(setup_links.revoke, org_slug, link_id)
    return after(f"{page_of(org_slug)}/setup-links", "link-revoked")


def _boxes(standing: Standing) -> Sequence[tuple[str, str, str, Capability | None]]:
    """Return the parts to choose from, and the capability that the reader lacks for each, or None."""
    return [
        (part.value, title, ABOUT[part], min(part.capabilities - standing.capabilities, default=None))
        for part, (title, _) in PARTS.items()
    ]
