"""The page of a service that says who may sign in, and its forms, which assign it to the organization's own people."""

from typing import Final

from core.errors import BadRequest, Forbidden, Refusal
from core.organizations.access import Capability, Operation
from core.services import admission, management, service_access
from core.services.management import ServiceChanged
from core.services.services import Admission, ServiceUnknown
from entrypoints.pages.console.frame import Program, after
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.assignments import (
    AssignmentForm,
    AssignmentQuery,
    SubjectForm,
    subjects_to_choose,
)
from entrypoints.pages.services.standing import opened_service, page_of_service, service_page
from entrypoints.shared.services.outside import outside
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

ACCESS: Final = "/app/organizations/:org_slug/services/:service_slug/access"
ASSIGNMENTS: Final = f"{ACCESS}/assignments"


class ServiceAccessForm(ProtectedForm, kw_only=True):
    """Who may sign in to a service, and the version of it that the page has shown."""

    access: str = ""
    seen_version: str = ""


@routes.get(ACCESS, refuses=(ServiceUnknown,))
@on_service_in_console(Operation.SERVICE_READ)
async def show_admission(
    call: Call,
    org_slug: str,
    service_slug: str,
    *,
    query: AssignmentQuery | None = None,
    form: ServiceAccessForm | AssignmentForm | SubjectForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show who may sign in to a service, and its assignments in the organization with their roles."""
    query = query or AssignmentQuery()
    assignment = form if isinstance(form, AssignmentForm) else query
    at, found = await opened_service(
        call, org_slug, service_slug, Operation.SERVICE_READ, admission.show, find=assignment.find_subject
    )
    service = at.service
    sees_members = Capability.ORG_MEMBERS_VIEW in at.reader.capabilities
    return service_page(
        call,
        "services/admission.html",
        at,
        program=Program("services_change_service", org_slug, service_slug, body={"access": service.access.value}),
        done=query.done,
        refusal=refusal,
        found=found,
        access=form.access if isinstance(form, ServiceAccessForm) else service.access.value,
        assigned_roles=assignment.roles,
        subject=subjects_to_choose(call, found.assignable, assignment),
        lacks_change=at.lacks(Operation.SERVICE_UPDATE),
        lacks_assigning=at.lacks_lasting(Operation.SERVICE_UPDATE),
        lacks_members=None if sees_members else Capability.ORG_MEMBERS_VIEW,
        lacks_customers=at.lacks(Operation.CUSTOMERS_READ),
    )


_CHANGING: Final = (BadRequest, ServiceUnknown, Forbidden)


@routes.post(ACCESS, refuses=(*_CHANGING, ServiceChanged))
@on_service_in_console(Operation.SERVICE_UPDATE)
@shows_again(show_admission, BadRequest, ServiceChanged)
async def change_admission(call: Call, org_slug: str, service_slug: str, form: ServiceAccessForm) -> PageOrRedirect:
    """Set who may sign in to a service; programs use `PATCH …/services/:service_slug` with `access`."""
    await call.read(service_access.authorize, org_slug, service_slug, Operation.SERVICE_UPDATE)
    await call.transact(
        management.change,
        org_slug,
        service_slug,
        {"access": chosen_admission(form.access)},
        outside=outside(call),
        seen=form.seen_version,
    )
    return after(page_of_admission(org_slug, service_slug), "service-access-saved")


@routes.post(ASSIGNMENTS, refuses=_CHANGING)
@on_service_in_console(Operation.SERVICE_UPDATE)
@shows_again(show_admission, BadRequest)
async def assign_service(call: Call, org_slug: str, service_slug: str, form: AssignmentForm) -> PageOrRedirect:
    """Assign a service; programs use `PATCH …/services/:service_slug` with all `assignments`."""
    await call.read(service_access.authorize, org_slug, service_slug, Operation.SERVICE_UPDATE)
    await call.transact(admission.assign, org_slug, service_slug, form.chosen, form.roles)
    return after(page_of_admission(org_slug, service_slug), "service-assigned")


@routes.post(f"{ASSIGNMENTS}/remove", refuses=_CHANGING)
@on_service_in_console(Operation.SERVICE_UPDATE)
@shows_again(show_admission, BadRequest)
async def unassign_service(call: Call, org_slug: str, service_slug: str, form: SubjectForm) -> PageOrRedirect:
    """Take an assignment away; programs use `PATCH …/services/:service_slug` with the others."""
    await call.transact(admission.unassign, org_slug, service_slug, form.subject)
    return after(page_of_admission(org_slug, service_slug), "service-unassigned")


def chosen_admission(text: str) -> Admission:
    """Return who may sign in; raise `BadRequest` where nothing was chosen."""
    if text not in set(Admission):
        raise BadRequest.of_field("access", "Choose who may sign in.")
    return Admission(text)


def page_of_admission(org_slug: str, service_slug: str) -> str:
    """Return the path of the page that says who may sign in to a service."""
    return f"{page_of_service(org_slug, service_slug)}/access"
