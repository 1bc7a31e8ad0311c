"""The page of the tiers: the limits that organizations have."""

from core.organizations import tiers
from entrypoints.pages.console_pages import PLATFORM, Program, console_page, opened_for_platform
from entrypoints.pages.declaring import platform_pages
from entrypoints.pages.rendering import Page
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import platform_support_in_console
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()


@routes.get(f"{PLATFORM}/tiers")
@platform_support_in_console
async def show_tiers(call: Call) -> Page:
    """Show the tiers and their limits, the smallest first."""
    standing, found = await opened_for_platform(call, tiers.list_all)
    return console_page(call, "platform_tiers.html", standing, program=Program(path="/api/platform/tiers"), tiers=found)
