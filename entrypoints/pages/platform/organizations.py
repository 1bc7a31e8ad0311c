"""The pages of the organizations of the platform: finding them, one in detail, approving, rejecting, tier and limits.

Elsewhere: several at once, and what ends something, in `decisions.py`.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec

from core.errors import BadRequest, Refusal
from core.ids import id_or_none
from core.organizations import tiers
from core.organizations.authorization import authorize_platform
from core.organizations.bulk_jobs import ROWS_MAX
from core.organizations.organizations import OrganizationStatus, WrongState
from core.organizations.tiers import TierUnknown
from core.platform import organization_records, organizations
from core.platform.organization_records import ListedOrganization, OrganizationFilter
from core.platform.organizations import OrganizationChanged, OrganizationUnknown, SeenLimits
from entrypoints.pages.console.csv_files import CsvFile
from entrypoints.pages.console.frame import (
    PLATFORM,
    PLATFORM_ORGANIZATIONS,
    ROWS_SHOWN,
    ConsoleListQuery,
    Program,
    after,
    console_page,
    opened_for_platform,
    page_of,
    with_query,
)
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.console.prices import limit_of
from entrypoints.pages.customers.customers import STATES
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import platform_pages, shows_again
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import platform_owner_in_console, platform_support_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()

ORGANIZATION: Final = f"{PLATFORM_ORGANIZATIONS}/:organization_id"
APPROVALS: Final = f"{PLATFORM_ORGANIZATIONS}/approvals"
_NO_NUMBER: Final = marked("Enter a whole number up to 1,000,000, or nothing for the limit of the tier.")
STATUSES: Final = {
    OrganizationStatus.PENDING: ("warning", marked("Waits for approval")),
    OrganizationStatus.ACTIVE: ("good", marked("Active")),
    OrganizationStatus.SUSPENDED: ("bad", marked("Suspended")),
    OrganizationStatus.REJECTED: ("bad", marked("Rejected")),
    OrganizationStatus.DELETING: ("bad", marked("Deleted, can be restored")),
}


class FleetQuery(ConsoleListQuery, kw_only=True):
    """Which organizations to show."""

    search: Annotated[
        str, msgspec.Meta(description="A part of the name, slug or a domain, or the owner's address.", max_length=254)
    ] = ""
    status: Annotated[str, msgspec.Meta(description="Only organizations with this status.", max_length=50)] = ""
    tier: Annotated[str, msgspec.Meta(description="Only organizations of this tier, by its id.", max_length=50)] = ""
    choose: Annotated[str, msgspec.Meta(description="`all` ticks the boxes of the page.", max_length=10)] = ""

    @property
    def wanted(self) -> OrganizationFilter:
        """The filters; what is no status or no id filters nothing."""
        status = OrganizationStatus(self.status) if self.status in set(OrganizationStatus) else None
        return OrganizationFilter(search=self.search, status=status, tier_id=id_or_none(self.tier))

    @property
    def filters(self) -> Mapping[str, Any]:
        """The filters, as the use case takes them by name."""
        return {"wanted": self.wanted}


LISTED: Final = ConsoleList[ListedOrganization](
    path=PLATFORM_ORGANIZATIONS,
    listed=organization_records.listed,
    file="organizations",
    columns={
        "slug": lambda one: one.slug,
        "name": lambda one: one.name,
        "status": lambda one: one.status.value,
        "tier": lambda one: one.tier,
        "owner": lambda one: one.owner.email if one.owner is not None else None,
        "unclaimed": lambda one: one.is_unclaimed,
        "members": lambda one: one.members,
        "created": lambda one: one.created_at,
        "last_sign_in": lambda one: one.last_sign_in_at,
        "id": lambda one: one.id,
    },
)


class DecisionForm(ProtectedForm, kw_only=True):
    """A decision about an organization, the reason where it takes one, the status that the page has shown, and the page
    that an approval leads back to.
    """

    tier: str = ""
    reason: str = ""
    seen_status: str = ""
    back: str = ""


class LimitsForm(ProtectedForm, kw_only=True):
    """The tier and the own limits of an organization, now and as the page has shown them; empty means the tier's."""

    tier: str = ""
    max_services: str = ""
    max_users: str = ""
    seen_tier: str = ""
    seen_max_services: str = ""
    seen_max_users: str = ""


