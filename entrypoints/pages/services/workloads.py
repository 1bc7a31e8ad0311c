"""The workloads of a service, or of a key of an organization: the list with what was refused, a new one, deleting."""

from typing import Final
from uuid import UUID

from core.errors import BadRequest, Forbidden, Refusal
from core.organizations.access import Operation
from core.organizations.keys import OrganizationKeyUnknown
from core.services import workloads
from core.services.client_secrets import ServiceNotConfidential
from core.services.services import ServiceUnknown
from core.services.workloads import TakesNoWorkload, TooManyWorkloads, WorkloadUnknown
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.standing import opened_service, page_of_service, service_page
from entrypoints.pages.services.workload_rules import PRESETS, REASONS, PresetQuery, WorkloadForm, example, form_values
from entrypoints.shared.services.outside import outside
from entrypoints.web.serving.admission.browsers import recent, recent_for_form
from entrypoints.web.serving.admission.credentials import in_console, on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

WORKLOADS: Final = "/app/organizations/:org_slug/services/:service_slug/workloads"
WORKLOAD: Final = f"{WORKLOADS}/:workload_id"
TAB: Final = "/workloads"
OF_KEY: Final = "/app/organizations/:org_slug/keys/:key_id/workloads"
ONE_OF_KEY: Final = f"{OF_KEY}/:workload_id"


@routes.get(WORKLOADS, refuses=(ServiceUnknown,))
@on_service_in_console(Operation.WORKLOADS_READ)
async def show_workloads(
    call: Call, org_slug: str, service_slug: str, *, query: DoneQuery | None = None, refusal: Refusal | None = None
) -> Page:
    """Show the workloads of a service, each with the last token that was refused and why."""
    at, found = await opened_service(call, org_slug, service_slug, Operation.WORKLOADS_READ, workloads.list_all)
    return service_page(
        call,
        "services/workloads.html",
        at,
        program=Program("workloads_list_workloads", org_slug, service_slug),
        done=query.done if query is not None else "",
        refusal=refusal,
        found=found,
        reasons=REASONS,
        presets=PRESETS,
        lacks_change=at.lacks(Operation.WORKLOAD_CREATE),
        lacks_removal=at.lacks(Operation.WORKLOADS_CHANGE),
        takes_workloads=workloads.takes_workloads(at.service),
        workloads=page_of_service(org_slug, service_slug) + TAB,
    )


