"""Decisions about organizations of the platform with a page or a form of their own.

Several of the list are approved or rejected at once, each with a result of its own. Suspending and deleting one have
pages that say first, in numbers, what stops or ends.
"""

from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.errors import BadRequest, Refusal
from core.organizations.authorization import authorize_platform
from core.organizations.bulk_jobs import JobKind, ListChanged, TooManyJobs
from core.organizations.organizations import OrganizationStatus, WrongState
from core.platform import organization_records, organizations
from core.platform.organizations import OrganizationChanged, OrganizationUnknown
from core.text import checked_reason
from entrypoints.pages.console.frame import PLATFORM_ORGANIZATIONS, Program, after, console_page, opened_for_platform
from entrypoints.pages.console.lists import attempted, each_once
from entrypoints.pages.frame.languages import marked, translated
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import platform_pages, shows_again
from entrypoints.pages.organizations.bulk_jobs import PLATFORM_JOBS
from entrypoints.pages.platform.organizations import (
    APPROVALS,
    ORGANIZATION,
    DecisionForm,
    FleetQuery,
    show_all_organizations,
)
from entrypoints.web.input.decoding import number_of
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent, recent_for_form
from entrypoints.web.serving.admission.credentials import platform_owner_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()

SUSPENSION: Final = f"{ORGANIZATION}/suspension"
DELETION: Final = f"{ORGANIZATION}/deletion"
_APPROVE: Final = "approve"
_REJECT: Final = "reject"


class ApprovalsForm(ProtectedForm, kw_only=True):
    """The chosen organizations, what to do with them, and the reason of a rejection."""

    ids: Annotated[list[UUID], msgspec.Meta(description="The ids of the chosen organizations.")] = msgspec.field(
        default_factory=list[UUID]
    )
    decision: Annotated[str, msgspec.Meta(description="What to do with them.")] = ""
    reason: str = ""
    all: Annotated[str, msgspec.Meta(description="Any text: all that wait and are found, as a job.")] = ""
    seen_total: str = ""


async def _list_page(call: Call, *, query: FleetQuery, form: ApprovalsForm, refusal: Refusal | None = None) -> Page:
    return await show_all_organizations(call, query=query, chosen=form.ids, reason=form.reason, refusal=refusal)


@routes.post(APPROVALS, refuses=(BadRequest, ListChanged, TooManyJobs))
@platform_owner_in_console
@shows_again(_list_page, BadRequest, ListChanged, TooManyJobs)
async def decide_about_many(call: Call, query: FleetQuery, form: ApprovalsForm) -> PageOrRedirect:
    """Approve or reject pending organizations; programs use `POST /api/platform/organizations/:id/approve` for each."""
    await call.read(authorize_platform)
    _require_decision(form)
    if form.all:
        return await _begin_job(call, query, form)
    chosen = each_once(
        form.ids,
        "ids",
        none=marked("Choose at least one organization."),
        too_many=marked("Choose at most 100 organizations at once."),
    )
    names = await call.read(organization_records.names, chosen)
    problems = {organization_id: await _decide(call, organization_id, form) for organization_id in chosen}
    # What was refused stays chosen. Where all went well, nothing that was typed is left to do.
    refused = [organization_id for organization_id, problem in problems.items() if problem]
    return await show_all_organizations(
        call,
        query=query,
        chosen=refused,
        reason=form.reason if refused else "",
        results=[
            (
                names.get(organization_id) or translated(call, "An organization that does not exist"),
                problem,
                f"{PLATFORM_ORGANIZATIONS}/{organization_id}",
            )
            for organization_id, problem in problems.items()
        ],
    )


def _require_decision(form: ApprovalsForm) -> None:
    if form.decision not in {_APPROVE, _REJECT}:
        raise BadRequest.of_field("decision", "Choose whether to approve or to reject.")
    if form.decision == _REJECT:
        checked_reason(form.reason)


