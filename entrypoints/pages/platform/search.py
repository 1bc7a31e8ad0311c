"""The page that finds anything on the platform: it leads to the one hit, and lists several by their kinds."""

from collections.abc import Sequence
from typing import Final

from core.email_addresses import is_found_at_beginning
from core.platform import search
from core.platform.console import PlatformStanding
from core.platform.search import HitKind, SearchHit
from entrypoints.pages.console.actions import actions_of_platform
from entrypoints.pages.console.found_pages import (
    FindQuery,
    FoundPage,
    Group,
    found_documentation,
    found_pages,
    grouped,
    only_page,
    options_page,
    row_page,
)
from entrypoints.pages.console.frame import (
    PLATFORM,
    PLATFORM_ORGANIZATIONS,
    Program,
    console_page,
    opened_for_platform,
    with_query,
)
from entrypoints.pages.console.sections import sections_of_platform
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import platform_pages
from entrypoints.web.serving.admission.credentials import platform_support_in_console
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()

SEARCH: Final = f"{PLATFORM}/search"
KINDS: Final = {
    HitKind.USER: marked("Users"),
    HitKind.SESSION: marked("Sessions"),
    HitKind.SIGN_IN: marked("Sign-ins"),
    HitKind.ORGANIZATION: marked("Organizations"),
    HitKind.DOMAIN: marked("Domains"),
    HitKind.SERVICE: marked("Services"),
    HitKind.LOG_OF_REQUEST: marked("Audit log"),
    HitKind.LOG_OF_ADDRESS: marked("Audit log"),
    HitKind.LOG_ENTRY: marked("Audit log"),
}


@routes.get(SEARCH)
@platform_support_in_console
async def find_anything(call: Call, query: FindQuery) -> PageOrRedirect:
    """Find anything by its address, name or id, and lead to the only hit."""
    searched = query.searched
    standing, hits = await opened_for_platform(call, search.find, searched)
    groups = await _found(call, standing, searched, hits)
    only = only_page(groups)
    if only is not None:
        return see_other(only)
    return console_page(
        call,
        "platform/search.html",
        standing,
        program=Program("platform_users_search", query={"email": searched}),
        searched=searched,
        is_short=is_found_at_beginning(searched),
        is_request=search.is_request_id(searched),
        groups=groups,
        why=with_query(f"{PLATFORM}/why", email=searched) if "@" in searched else "",
    )


@routes.get(f"{SEARCH}/options")
@platform_support_in_console
async def show_options(call: Call, query: FindQuery) -> Page:
    """Return what a text finds on the platform while it is typed, as the options of the palette; to owners rows too."""
    standing, hits = await opened_for_platform(call, search.find_while_typed, query.typed)
    return options_page(call, query, await _found(call, standing, query.searched, hits), SEARCH)


async def _found(call: Call, standing: PlatformStanding, text: str, hits: Sequence[SearchHit]) -> list[Group]:
    pages = found_pages(
        call,
        text,
        root=PLATFORM,
        groups=sections_of_platform(standing),
        actions=actions_of_platform(standing),
    )
    rows = [(KINDS[kind], [_shown(hit, text) for hit in hits if hit.kind is kind]) for kind in KINDS]
    return grouped(pages, rows, await found_documentation(call, text))


def _shown(hit: SearchHit, text: str) -> FoundPage:
    address = address_of(hit)
    icon = address.removeprefix(f"{PLATFORM}/").partition("/")[0].partition("?")[0]
    return row_page(text, address, hit.title, hit.about, hit.about, icon=icon)


def address_of(hit: SearchHit) -> str:
    """Return the page to which a hit leads."""
    match hit.kind:
        case HitKind.USER | HitKind.SESSION | HitKind.SIGN_IN:
            return f"{PLATFORM}/users/{hit.id}"
        case HitKind.ORGANIZATION | HitKind.DOMAIN | HitKind.SERVICE:
            return f"{PLATFORM_ORGANIZATIONS}/{hit.id}"
        case HitKind.LOG_OF_REQUEST:
            return with_query(f"{PLATFORM}/audit", request=hit.title)
        case HitKind.LOG_OF_ADDRESS:
            return with_query(f"{PLATFORM}/audit", address=hit.title)
        case HitKind.LOG_ENTRY:
            return f"{PLATFORM}/audit/{hit.id}"
