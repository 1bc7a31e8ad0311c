"""The page of the directory of an organization: the users that it provisions, its calls, and what was refused."""

from collections.abc import Sequence
from typing import Any, Final

from core.organizations.access import Operation
from core.positions import Position
from core.scim import directory
from core.scim.directory import ProvisionedMember
from entrypoints.pages.console.csv_files import ROWS_AT_ONCE, CsvFile, listed_file
from entrypoints.pages.console.frame import (
    ROWS_SHOWN,
    ConsoleListQuery,
    Program,
    api,
    console_page,
    opened,
    page_of,
    with_query,
)
from entrypoints.pages.console.person_records import people_tabs
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import console_pages
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_console
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

DIRECTORY: Final = "/app/organizations/:org_slug/people/directory"
_COLUMNS: Final = ("email", "user_name", "external_id", "name", "role", "active", "last_change")


@routes.get(DIRECTORY)
@in_console(Operation.SCIM_LOG_READ)
async def show_directory(call: Call, org_slug: str, query: ConsoleListQuery) -> Page:
    """Show the users that the directory of an organization provisions, its tokens, and what was refused lately."""
    standing, shown = await opened(
        call,
        org_slug,
        Operation.SCIM_LOG_READ,
        directory.show,
        search=query.search,
        after=query.position,
        limit=ROWS_SHOWN,
    )
    page = f"{page_of(org_slug)}/people/directory"
    members = shown.members
    return console_page(
        call,
        "scim/directory.html",
        standing,
        program=Program(path=f"{api(org_slug)}/scim-log"),
        query=query,
        shown=shown,
        at=call.installation.clock(),
        tabs=people_tabs(standing),
        lacks_members=standing.lacks(Operation.MEMBERS_LIST),
        page=page,
        file=with_query(f"{page}/directory.csv", search=query.search),
        first=with_query(page, search=query.search) if query.after else "",
        next=with_query(page, search=query.search, after=members.next) if members.next is not None else "",
    )


@routes.get(f"{DIRECTORY}/directory.csv")
@in_console(Operation.SCIM_LOG_READ)
async def download_directory(call: Call, org_slug: str, query: ConsoleListQuery) -> CsvFile:
    """Download the provisioned users that a search finds, at most 100,000, for a spreadsheet."""

    async def read(after: Position | None) -> Sequence[ProvisionedMember]:
        return await call.read(directory.listed, org_slug, search=query.search, after=after, limit=ROWS_AT_ONCE)

    return await listed_file(f"{org_slug}-directory", _COLUMNS, read, _row, after=query.position)


def _row(one: ProvisionedMember) -> tuple[Any, ...]:
    return (one.email, one.user_name, one.external_id, one.name, one.role, one.is_active, one.updated_at)
