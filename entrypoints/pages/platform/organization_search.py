"""The page that finds anything in an organization: its sections, people, services and settings."""

from typing import Final

from core.organizations.access import Operation
from core.organizations.standing import Standing
from core.platform import organization_search
from core.platform.organization_search import OrganizationHit, OrganizationHitKind
from entrypoints.pages.console.actions import actions_of
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
from entrypoints.pages.console.frame import Program, console_page, opened, page_of, with_query
from entrypoints.pages.console.sections import sections_of
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

SEARCH: Final = "/app/organizations/:org_slug/search"
# The kinds in the order of the page, with the paths below which their pages are.
KINDS: Final = {
    OrganizationHitKind.MEMBER: (marked("Members"), "/people/"),
    OrganizationHitKind.END_USER: (marked("End users"), "/people/end-users/"),
    OrganizationHitKind.GROUP: (marked("Groups"), "/people/groups/"),
    OrganizationHitKind.SERVICE: (marked("Services"), "/services/"),
    OrganizationHitKind.CUSTOMER: (marked("Customers"), "/services/{within}/customers/"),
    OrganizationHitKind.PRODUCT: (marked("Products"), "/products/"),
    OrganizationHitKind.CONNECTION: (marked("Connections"), "/sign-in/connections/"),
    OrganizationHitKind.MAIL_DOMAIN: (marked("Mail domains"), "/sign-in/mail-domains/"),
    OrganizationHitKind.WEBHOOK: (marked("Webhooks"), "/webhooks/"),
    OrganizationHitKind.ROLE: (marked("Roles"), "/roles/"),
    OrganizationHitKind.KEY: (marked("API keys"), "/keys"),
    OrganizationHitKind.LOG_ENTRY: (marked("Audit log"), "/audit/"),
    OrganizationHitKind.ORGANIZATION: (marked("Your other organizations"), ""),
}


@routes.get(SEARCH)
@in_console(Operation.ORGANIZATION_READ)
async def find_in_organization(call: Call, org_slug: str, query: FindQuery) -> PageOrRedirect:
    """Find anything in an organization by its name or address, and lead to the only hit."""
    searched = query.searched
    standing, groups = await _found(call, org_slug, searched, rows_with=searched)
    only = only_page(groups)
    if only is not None:
        return see_other(only)
    asks_why = "@" in searched and standing.lacks(Operation.SIGN_INS_EXPLAIN) is None
    return console_page(
        call,
        "platform/organization_search.html",
        standing,
        program=Program("organizations_read_organization", org_slug),
        searched=searched,
        groups=groups,
        why=with_query(f"{page_of(org_slug)}/why", email=searched) if asks_why else "",
    )


@routes.get(f"{SEARCH}/options")
@in_console(Operation.ORGANIZATION_READ)
async def show_options_in_organization(call: Call, org_slug: str, query: FindQuery) -> Page:
    """Return what a text finds in an organization while it is typed, as the options of the palette."""
    _, groups = await _found(call, org_slug, query.searched, rows_with=query.typed, is_typing=True)
    return options_page(call, query, groups, f"{page_of(org_slug)}/search")


async def _found(
    call: Call, slug: str, text: str, *, rows_with: str, is_typing: bool = False
) -> tuple[Standing, list[Group]]:
    """Return the standing of the reader, and what a text finds, with the rows that have another one."""
    find = organization_search.find_while_typed if is_typing else organization_search.find
    standing, hits = await opened(call, slug, Operation.ORGANIZATION_READ, find, rows_with)
    pages = found_pages(call, text, root=page_of(slug), groups=sections_of(standing), actions=actions_of(standing))
    rows = [
        (title, [_shown(hit, slug, text) for hit in hits if hit.kind is kind]) for kind, (title, _) in KINDS.items()
    ]
    return standing, grouped(pages, rows, await found_documentation(call, text))


def _shown(hit: OrganizationHit, slug: str, text: str) -> FoundPage:
    if hit.kind is OrganizationHitKind.ORGANIZATION:
        return row_page(text, page_of(hit.at), hit.title, hit.about, hit.at, icon="organizations")
    path = KINDS[hit.kind][1].format(within=hit.within)
    return row_page(text, f"{page_of(slug)}{path}{hit.at}", hit.title, hit.about, hit.at, icon=path.split("/")[1])
