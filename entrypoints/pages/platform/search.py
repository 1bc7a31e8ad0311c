"""The page that finds anything on the platform: it leads to the one hit, and lists several by their kinds."""

from typing import Annotated, Final

import msgspec

from core.platform import search
from core.platform.search import HitKind, SearchHit
from entrypoints.pages.console.frame import (
    PLATFORM,
    PLATFORM_ORGANIZATIONS,
    Program,
    console_page,
    opened_for_platform,
    with_query,
)
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import PageOrRedirect
from entrypoints.pages.frame.routes import platform_pages
from entrypoints.web.input.decoding import Query
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


class FindQuery(Query, kw_only=True):
    """What to find."""

    q: Annotated[str, msgspec.Meta(description="An address, a name or an id.", max_length=254)] = ""


@routes.get(f"{PLATFORM}/search")
@platform_support_in_console
async def find_anything(call: Call, query: FindQuery) -> PageOrRedirect:
    """Find anything by its address, name or id, and lead to the only hit."""
    standing, hits = await opened_for_platform(call, search.find, query.q)
    if len(hits) == 1:
        return see_other(address_of(hits[0]))
    searched = query.q.strip()
    return console_page(
        call,
        "platform/search.html",
        standing,
        program=Program("platform_users_search", query={"email": searched}),
        searched=searched,
        is_request=search.is_request_id(searched),
        groups=[
            (KINDS[kind], [(hit, address_of(hit)) for hit in hits if hit.kind is kind])
            for kind in KINDS
            if any(hit.kind is kind for hit in hits)
        ],
        why=with_query(f"{PLATFORM}/why", email=searched) if "@" in searched else "",
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
