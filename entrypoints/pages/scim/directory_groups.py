"""The pages of the groups that the directory of an organization sends: the list, and who is in a group."""

from typing import Final
from uuid import UUID

from core.organizations.access import Operation
from core.scim import directory_groups
from core.scim.directory_groups import PersonInGroup
from core.scim.group_resources import Group
from core.scim.refusals import ResourceUnknown
from entrypoints.pages.console.csv_files import CsvFile
from entrypoints.pages.console.frame import (
    ROWS_SHOWN,
    ConsoleListQuery,
    PagedQuery,
    Program,
    console_page,
    opened,
    page_of,
    with_query,
)
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.console.person_records import people_tabs
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import console_pages
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

GROUPS: Final = "/app/organizations/:org_slug/people/groups"
GROUP: Final = f"{GROUPS}/:group_id"

FOUND: Final = ConsoleList[Group](
    path=GROUPS,
    found=directory_groups.found,
    file="groups",
    columns={
        "id": lambda one: one.id,
        "name": lambda one: one.display_name,
        "external_id": lambda one: one.external_id,
        "members": lambda one: one.member_count,
        "created_at": lambda one: one.created_at,
        "last_change": lambda one: one.updated_at,
    },
)
MEMBERS: Final = ConsoleList[PersonInGroup](
    path=GROUP,
    listed=directory_groups.listed_members,
    file="members",
    name="group",
    columns={
        "email": lambda one: one.email,
        "name": lambda one: one.name,
        "role": lambda one: one.role,
        "suspended": lambda one: one.is_suspended,
    },
)


@routes.get(GROUPS)
@in_console(Operation.GROUPS_READ)
async def show_groups(call: Call, org_slug: str, query: ConsoleListQuery) -> Page:
    """Show the groups of the directory, by a part of their name."""
    standing, found = await FOUND.opened(call, Operation.GROUPS_READ, org_slug, query=query)
    return console_page(
        call,
        "scim/directory_groups.html",
        standing,
        program=Program("groups_list_directory_groups", org_slug),
        **FOUND.values(query, found, org_slug),
        tabs=people_tabs(standing),
        lacks_tokens=standing.lacks(Operation.SCIM_TOKENS_READ),
    )


@routes.get(f"{GROUPS}/groups.csv")
@in_console(Operation.GROUPS_READ)
async def download_groups(call: Call, org_slug: str, query: ConsoleListQuery) -> CsvFile:
    """Download the groups that a search finds, for a spreadsheet."""
    return await FOUND.csv(call, org_slug, query=query)


@routes.get(GROUP, refuses=(ResourceUnknown,))
@in_console(Operation.GROUPS_READ)
async def show_group(call: Call, org_slug: str, group_id: UUID, query: PagedQuery) -> Page:
    """Show a group of the directory with its members."""
    standing, (group, found) = await opened(
        call,
        org_slug,
        Operation.GROUPS_READ,
        directory_groups.show_to_members,
        group_id,
        after=query.position,
        limit=ROWS_SHOWN,
    )
    groups = f"{page_of(org_slug)}/people/groups"
    return console_page(
        call,
        "scim/directory_groups_one.html",
        standing,
        program=Program("groups_list_group_members", org_slug, group_id),
        **MEMBERS.values(query, found, org_slug, group_id),
        group=group,
        groups=groups,
        rule=with_query(f"{groups}/rules", group=str(group.id)) + "#new",
    )


@routes.get(f"{GROUP}/members.csv", refuses=(ResourceUnknown,))
@in_console(Operation.GROUPS_READ)
async def download_group_members(call: Call, org_slug: str, group_id: UUID, query: PagedQuery) -> CsvFile:
    """Download the members of a group, at most 100,000, for a spreadsheet."""
    return await MEMBERS.csv(call, org_slug, group_id, query=query)
