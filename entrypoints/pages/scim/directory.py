"""The page of the directory of an organization: the users that it provisions, its calls, and what was refused."""

from typing import Final

from core.organizations.access import Operation
from core.scim import directory
from core.scim.directory import ProvisionedMember
from entrypoints.pages.console.csv_files import CsvFile
from entrypoints.pages.console.frame import (
    ROWS_SHOWN,
    ConsoleListQuery,
    Program,
    console_page,
    opened,
)
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.console.person_records import people_tabs
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import console_pages
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

DIRECTORY: Final = "/app/organizations/:org_slug/people/directory"


PROVISIONED: Final = ConsoleList[ProvisionedMember](
    path=DIRECTORY,
    listed=directory.listed,
    file="directory",
    columns={
        "email": lambda one: one.email,
        "user_name": lambda one: one.user_name,
        "external_id": lambda one: one.external_id,
        "name": lambda one: one.name,
        "role": lambda one: one.role,
        "active": lambda one: one.is_active,
        "last_change": lambda one: one.updated_at,
    },
)


@routes.get(DIRECTORY)
@in_console(Operation.SCIM_LOG_READ)
async def show_directory(call: Call, org_slug: str, query: ConsoleListQuery) -> Page:
    """Show the users that the directory of an organization provisions, its tokens, and what was refused lately."""
    standing, shown = await opened(
        call,
        org_slug,
        Operation.SCIM_LOG_READ,
        directory.show,
        **query.filters,
        after=query.position,
        limit=ROWS_SHOWN,
    )
    return console_page(
        call,
        "scim/directory.html",
        standing,
        program=Program("provisioning_log_read_log", org_slug),
        **PROVISIONED.values(query, shown.members, org_slug),
        shown=shown,
        at=call.installation.clock(),
        tabs=people_tabs(standing),
        lacks_members=standing.lacks(Operation.MEMBERS_LIST),
    )


@routes.get(f"{DIRECTORY}/directory.csv")
@in_console(Operation.SCIM_LOG_READ)
async def download_directory(call: Call, org_slug: str, query: ConsoleListQuery) -> CsvFile:
    """Download the provisioned users that a search finds, at most 100,000, for a spreadsheet."""
    return await PROVISIONED.csv(call, org_slug, query=query)
