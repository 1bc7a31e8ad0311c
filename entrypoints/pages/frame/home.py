"""The first page of Gatehouse in a browser: it leads people where they work."""

from typing import Final

from core.platform import console
from core.platform.console import Start
from entrypoints.pages.frame.refusals import refusal_page
from entrypoints.pages.frame.rendering import PageOrRedirect, form_page
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.admission.credentials import in_browser
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("home", "The pages for people.", refusal_page)

HOME: Final = "/app"


@routes.get(HOME)
@on_custom_hosts
@in_browser
async def show_home(call: Call) -> PageOrRedirect:
    """Lead to the organization of the user, to the list of several, to the platform, or to the account.

    At a custom domain, show what a user can do there.
    """
    if call.custom_host is not None:
        return form_page(call, "frame/home.html")
    await browsers.require_open_page(call)
    return see_other(_page_of(await call.read(console.find)))


def _page_of(start: Start) -> str:
    if start.only_slug is not None:
        return f"{HOME}/organizations/{start.only_slug}"
    if start.has_organizations:
        return f"{HOME}/organizations"
    return f"{HOME}/platform" if start.opens_platform else f"{HOME}/account"
