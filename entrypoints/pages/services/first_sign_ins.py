"""The part of the page of a service that waits for the first sign-in; a script asks for it again and again."""

from typing import Final

from core.organizations.access import Operation
from core.services import first_sign_ins
from core.services.services import ServiceUnknown
from entrypoints.pages.frame.rendering import Page, page
from entrypoints.pages.frame.routes import console_pages
from entrypoints.pages.services.standing import page_of_service
from entrypoints.web.serving.admission.credentials import on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

FIRST_SIGN_IN: Final = "/app/organizations/:org_slug/services/:service_slug/first-sign-in"


@routes.get(FIRST_SIGN_IN, refuses=(ServiceUnknown,))
@on_service_in_console(Operation.SERVICE_READ)
async def show_first_sign_in(call: Call, org_slug: str, service_slug: str) -> Page:
    """Show the first sign-in to a service, or that it is waited for, for the script of the page of the service."""
    found = await call.read(first_sign_ins.show, org_slug, service_slug)
    return page(
        call,
        "services/first_sign_ins.html",
        first_sign_in=found,
        page=page_of_service(org_slug, service_slug),
    )