@routes.get(PLATFORM_ORGANIZATIONS)
@platform_support_in_console
async def show_all_organizations(
    call: Call,
    *,
    query: FleetQuery | None = None,
    chosen: Collection[UUID] = (),
    reason: str = "",
    results: Sequence[tuple[str, str, str]] = (),
    refusal: Refusal | None = None,
) -> Page:
    """Show the organizations of the platform, by a part of their name, slug or domain, by owner, status and tier."""
    query = query or FleetQuery()
    standing, found = await opened_for_platform(
        call,
        organization_records.search,
        query.wanted,
        after=query.position,
        limit=ROWS_SHOWN,
    )
    waiting = {one.id for one in found.found if one.status is OrganizationStatus.PENDING}
    return console_page(
        call,
        "platform/organizations.html",
        standing,
        program=Program(
            "platform_organizations_list_organizations", query={"status": query.status, "tier_id": query.tier}
        ),
        done=query.done,
        refusal=refusal,
        **LISTED.values(query, found),
        statuses=STATUSES,
        choices=[("", marked("Every status")), *((status.value, text) for status, (_, text) in STATUSES.items())],
        tiers=[("", marked("Every tier")), *await tier_choices(call)],
        waiting=waiting,
        chosen=waiting if query.choose == "all" else waiting & set(chosen),
        reason=reason,
        job_rows_max=ROWS_MAX,
        results=results,
        action=with_query(APPROVALS, **query.kept, after=query.after),
        choose_all=with_query(PLATFORM_ORGANIZATIONS, **query.kept, after=query.after, choose="all"),
    )


@routes.get(f"{PLATFORM_ORGANIZATIONS}/organizations.csv")
@platform_support_in_console
async def download_organizations(call: Call, query: FleetQuery) -> CsvFile:
    """Download the organizations that a search finds, at most 100,000, for a spreadsheet."""
    return await LISTED.csv(call, query=query)


