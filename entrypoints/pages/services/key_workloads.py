"""The workloads of a key of an organization: the list with what was refused last, allowing one, and deleting one."""

from typing import Final
from uuid import UUID

from core.errors import BadRequest, Forbidden, Refusal
from core.organizations.access import Operation
from core.organizations.keys import OrganizationKeyUnknown
from core.services import key_workloads
from core.services.workloads import TooManyWorkloads, WorkloadUnknown
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.workload_rules import PRESETS, REASONS, PresetQuery, WorkloadForm, example, form_values
from entrypoints.shared.services.outside import outside
from entrypoints.web.serving.admission.browsers import recent, recent_for_form
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

WORKLOADS: Final = "/app/organizations/:org_slug/keys/:key_id/workloads"
WORKLOAD: Final = f"{WORKLOADS}/:workload_id"


def _page_of(org_slug: str, key_id: UUID) -> str:
    return f"{page_of(org_slug)}/keys/{key_id}/workloads"


@routes.get(WORKLOADS, refuses=(OrganizationKeyUnknown,))
@in_console(Operation.KEYS_READ)
async def show_key_workloads(
    call: Call, org_slug: str, key_id: UUID, *, query: DoneQuery | None = None, refusal: Refusal | None = None
) -> Page:
    """Show the workloads of a key, each with the last token that was refused and why."""
    standing, found = await opened(call, org_slug, Operation.KEYS_READ, key_workloads.list_all, key_id)
    return console_page(
        call,
        "services/key_workloads.html",
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
        workloads=_page_of(org_slug, key_id),
    )


async def _new(
    call: Call,
    org_slug: str,
    key_id: UUID,
    *,
    query: PresetQuery | None = None,
    form: WorkloadForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    standing, found = await opened(call, org_slug, Operation.KEY_CREATE, key_workloads.list_all, key_id)
    preset = form.chosen if form is not None else (query or PresetQuery()).chosen
    values = form_values(call, preset, form, refusal, client_id=found.key.client_id, page=_page_of(org_slug, key_id))
    values["workloads"] = values.pop("page")
    return console_page(
        call,
        "services/key_workloads_new.html",
        standing,
        program=Program("workloads_create_workload_of_key", org_slug, key_id, body=example(preset)),
        refusal=refusal,
        key=found.key,
        **values,
    )


@routes.get(f"{WORKLOADS}/new", refuses=(OrganizationKeyUnknown,))
@in_console(Operation.KEY_CREATE)
async def ask_for_key_workload(call: Call, org_slug: str, key_id: UUID, query: PresetQuery) -> Page:
    """Show the form of a new workload, with the claims that its platform asks for, and how its program gets a token."""
    shown = await _new(call, org_slug, key_id, query=query)
    await recent_for_form(call)
    return shown


@routes.post(f"{WORKLOADS}/new", refuses=(OrganizationKeyUnknown, TooManyWorkloads, Forbidden, BadRequest))
@in_console(Operation.KEY_CREATE)
@shows_again(_new, BadRequest)
async def allow_key_workload(call: Call, org_slug: str, key_id: UUID, form: WorkloadForm) -> PageOrRedirect:
    """Let a program authenticate as the key; programs use `POST /api/organizations/:slug/keys/:key_id/workloads`."""
    await recent(call)
    await call.transact(key_workloads.create, org_slug, key_id, form.read(), outside=outside(call))
    return after(_page_of(org_slug, key_id), "workload-allowed")


@routes.get(f"{WORKLOAD}/delete", refuses=(OrganizationKeyUnknown, WorkloadUnknown))
@in_console(Operation.KEYS_CHANGE)
async def ask_to_delete_key_workload(call: Call, org_slug: str, key_id: UUID, workload_id: UUID) -> Page:
    """Show what stops with a workload of a key."""
    standing, (key, found) = await opened(
        call, org_slug, Operation.KEYS_CHANGE, key_workloads.show, key_id, workload_id
    )
    return console_page(
        call,
        "services/key_workloads_deletion.html",
        standing,
        program=Program("workloads_delete_workload_of_key", org_slug, key_id, workload_id),
        key=key,
        one=found,
        workloads=_page_of(org_slug, key_id),
    )


@routes.post(f"{WORKLOAD}/delete", refuses=(OrganizationKeyUnknown, WorkloadUnknown))
@in_console(Operation.KEYS_CHANGE)
@shows_again(show_key_workloads, WorkloadUnknown)
async def delete_key_workload(call: Call, org_slug: str, key_id: UUID, workload_id: UUID) -> PageOrRedirect:
    """Delete a workload of a key; programs use `DELETE …/keys/:key_id/workloads/:workload_id`."""
    await call.transact(key_workloads.delete, org_slug, key_id, workload_id)
    return after(_page_of(org_slug, key_id), "workload-deleted")
