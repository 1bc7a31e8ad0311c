"""The page that deletes a service: what ends with it, in numbers, its slug to type, and why."""

from typing import Final

from core.errors import BadRequest, Refusal
from core.organizations.access import Operation
from core.services import found_services
from core.services.management import ServiceSubscribed
from core.services.services import ServiceUnknown
from entrypoints.pages.console.frame import Program, after, page_of
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.standing import opened_service, service_page
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent, recent_for_form
from entrypoints.web.serving.admission.credentials import on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

DELETION: Final = "/app/organizations/:org_slug/services/:service_slug/deletion"


class ServiceDeletionForm(ProtectedForm, kw_only=True):
    """The slug of the service as it was typed, and what the audit log is to keep about its deletion."""

    slug: str = ""
    note: str = ""


async def _page(
    call: Call,
    org_slug: str,
    service_slug: str,
    *,
    form: ServiceDeletionForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    at, figures = await opened_service(
        call, org_slug, service_slug, Operation.SERVICE_DELETE, found_services.show_removal
    )
    return service_page(
        call,
        "services/deletion.html",
        at,
        program=Program("services_delete_service", org_slug, service_slug),
        refusal=refusal,
        problems=problems_of(refusal),
        figures=figures,
        form=form or ServiceDeletionForm(),
    )


@routes.get(DELETION, refuses=(ServiceUnknown,))
@on_service_in_console(Operation.SERVICE_DELETE)
async def ask_to_remove_service(call: Call, org_slug: str, service_slug: str) -> Page:
    """Show what ends when a service is deleted, in numbers."""
    shown = await _page(call, org_slug, service_slug)
    await recent_for_form(call)
    return shown


@routes.post(DELETION, refuses=(ServiceUnknown, ServiceSubscribed, BadRequest))
@on_service_in_console(Operation.SERVICE_DELETE)
@shows_again(_page, BadRequest)
async def remove_service(call: Call, org_slug: str, service_slug: str, form: ServiceDeletionForm) -> PageOrRedirect:
    """Delete a service for good; programs use `DELETE /api/organizations/:slug/services/:service_slug`."""
    await recent(call)
    await call.transact(found_services.remove, org_slug, service_slug, typed_slug=form.slug, note=form.note)
    return after(f"{page_of(org_slug)}/services", "service-deleted")
