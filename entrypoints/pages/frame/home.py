"""The first page of Gatehouse in a browser."""

from typing import Final

from core.platform import console
from entrypoints.pages.frame.refusals import refusal_page
from entrypoints.pages.frame.rendering import Page, form_page
from entrypoints.web.serving import browsers
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_browser
from entrypoints.web.serving.hosts import on_custom_hosts
from entrypoints.web.serving.routes import Routes

routes = Routes("home", "The pages for people.", refusal_page)

HOME: Final = "/app"


@routes.get(HOME)
@on_custom_hosts
@in_browser
async def show_home(call: Call) -> Page:
    """Show what a user can do in the browser."""
    is_custom_host = call.custom_host is not None
    if not is_custom_host:
        await browsers.require_open_page(call)
    return form_page(
        call,
        "frame/home.html",
        is_custom_host=is_custom_host,
        opens_platform=not is_custom_host and await call.read(console.is_open),
    )
