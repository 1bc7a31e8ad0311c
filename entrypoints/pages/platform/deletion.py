"""The page that deletes an organization: what ends with it, in numbers, its slug to type, and the reason."""

from typing import Final
from uuid import UUID

from core.errors import BadRequest, Refusal
from core.platform import organization_records, organizations
from core.platform.organizations import OrganizationChanged, OrganizationUnknown
from entrypoints.pages.console.frame import PLATFORM_ORGANIZATIONS, Program, after, console_page, opened_for_platform
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import platform_pages, shows_again
from entrypoints.pages.platform.organizations import ORGANIZATION
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent, recent_for_form
from entrypoints.web.serving.admission.credentials import platform_owner_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()

DELETION: Final = f"{ORGANIZATION}/deletion"


class DeletionForm(ProtectedForm, kw_only=True):
    """The slug of the organization to delete as it was typed, the reason, and the status that the page has shown."""

    slug: str = ""
    reason: str = ""
    seen_status: str = ""


async def _page(
    call: Call, organization_id: UUID, *, form: DeletionForm | None = None, refusal: Refusal | None = None
) -> Page:
    standing, found = await opened_for_platform(call, organization_records.show_to_owner, organization_id)
    return console_page(
        call,
        "platform/deletion.html",
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
    shown = await _page(call, organization_id)
    await recent_for_form(call)
    return shown


@routes.post(DELETION, refuses=(OrganizationUnknown, OrganizationChanged, BadRequest))
@platform_owner_in_console
@shows_again(_page, BadRequest, OrganizationChanged)
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