@routes.get(ORGANIZATION, refuses=(OrganizationUnknown,))
@platform_support_in_console
async def show_organization(
    call: Call,
    organization_id: UUID,
    *,
    query: DoneQuery | None = None,
    form: DecisionForm | LimitsForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show an organization: its owner, what it has and may have, its domains, and what can be decided about it."""
    standing, found = await opened_for_platform(call, organization_records.show, organization_id)
    decision = form if isinstance(form, DecisionForm) else DecisionForm(tier=str(found.tier.id))
    return console_page(
        call,
        "platform/organizations_one.html",
        standing,
        program=_program(found.organization.status, organization_id),
        done=query.done if query is not None else "",
        refusal=refusal,
        found=found,
        statuses=STATUSES,
        states=STATES,
        tiers=await tier_choices(call),
        form=decision,
        limits=form if isinstance(form, LimitsForm) else _shown_limits(found),
        seen=_shown_limits(found),
        problems=problems_of(refusal),
        page=f"{PLATFORM_ORGANIZATIONS}/{organization_id}",
        tabs=organization_tabs(organization_id),
        page_of_all=PLATFORM_ORGANIZATIONS,
    )


# Where an approval was sent from, and leads back to: the overview of the organization or of the platform.
_CONSOLE: Final = "console"
_OVERVIEW: Final = "overview"
_DECIDING: Final = (OrganizationUnknown, OrganizationChanged, WrongState)


@routes.post(f"{ORGANIZATION}/approve", refuses=(*_DECIDING, TierUnknown))
@platform_owner_in_console
@shows_again(show_organization, BadRequest, OrganizationChanged)
async def approve_organization(call: Call, organization_id: UUID, form: DecisionForm) -> PageOrRedirect:
    """Approve a pending organization; programs use `POST /api/platform/organizations/:id/approve`."""
    await call.read(authorize_platform)
    # From elsewhere no tier is chosen: it keeps the one that it has.
    tier_id = None if form.back else _tier_of(form.tier)
    approved = await call.transact(
        organizations.approve, organization_id, tier_id=tier_id, seen_status=form.seen_status
    )
    back = {_CONSOLE: page_of(approved.slug), _OVERVIEW: PLATFORM}.get(form.back)
    return after(back or f"{PLATFORM_ORGANIZATIONS}/{organization_id}", "approved")


@routes.post(f"{ORGANIZATION}/reject", refuses=(*_DECIDING, BadRequest))
@platform_owner_in_console
@shows_again(show_organization, BadRequest, OrganizationChanged)
async def reject_organization(call: Call, organization_id: UUID, form: DecisionForm) -> PageOrRedirect:
    """Reject a pending organization; programs use `POST /api/platform/organizations/:id/reject`."""
    await call.transact(organizations.reject, organization_id, form.reason, seen_status=form.seen_status)
    return after(f"{PLATFORM_ORGANIZATIONS}/{organization_id}", "rejected")


@routes.post(f"{ORGANIZATION}/activate", refuses=_DECIDING)
@platform_owner_in_console
@shows_again(show_organization, BadRequest, OrganizationChanged)
async def activate_organization(call: Call, organization_id: UUID, form: DecisionForm) -> PageOrRedirect:
    """Activate a suspended organization again; programs use `POST /api/platform/organizations/:id/activate`."""
    await call.transact(organizations.activate, organization_id, seen_status=form.seen_status)
    return after(f"{PLATFORM_ORGANIZATIONS}/{organization_id}", "activated")


@routes.post(f"{ORGANIZATION}/tier-and-limits", refuses=(OrganizationUnknown, OrganizationChanged, TierUnknown))
@platform_owner_in_console
@shows_again(show_organization, BadRequest, OrganizationChanged)
async def change_tier_and_limits(call: Call, organization_id: UUID, form: LimitsForm) -> PageOrRedirect:
    """Change the tier and own limits of an organization; programs use `PATCH /api/platform/organizations/:id/tier`."""
    await call.read(authorize_platform)
    seen_tier = id_or_none(form.seen_tier)
    if seen_tier is None:
        raise OrganizationChanged
    await call.transact(
        organizations.change_tier,
        organization_id,
        _tier_of(form.tier),
        {
            "max_services": limit_of(form.max_services, "max_services", _NO_NUMBER),
            "max_users": limit_of(form.max_users, "max_users", _NO_NUMBER),
        },
        seen=SeenLimits(
            tier_id=seen_tier,
            max_services=limit_of(form.seen_max_services, "max_services", _NO_NUMBER),
            max_users=limit_of(form.seen_max_users, "max_users", _NO_NUMBER),
        ),
    )
    return after(f"{PLATFORM_ORGANIZATIONS}/{organization_id}", "limits-changed")


async def tier_choices(call: Call) -> list[tuple[str, str]]:
    """Return the tiers, as the pairs of a choice."""
    return [(str(tier.id), tier.display_name) for tier in await call.read(tiers.list_all)]


def organization_tabs(organization_id: UUID) -> list[tuple[str, str, None]]:
    """Return the tabs of an organization: address, text, and what the reader lacks, which is nothing."""
    page = f"{PLATFORM_ORGANIZATIONS}/{organization_id}"
    return [(page, marked("Overview"), None), (f"{page}/members", marked("Members"), None)]


def _tier_of(text: str) -> UUID:
    tier_id = id_or_none(text)
    if tier_id is None:
        raise TierUnknown
    return tier_id


def _shown_limits(found: organization_records.PlatformOrganizationRecord) -> LimitsForm:
    own = found.organization
    return LimitsForm(
        tier=str(own.tier_id),
        max_services="" if own.max_services is None else str(own.max_services),
        max_users="" if own.max_users is None else str(own.max_users),
    )


def _program(status: OrganizationStatus, organization_id: UUID) -> Program:
    """Return the call that does what is next about an organization with this status."""
    match status:
        case OrganizationStatus.PENDING:
            return Program("platform_organizations_approve", organization_id, body={})
        case OrganizationStatus.ACTIVE:
            return Program("platform_organizations_suspend", organization_id, body={"reason": ""})
        case OrganizationStatus.SUSPENDED:
            return Program("platform_organizations_activate", organization_id)
        case OrganizationStatus.REJECTED | OrganizationStatus.DELETING:
            return Program("platform_organizations_list_organizations", query={"status": status.value})