async def _new(
    call: Call,
    org_slug: str,
    service_slug: str,
    *,
    query: PresetQuery | None = None,
    form: WorkloadForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    at, _ = await opened_service(call, org_slug, service_slug, Operation.WORKLOAD_CREATE, workloads.require_creatable)
    preset = form.chosen if form is not None else (query or PresetQuery()).chosen
    page = page_of_service(org_slug, service_slug) + TAB
    values = form_values(call, preset, form, client_id=str(at.service.client_id), workloads=page)
    return service_page(
        call,
        "services/workloads_new.html",
        at,
        program=Program("workloads_create_workload", org_slug, service_slug, body=example(preset)),
        refusal=refusal,
        **values,
    )


@routes.get(f"{WORKLOADS}/new", refuses=(ServiceUnknown,))
@on_service_in_console(Operation.WORKLOAD_CREATE)
async def ask_for_workload(call: Call, org_slug: str, service_slug: str, query: PresetQuery) -> Page:
    """Show the form of a new workload, with the claims that its platform asks for, and how its program gets a token."""
    shown = await _new(call, org_slug, service_slug, query=query)
    await recent_for_form(call)
    return shown


@routes.post(
    f"{WORKLOADS}/new", refuses=(ServiceUnknown, TooManyWorkloads, TakesNoWorkload, ServiceNotConfidential, BadRequest)
)
@on_service_in_console(Operation.WORKLOAD_CREATE)
@shows_again(_new, BadRequest)
async def allow_workload(call: Call, org_slug: str, service_slug: str, form: WorkloadForm) -> PageOrRedirect:
    """Let a program authenticate as the service; programs use `POST …/services/:service_slug/workloads`."""
    await recent(call)
    await call.transact(workloads.create, org_slug, service_slug, form.read(), outside=outside(call))
    return after(page_of_service(org_slug, service_slug) + TAB, "workload-allowed")


@routes.get(f"{WORKLOAD}/delete", refuses=(ServiceUnknown, WorkloadUnknown))
@on_service_in_console(Operation.WORKLOADS_CHANGE)
async def ask_to_delete_workload(call: Call, org_slug: str, service_slug: str, workload_id: UUID) -> Page:
    """Show what stops with a workload."""
    at, found = await opened_service(
        call, org_slug, service_slug, Operation.WORKLOADS_CHANGE, workloads.show, workload_id
    )
    return service_page(
        call,
        "services/workloads_deletion.html",
        at,
        program=Program("workloads_delete_workload", org_slug, service_slug, workload_id),
        one=found,
        workloads=page_of_service(org_slug, service_slug) + TAB,
    )


@routes.post(f"{WORKLOAD}/delete", refuses=(ServiceUnknown, WorkloadUnknown))
@on_service_in_console(Operation.WORKLOADS_CHANGE)
@shows_again(show_workloads, WorkloadUnknown)
async def delete_one_workload(call: Call, org_slug: str, service_slug: str, workload_id: UUID) -> PageOrRedirect:
    """Delete a workload; programs use `DELETE …/services/:service_slug/workloads/:workload_id`."""
    await call.transact(workloads.delete, org_slug, service_slug, workload_id)
    return after(page_of_service(org_slug, service_slug) + TAB, "workload-deleted")


def _page_of_key(org_slug: str, key_id: UUID) -> str:
    return f"{page_of(org_slug)}/keys/{key_id}/workloads"


@routes.get(OF_KEY, refuses=(OrganizationKeyUnknown,))
@in_console(Operation.KEYS_READ)
async def show_key_workloads(
    call: Call, org_slug: str, key_id: UUID, *, query: DoneQuery | None = None, refusal: Refusal | None = None
) -> Page:
    """Show the workloads of a key, each with the last token that was refused and why."""
    standing, found = await opened(call, org_slug, Operation.KEYS_READ, workloads.list_of_key, key_id)
    return console_page(
        call,
        "services/workloads_of_key.html",
        standing,
        program=Program("workloads_list_workloads_of_key", org_slug, key_id),
        done=query.done if query is not None else "",
        refusal=refusal,
        key=found.key,
        found=found.workloads,
        reasons=REASONS,
        presets=PRESETS,
        lacks_change=standing.lacks(Operation.KEY_CREATE),
        lacks_removal=standing.lacks(Operation.KEYS_CHANGE),
        keys=f"{page_of(org_slug)}/keys",
        workloads=_page_of_key(org_slug, key_id),
    )


async def _new_of_key(
    call: Call,
    org_slug: str,
    key_id: UUID,
    *,
    query: PresetQuery | None = None,
    form: WorkloadForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    standing, found = await opened(call, org_slug, Operation.KEY_CREATE, workloads.list_of_key, key_id)
    preset = form.chosen if form is not None else (query or PresetQuery()).chosen
    values = form_values(call, preset, form, client_id=found.key.client_id, workloads=_page_of_key(org_slug, key_id))
    return console_page(
        call,
        "services/workloads_of_key_new.html",
        standing,
        program=Program("workloads_create_workload_of_key", org_slug, key_id, body=example(preset)),
        refusal=refusal,
        key=found.key,
        **values,
    )


@routes.get(f"{OF_KEY}/new", refuses=(OrganizationKeyUnknown,))
@in_console(Operation.KEY_CREATE)
async def ask_for_key_workload(call: Call, org_slug: str, key_id: UUID, query: PresetQuery) -> Page:
    """Show the form of a new workload, with the claims that its platform asks for, and how its program gets a token."""
    shown = await _new_of_key(call, org_slug, key_id, query=query)
    await recent_for_form(call)
    return shown


@routes.post(f"{OF_KEY}/new", refuses=(OrganizationKeyUnknown, TooManyWorkloads, Forbidden, BadRequest))
@in_console(Operation.KEY_CREATE)
@shows_again(_new_of_key, BadRequest)
async def allow_key_workload(call: Call, org_slug: str, key_id: UUID, form: WorkloadForm) -> PageOrRedirect:
    """Let a program authenticate as the key; programs use `POST /api/organizations/:slug/keys/:key_id/workloads`."""
    await recent(call)
    await call.transact(workloads.create_for_key, org_slug, key_id, form.read(), outside=outside(call))
    return after(_page_of_key(org_slug, key_id), "workload-allowed")


@routes.get(f"{ONE_OF_KEY}/delete", refuses=(OrganizationKeyUnknown, WorkloadUnknown))
@in_console(Operation.KEYS_CHANGE)
async def ask_to_delete_key_workload(call: Call, org_slug: str, key_id: UUID, workload_id: UUID) -> Page:
    """Show what stops with a workload of a key."""
    standing, (key, found) = await opened(
        call, org_slug, Operation.KEYS_CHANGE, workloads.show_of_key, key_id, workload_id
    )
    return console_page(
        call,
        "services/workloads_of_key_deletion.html",
        standing,
        program=Program("workloads_delete_workload_of_key", org_slug, key_id, workload_id),
        key=key,
        one=found,
        workloads=_page_of_key(org_slug, key_id),
    )


@routes.post(f"{ONE_OF_KEY}/delete", refuses=(OrganizationKeyUnknown, WorkloadUnknown))
@in_console(Operation.KEYS_CHANGE)
@shows_again(show_key_workloads, WorkloadUnknown)
async def delete_key_workload(call: Call, org_slug: str, key_id: UUID, workload_id: UUID) -> PageOrRedirect:
    """Delete a workload of a key; programs use `DELETE …/keys/:key_id/workloads/:workload_id`."""
    await call.transact(workloads.delete_of_key, org_slug, key_id, workload_id)
    return after(_page_of_key(org_slug, key_id), "workload-deleted")
