"""The page of the members of one organization, for platform owners and support, and its file."""

from typing import Final
from uuid import UUID

from core.limits import SIGN_INS_KEPT_FOR
from core.organizations.found_members import ListedMember
from core.platform import members
from core.platform.organizations import OrganizationUnknown
from entrypoints.pages.console.csv_files import CsvFile
from entrypoints.pages.console.frame import (
    PLATFORM_ORGANIZATIONS,
    ROWS_SHOWN,
    ConsoleListQuery,
    Program,
    console_page,
    opened_for_platform,
)
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import platform_pages
from entrypoints.pages.platform.organizations import organization_tabs
from entrypoints.web.serving.admission.credentials import platform_owner_in_console, platform_support_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()

MEMBERS: Final = f"{PLATFORM_ORGANIZATIONS}/:organization_id/members"
FOUND: Final = ConsoleList[ListedMember](
    path=MEMBERS,
    listed=members.listed,
    file="members",
    columns={
        "email": lambda one: one.email,
        "name": lambda one: one.name,
        "role": lambda one: one.role,
        "member_since": lambda one: one.created_at,
        "confirmed": lambda one: one.is_confirmed,
        "suspended": lambda one: one.is_suspended,
        "second_factor": lambda one: one.has_second_factor,
        "last_sign_in": lambda one: one.last_sign_in_at,
        "id": lambda one: one.user_id,
    },
)


@routes.get(MEMBERS, refuses=(OrganizationUnknown,))
@platform_support_in_console
async def show_organization_members(call: Call, organization_id: UUID, query: ConsoleListQuery) -> Page:
    """Show the members of an organization, by a part of their address; what support searches for is recorded."""
    standing, found = await opened_for_platform(
        call, members.search, organization_id, **query.filters, after=query.position, limit=ROWS_SHOWN
    )
    return console_page(
        call,
        "platform/members.html",
        standing,
        program=Program("platform_organizations_list_organization_members", organization_id, query=query.kept),
        organization=found.organization,
        **FOUND.values(query, found.members, organization_id),
        tabs=organization_tabs(organization_id),
        kept_since=call.installation.clock() - SIGN_INS_KEPT_FOR,
    )


@routes.get(f"{MEMBERS}/members.csv", refuses=(OrganizationUnknown,))
@platform_owner_in_console
async def download_organization_members(call: Call, organization_id: UUID, query: ConsoleListQuery) -> CsvFile:
    """Download the members that a search finds, at most 100,000, for a spreadsheet; for platform owners."""
    return await FOUND.csv(call, organization_id, query=query)
