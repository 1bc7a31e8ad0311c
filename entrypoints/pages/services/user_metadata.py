"""The page of what a service notes about one of its users."""

from typing import Final
from uuid import UUID

from core.errors import BadRequest, Refusal
from core.organizations.access import Operation
from core.services import user_metadata
from core.services.services import ServiceUnknown
from core.services.user_metadata import ServiceUserUnknown
from entrypoints.pages.console.frame import Program, after
from entrypoints.pages.console.metadata import MetadataForm, metadata_values
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.standing import opened_service, page_of_service, service_page
from entrypoints.web.serving.admission.credentials import on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

USER: Final = "/app/organizations/:org_slug/services/:service_slug/users/:user_id"


@routes.get(USER, refuses=(ServiceUnknown, ServiceUserUnknown))
@on_service_in_console(Operation.SERVICE_USER_READ)
async def show_service_user(
    call: Call,
    org_slug: str,
    service_slug: str,
    user_id: UUID,
    *,
    query: DoneQuery | None = None,
    form: MetadataForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show what a service notes about a user."""
    at, user = await opened_service(
        call, org_slug, service_slug, Operation.SERVICE_USER_READ, user_metadata.show, user_id
    )
    return service_page(
        call,
        "services/user_metadata.html",
        at,
        program=Program(
            "end_users_change_service_user", org_slug, service_slug, user_id, body={"metadata": {"plan": "gold"}}
        ),
        done=query.done if query is not None else "",
        refusal=refusal,
        user=user,
        **metadata_values(user.metadata, form),
        lacks_change=at.lacks(Operation.SERVICE_USER_CHANGE),
        user_page=_page_of(org_slug, service_slug, user_id),
    )


@routes.post(USER, refuses=(BadRequest, ServiceUnknown, ServiceUserUnknown))
@on_service_in_console(Operation.SERVICE_USER_CHANGE)
@shows_again(show_service_user, BadRequest)
async def note_about_user(
    call: Call, org_slug: str, service_slug: str, user_id: UUID, form: MetadataForm
) -> PageOrRedirect:
    """Change what a service notes about a user; programs use `PATCH …/services/:service_slug/users/:user_id`."""
    await call.transact(user_metadata.change, org_slug, service_slug, user_id, form.patch)
    return after(_page_of(org_slug, service_slug, user_id), "metadata-saved")


def _page_of(org_slug: str, service_slug: str, user_id: UUID) -> str:
    return f"{page_of_service(org_slug, service_slug)}/users/{user_id}"
