"""The pages of the settings of an organization: its name and limits, what it notes about itself, and leaving it.

Deleting it is in `deletion.py`.
"""

from typing import Final

from core.errors import BadRequest, Forbidden, OrganizationNotActive, Refusal
from core.organizations import found_members, management, members
from core.organizations.access import Operation
from core.organizations.management import OrganizationRenamed, OrganizationSettings
from core.organizations.organizations import OWNER
from entrypoints.pages.console.frame import CONSOLE, Program, after, console_page, opened, page_of
from entrypoints.pages.console.metadata import MetadataForm, metadata_values
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

SETTINGS: Final = "/app/organizations/:org_slug/settings"


class OrganizationNameForm(ProtectedForm, kw_only=True):
    """The new name of an organization, and the one that the page has shown."""

    name: str = ""
    seen_name: str = ""


@routes.get(SETTINGS)
@in_console(Operation.ORGANIZATION_READ)
async def show_settings(
    call: Call,
    org_slug: str,
    *,
    query: DoneQuery | None = None,
    form: OrganizationNameForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the name of an organization, its tier and how much of its limits is used."""
    standing, use = await opened(call, org_slug, Operation.ORGANIZATION_READ, management.show_use)
    name = form.name if form is not None else standing.organization.name
    return console_page(
        call,
        "organizations/management.html",
        standing,
        program=Program("organizations_change_organization", org_slug, body={"name": name}),
        done=query.done if query is not None else "",
        refusal=refusal,
        use=use,
        name=name,
        problems=problems_of(refusal),
        is_owner=standing.role == OWNER,
        lacks_change=standing.lacks(Operation.ORGANIZATION_UPDATE),
        lacks_transfer=standing.lacks(Operation.OWNERSHIP_TRANSFER),
        lacks_deletion=standing.lacks(Operation.ORGANIZATION_DELETE),
        page=f"{page_of(org_slug)}/settings",
        organization_page=page_of(org_slug),
    )


@routes.post(SETTINGS, refuses=(BadRequest, OrganizationRenamed, OrganizationNotActive))
@in_console(Operation.ORGANIZATION_UPDATE)
@shows_again(show_settings, BadRequest, OrganizationRenamed)
async def rename_organization(call: Call, org_slug: str, form: OrganizationNameForm) -> PageOrRedirect:
    """Change the name of an organization; programs use `PATCH /api/organizations/:slug`."""
    await call.transact(management.rename, org_slug, form.name, seen_name=form.seen_name)
    return after(f"{page_of(org_slug)}/settings", "renamed")


@routes.get(f"{SETTINGS}/metadata")
@in_console(Operation.ORGANIZATION_READ)
async def show_noted(
    call: Call,
    org_slug: str,
    *,
    query: DoneQuery | None = None,
    form: MetadataForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show what an organization notes about itself."""
    standing, detail = await opened(call, org_slug, Operation.ORGANIZATION_READ, management.read)
    settings = f"{page_of(org_slug)}/settings"
    return console_page(
        call,
        "organizations/management_metadata.html",
        standing,
        program=Program("organizations_change_organization", org_slug, body={"metadata": {"plan": "gold"}}),
        done=query.done if query is not None else "",
        refusal=refusal,
        problems=problems_of(refusal),
        **metadata_values(detail.organization.metadata, form),
        lacks_change=standing.lacks_lasting(Operation.ORGANIZATION_UPDATE),
        settings=settings,
        page=f"{settings}/metadata",
    )


@routes.post(f"{SETTINGS}/metadata", refuses=(BadRequest, OrganizationNotActive))
@in_console(Operation.ORGANIZATION_UPDATE)
@shows_again(show_noted, BadRequest)
async def note_about_organization(call: Call, org_slug: str, form: MetadataForm) -> PageOrRedirect:
    """Change what an organization notes about itself; programs use `PATCH /api/organizations/:slug`."""
    await call.transact(management.change, org_slug, OrganizationSettings(), form.patch)
    return after(f"{page_of(org_slug)}/settings/metadata", "metadata-saved")


@routes.get(f"{SETTINGS}/leave")
@in_console(Operation.ORGANIZATION_LEAVE)
async def ask_to_leave(call: Call, org_slug: str, *, refusal: Refusal | None = None) -> Page:
    """Show what ends when the reader leaves an organization, in numbers."""
    standing, departure = await opened(call, org_slug, Operation.ORGANIZATION_LEAVE, found_members.show_leaving)
    return console_page(
        call,
        "organizations/management_leaving.html",
        standing,
        program=Program("organizations_leave_organization", org_slug),
        refusal=refusal,
        departure=departure,
        is_owner=standing.role == OWNER,
        page=f"{page_of(org_slug)}/settings",
    )


@routes.post(f"{SETTINGS}/leave", refuses=(BadRequest, Forbidden))
@in_console(Operation.ORGANIZATION_LEAVE)
@shows_again(ask_to_leave, BadRequest)
async def leave_for_good(call: Call, org_slug: str) -> PageOrRedirect:
    """Leave an organization; programs use `POST /api/organizations/:slug/leave`."""
    await call.transact(members.leave, org_slug)
    return after(CONSOLE, "left")