async def _begin_job(call: Call, query: FleetQuery, form: ApprovalsForm) -> PageOrRedirect:
    """Begin a job for all that wait and are found, and lead to its page."""
    rejects = form.decision == _REJECT
    job_id = await call.transact(
        organization_records.begin_job,
        JobKind.ORGANIZATIONS_REJECT if rejects else JobKind.ORGANIZATIONS_APPROVE,
        query.wanted,
        seen_total=number_of(form.seen_total),
        details={"reason": form.reason} if rejects else {},
    )
    return after(f"{PLATFORM_JOBS}/{job_id}", "job-begun")


async def _decide(call: Call, organization_id: UUID, form: ApprovalsForm) -> str:
    """Decide about an organization; return what was refused, in English, or nothing."""
    seen = OrganizationStatus.PENDING.value
    if form.decision == _REJECT:
        decision = call.transact(organizations.reject, organization_id, form.reason, seen_status=seen)
    else:
        decision = call.transact(organizations.approve, organization_id, tier_id=None, seen_status=seen)
    _, problem = await attempted(decision)
    return problem


@routes.get(SUSPENSION, refuses=(OrganizationUnknown,))
@platform_owner_in_console
async def ask_to_suspend(
    call: Call, organization_id: UUID, *, form: DecisionForm | None = None, refusal: Refusal | None = None
) -> Page:
    """Show what stops when an organization is suspended, in numbers."""
    standing, found = await opened_for_platform(call, organization_records.show_to_owner, organization_id)
    return console_page(
        call,
        "platform/decisions_suspension.html",
        standing,
        program=Program("platform_organizations_suspend", organization_id, body={"reason": ""}),
        refusal=refusal,
        found=found,
        form=form or DecisionForm(),
        page=f"{PLATFORM_ORGANIZATIONS}/{organization_id}",
    )


@routes.post(SUSPENSION, refuses=(OrganizationUnknown, OrganizationChanged, WrongState, BadRequest))
@platform_owner_in_console
@shows_again(ask_to_suspend, BadRequest, OrganizationChanged)
async def suspend_organization(call: Call, organization_id: UUID, form: DecisionForm) -> PageOrRedirect:
    """Suspend an active organization; programs use `POST /api/platform/organizations/:id/suspend`."""
    reason = checked_reason(form.reason)
    await call.transact(organizations.suspend, organization_id, reason, seen_status=form.seen_status)
    return after(f"{PLATFORM_ORGANIZATIONS}/{organization_id}", "suspended")


class DeletionForm(ProtectedForm, kw_only=True):
    """The slug of the organization to delete as it was typed, the reason, and the status that the page has shown."""

    slug: str = ""
    reason: str = ""
    seen_status: str = ""


async def _deletion_page(
    call: Call, organization_id: UUID, *, form: DeletionForm | None = None, refusal: Refusal | None = None
) -> Page:
    standing, found = await opened_for_platform(call, organization_records.show_to_owner, organization_id)
    return console_page(
        call,
        "platform/decisions_deletion.html",
        standing,
        program=Program("platform_organizations_delete_organization", organization_id),
        refusal=refusal,
        found=found,
        form=form or DeletionForm(),
        problems=problems_of(refusal),
        page=f"{PLATFORM_ORGANIZATIONS}/{organization_id}",
    )


@routes.get(DELETION, refuses=(OrganizationUnknown,))
@platform_owner_in_console
async def ask_to_delete(call: Call, organization_id: UUID) -> Page:
    """Show what ends when an organization is deleted, in numbers."""
    shown = await _deletion_page(call, organization_id)
    await recent_for_form(call)
    return shown


@routes.post(DELETION, refuses=(OrganizationUnknown, OrganizationChanged, BadRequest))
@platform_owner_in_console
@shows_again(_deletion_page, BadRequest, OrganizationChanged)
async def delete_organization_for_good(call: Call, organization_id: UUID, form: DeletionForm) -> PageOrRedirect:
    """Delete an organization for good; programs use `DELETE /api/platform/organizations/:id`."""
    await recent(call)
    await call.transact(
        organizations.delete_for_reason,
        organization_id,
        typed_slug=form.slug,
        reason=form.reason,
        seen_status=form.seen_status,
    )
    return after(PLATFORM_ORGANIZATIONS, "deleted")
