"""The pages of deleting an organization: what ends, and restoring one while that is possible."""

from typing import Final

from core.errors import BadRequest, Forbidden, OrganizationNotActive, Refusal
from core.organizations import deletion
from core.organizations.access import Operation
from core.organizations.deletion import NotRestorable
from core.organizations.session_strength import DeviceTrustedTooLongAgo, SecondFactorRequired
from entrypoints.pages.console.frame import CONSOLE, Program, after, console_page, opened, page_of
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.organizations.management import SETTINGS
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent, recent_for_form
from entrypoints.web.serving.admission.credentials import in_browser_in_person, in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

RESTORATION: Final = "/app/deleted-organizations/:slug"


class OrganizationDeletionForm(ProtectedForm, kw_only=True):
    """The slug of the organization to delete, as it was typed."""

    slug: str = ""


async def _deletion(
    call: Call, org_slug: str, *, form: OrganizationDeletionForm | None = None, refusal: Refusal | None = None
) -> Page:
    operation = Operation.ORGANIZATION_DELETE
    standing, ending = await opened(call, org_slug, operation, deletion.show)
    return console_page(
        call,
        "organizations/deletion.html",
        standing,
        program=Program("organizations_delete_organization", org_slug),
        refusal=refusal,
        ending=ending,
        slug=form.slug if form is not None else "",
        problems=problems_of(refusal),
        page=f"{page_of(org_slug)}/settings",
    )


@routes.get(f"{SETTINGS}/delete", refuses=(OrganizationNotActive,))
@in_console(Operation.ORGANIZATION_DELETE)
async def ask_to_delete_organization(call: Call, org_slug: str) -> PageOrRedirect:
    """Show what ends with an organization, in numbers; its slug is typed to delete it."""
    shown = await _deletion(call, org_slug)
    await recent_for_form(call)
    return shown


@routes.post(f"{SETTINGS}/delete", refuses=(BadRequest, Forbidden, OrganizationNotActive))
@in_console(Operation.ORGANIZATION_DELETE)
@shows_again(_deletion, BadRequest)
async def delete_own_organization(call: Call, org_slug: str, form: OrganizationDeletionForm) -> PageOrRedirect:
    """Delete an organization; programs use `DELETE /api/organizations/:slug`."""
    await recent(call)
    restorable_until = await call.transact(deletion.delete, org_slug, typed_slug=form.slug)
    return after(CONSOLE, "deleted" if restorable_until is None else "deleting")


@routes.get(RESTORATION, refuses=(NotRestorable,))
@in_browser_in_person
async def ask_to_restore(call: Call, slug: str) -> Page:
    """Show what comes back with an organization that you have deleted, and what does not."""
    found = await call.read(deletion.show_mine, slug)
    await recent_for_form(call)
    return console_page(
        call,
        "organizations/deletion_restoration.html",
        None,
        program=Program("organizations_list_organizations"),
        found=found,
        page=RESTORATION.replace(":slug", slug),
        page_of_all=CONSOLE,
    )


@routes.post(
    RESTORATION,
    refuses=(NotRestorable, SecondFactorRequired, DeviceTrustedTooLongAgo, Forbidden),
)
@in_browser_in_person
async def restore_organization(call: Call, slug: str) -> PageOrRedirect:
    """Restore an organization that you have deleted."""
    await recent(call)
    await call.transact(deletion.restore, slug)
    return after(page_of(slug), "restored")
