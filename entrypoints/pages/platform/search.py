"""The page that finds anything on the platform: it leads to the one hit, and lists several by their kinds."""

from typing import Final

from core.email_addresses import is_found_at_beginning
from core.platform import search
from core.platform.search import HitKind, SearchHit
from entrypoints.pages.console.found_pages import (
    DOCUMENTATION,
    MANUAL,
    SECTIONS,
    FindQuery,
    FoundPage,
    found_calls,
    found_of_manual,
    found_sections,
    is_name,
    only_page,
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
from entrypoints.pages.frame.languages import language_of, marked
from entrypoints.pages.frame.rendering import PageOrRedirect
from entrypoints.pages.frame.routes import platform_pages
from entrypoints.web.serving.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import platform_support_in_console
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()

KINDS: Final = {
    HitKind.USER: marked("Users"),
    HitKind.SESSION: marked("Sessions"),
    HitKind.SIGN_IN: marked("Sign-ins"),
    HitKind.ORGANIZATION: marked("Organizations"),
    HitKind.DOMAIN: marked("Domains"),
    HitKind.SERVICE: marked("Services"),
    HitKind.LOG_OF_REQUEST: marked("Audit log"),
    HitKind.LOG_OF_ADDRESS: marked("Audit log"),
}


@routes.get(f"{PLATFORM}/search")
@platform_support_in_console
async def find_anything(call: Call, query: FindQuery) -> PageOrRedirect:
    """Find anything by its address, name or id, and lead to the only hit."""
    standing, hits = await opened_for_platform(call, search.find, query.q)
    searched = query.q.strip()
    sections = found_sections(language_of(call), PLATFORM, sections_of_platform(standing), searched)
    by_kind = [(KINDS[kind], [_shown(hit, searched) for hit in hits if hit.kind is kind]) for kind in KINDS]
    only = only_page([*sections, *(page for _, pages in by_kind for page in pages)])
    if only is not None:
        return see_other(only)
    groups = [
        (SECTIONS, sections),
        *by_kind,
        (DOCUMENTATION, found_calls(call, searched)),
        (MANUAL, await found_of_manual(searched)),
    ]
    return console_page(
        call,
        "platform/search.html",
        standing,
        program=Program("platform_users_search", query={"email": searched}),
        searched=searched,
        is_short=is_found_at_beginning(searched),
        is_request=search.is_request_id(searched),
        groups=[(title, pages) for title, pages in groups if pages],
        why=with_query(f"{PLATFORM}/why", email=searched) if "@" in searched else "",
    )


def _shown(hit: SearchHit, searched: str) -> FoundPage:
    return FoundPage(
        address=address_of(hit), title=hit.title, about=hit.about, is_exact=is_name(searched, hit.title, hit.about)
    )


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
