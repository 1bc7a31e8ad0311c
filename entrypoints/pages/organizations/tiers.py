"""The page of the tiers: the limits that organizations have."""

from core.organizations import tiers
from entrypoints.pages.console.frame import (
    PLATFORM,
    PLATFORM_ORGANIZATIONS,
    Program,
    console_page,
    opened_for_platform,
    with_query,
)
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import platform_pages
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import platform_support_in_console
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()


@routes.get(f"{PLATFORM}/tiers")
@platform_support_in_console
async def show_tiers(call: Call) -> Page:
    """Show the tiers, their limits and how many organizations have each, the smallest first."""
    standing, found = await opened_for_platform(call, tiers.list_counted)
    return console_page(
        call,
        "organizations/tiers.html",
        standing,
        program=Program("platform_organizations_list_tiers"),
        tiers=[(one.tier, one.organizations, with_query(PLATFORM_ORGANIZATIONS, tier=one.tier.id)) for one in found],
    )
