"""The pages of the applications that one has signed in to: what each of them has, and disconnecting it."""

from typing import Final
from uuid import UUID

from core.errors import Forbidden
from core.services import applications
from core.services.applications import ApplicationUnknown
from entrypoints.pages.console.account import ACCOUNT, account_page, address_after
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import account_pages
from entrypoints.web.serving.admission.credentials import in_browser, in_browser_in_person
from entrypoints.web.serving.calls import Call

routes = account_pages()

APPLICATIONS: Final = f"{ACCOUNT}/applications"


@routes.get(APPLICATIONS)
@in_browser
async def show_applications(call: Call, query: DoneQuery) -> Page:
    """Show the applications that you have signed in to."""
    mine = await call.read(applications.list_mine)
    return account_page(
        call, "services/applications.html", done=query.done, applications=mine.applications, total=mine.total
    )


@routes.get(f"{APPLICATIONS}/:service_id", refuses=(ApplicationUnknown,))
@in_browser
async def show_application(call: Call, service_id: UUID) -> Page:
    """Show what one of your applications has of your account, and what disconnecting it means."""
    application = await call.read(applications.show_mine, service_id)
    return account_page(call, "services/applications_one.html", application=application)


@routes.post(f"{APPLICATIONS}/:service_id/disconnect", status=303, refuses=(ApplicationUnknown, Forbidden))
@in_browser_in_person
async def disconnect_application(call: Call, service_id: UUID) -> None:
    """End what one of your applications has of your account."""
    await call.transact(applications.disconnect_mine, service_id)
    call.headers["Location"] = address_after(APPLICATIONS, "disconnected")
