"""The page that finds anything in an organization: its sections, people, services and settings."""

from typing import Final

from core.organizations.access import Operation
from core.platform import organization_search
from core.platform.organization_search import OrganizationHit, OrganizationHitKind
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
from entrypoints.pages.console.frame import Program, console_page, opened, page_of, with_query
from entrypoints.pages.console.sections import sections_of
from entrypoints.pages.frame.languages import language_of, marked
from entrypoints.pages.frame.rendering import PageOrRedirect
from entrypoints.pages.frame.routes import console_pages
from entrypoints.web.serving.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_console
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

# The kinds in the order of the page, with the paths below which their pages are.
KINDS: Final = {
    OrganizationHitKind.MEMBER: (marked("Members"), "/people/"),
    OrganizationHitKind.END_USER: (marked("End users"), "/people/end-users/"),
    OrganizationHitKind.GROUP: (marked("Groups"), "/people/groups/"),
    OrganizationHitKind.SERVICE: (marked("Services"), "/services/"),
    OrganizationHitKind.PRODUCT: (marked("Products"), "/products/"),
    OrganizationHitKind.CONNECTION: (marked("Connections"), "/sign-in/connections/"),
    OrganizationHitKind.MAIL_DOMAIN: (marked("Mail domains"), "/sign-in/mail-domains/"),
    OrganizationHitKind.WEBHOOK: (marked("Webhooks"), "/webhooks/"),
    OrganizationHitKind.ROLE: (marked("Roles"), "/roles/"),
    OrganizationHitKind.KEY: (marked("API keys"), "/keys"),
    OrganizationHitKind.ORGANIZATION: (marked("Your other organizations"), ""),
}


@routes.get("/app/organizations/:org_slug/search")
@in_console(Operation.ORGANIZATION_READ)
async def find_in_organization(call: Call, org_slug: str, query: FindQuery) -> PageOrRedirect:
    """Find anything in an organization by its name or address, and lead to the only hit."""
    searched = query.q.strip()
    standing, hits = await opened(call, org_slug, Operation.ORGANIZATION_READ, organization_search.find, searched)
    sections = found_sections(language_of(call), page_of(org_slug), sections_of(standing), searched)
    by_kind = [
        (title, [_shown(hit, org_slug, searched) for hit in hits if hit.kind is kind])
        for kind, (title, _) in KINDS.items()
    ]
    only = only_page([*sections, *(page for _, pages in by_kind for page in pages)])
    if only is not None:
        return see_other(only)
    asks_why = "@" in searched and standing.lacks(Operation.SIGN_INS_EXPLAIN) is None
    groups = [
        (SECTIONS, sections),
        *by_kind,
        (DOCUMENTATION, found_calls(call, searched)),
        (MANUAL, await found_of_manual(searched)),
    ]
    return console_page(
        call,
        "platform/organization_search.html",
        standing,
        program=Program("organizations_read_organization", org_slug),
        searched=searched,
        groups=[(title, pages) for title, pages in groups if pages],
        why=with_query(f"{page_of(org_slug)}/why", email=searched) if asks_why else "",
    )


def _shown(hit: OrganizationHit, slug: str, searched: str) -> FoundPage:
    is_exact = is_name(searched, hit.title, hit.at)
    if hit.kind is OrganizationHitKind.ORGANIZATION:
        return FoundPage(address=page_of(hit.at), title=hit.title, about=hit.about, is_exact=is_exact)
    address = f"{page_of(slug)}{KINDS[hit.kind][1]}{hit.at}"
    return FoundPage(address=address, title=hit.title, about=hit.about, is_exact=is_exact)
