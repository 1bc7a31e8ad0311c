"""The page that suspends an organization: what stops, in numbers, and the reason."""

from typing import Final
from uuid import UUID

from core.errors import BadRequest, Refusal
from core.organizations.organizations import WrongState
from core.platform import organization_records, organizations
from core.platform.organizations import OrganizationChanged, OrganizationUnknown
from core.text import checked_reason
from entrypoints.pages.console.frame import PLATFORM_ORGANIZATIONS, Program, after, console_page, opened_for_platform
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import platform_pages, shows_again
from entrypoints.pages.platform.organizations import ORGANIZATION, DecisionForm
from entrypoints.web.serving.admission.credentials import platform_owner_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()

SUSPENSION: Final = f"{ORGANIZATION}/suspension"


@routes.get(SUSPENSION, refuses=(OrganizationUnknown,))
@platform_owner_in_console
async def ask_to_suspend(
    call: Call, organization_id: UUID, *, form: DecisionForm | None = None, refusal: Refusal | None = None
) -> Page:
    """Show what stops when an organization is suspended, in numbers."""
    standing, found = await opened_for_platform(call, organization_records.show_to_owner, organization_id)
    return console_page(
        call,
        "platform/suspension.html",
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
