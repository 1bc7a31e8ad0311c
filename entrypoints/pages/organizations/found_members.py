"""The pages of the members of an organization: finding them, changing a role, removing, and the list as a file."""

from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.audit import person_records
from core.errors import BadRequest, Forbidden, Refusal
from core.limits import SIGN_INS_KEPT_FOR
from core.organizations import found_members, members, roles
from core.organizations.access import Capability, Operation
from core.organizations.found_members import ListedMember, MemberSource
from core.organizations.members import AssignedRoleUnknown, MemberChanged, MemberUnknown, RoleOfRule
from core.organizations.organizations import MEMBER as MEMBER_ROLE
from core.organizations.organizations import OWNER
from entrypoints.pages.console.csv_files import CsvFile
from entrypoints.pages.console.frame import (
    ConsoleListQuery,
    Program,
    after,
    console_page,
    opened,
    page_of,
    with_query,
)
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.console.person_records import people_tabs, record_values
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

PEOPLE: Final = "/app/organizations/:org_slug/people"
MEMBER: Final = f"{PEOPLE}/:user_id"
# How members came, in the words of the page.
SOURCES: Final = {
    MemberSource.FOUNDER: marked("Created the organization"),
    MemberSource.DIRECTORY: marked("By your directory"),
    MemberSource.CONNECTION: marked("By your identity provider"),
    MemberSource.INVITATION: marked("By invitation"),
}


class PeopleQuery(ConsoleListQuery, kw_only=True):
    """Which members to show."""

    role: Annotated[str, msgspec.Meta(description="Only members with this role, by its slug.", max_length=50)] = ""


FOUND: Final = ConsoleList[ListedMember](
    path=PEOPLE,
    found=found_members.found,
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
        "source": lambda one: one.source.value,
        "role_source": lambda one: one.role_source,
        "role_group": lambda one: one.role_group,
    },
)


class RoleForm(ProtectedForm, kw_only=True):
    """The new role of a member, and the one that the page has shown."""

    role: str = ""
    seen_role: str = ""


class RemovalForm(ProtectedForm, kw_only=True):
    """The role that the page has shown of the member to remove, and what the audit log is to keep about it."""

    seen_role: str = ""
    note: str = ""


@routes.get(PEOPLE)
@in_console(Operation.MEMBERS_LIST)
async def show_people(call: Call, org_slug: str, query: PeopleQuery) -> Page:
    """Show the members of an organization, by a part of their address and by role."""
    standing, found = await FOUND.opened(call, Operation.MEMBERS_LIST, org_slug, query=query)
    page = FOUND.page(org_slug)
    return console_page(
        call,
        "organizations/found_members.html",
        standing,
        program=Program("members_list_members", org_slug, query={"role": query.role}),
        done=query.done,
        **FOUND.values(query, found, org_slug),
        roles=[("", marked("Every role")), *await _roles(call, org_slug)],
        sources=SOURCES,
        kept_since=call.installation.clock() - SIGN_INS_KEPT_FOR,
        tabs=people_tabs(standing),
        lacks_change=standing.lacks(Operation.MEMBER_CHANGE),
        lacks_removal=standing.lacks(Operation.MEMBER_REMOVE),
        lacks_invitation=standing.lacks(Operation.INVITATIONS_CHANGE),
        change_found=with_query(f"{page}/selected/change", found="yes", **query.kept),
        remove_found=with_query(f"{page}/selected/remove", found="yes", **query.kept),
    )


@routes.get(f"{PEOPLE}/members.csv")
@in_console(Operation.MEMBERS_LIST)
async def download_members(call: Call, org_slug: str, query: PeopleQuery) -> CsvFile:
    """Download the members that a search finds, at most 100,000, for a spreadsheet."""
    return await FOUND.csv(call, org_slug, query=query)


@routes.get(MEMBER, refuses=(MemberUnknown,))
@in_console(Operation.MEMBERS_LIST)
async def show_member(
    call: Call,
    org_slug: str,
    user_id: UUID,
    *,
    query: DoneQuery | None = None,
    form: RoleForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show a member of an organization."""
    standing, (member, record) = await opened(
        call, org_slug, Operation.MEMBERS_LIST, person_records.show_member, user_id
    )
    return console_page(
        call,
        "organizations/found_members_one.html",
        standing,
        program=Program("members_change_member", org_slug, user_id, body={"role": form.role if form else member.role}),
        done=query.done if query is not None else "",
        refusal=refusal,
        member=member,
        page=f"{page_of(org_slug)}/people/{user_id}",
        # What was chosen stays chosen, also when another person has changed the role meanwhile.
        chosen=form.role if form is not None else member.role,
        roles=[role for role in await _roles(call, org_slug) if role[0] != OWNER],
        sources=SOURCES,
        kept_since=call.installation.clock() - SIGN_INS_KEPT_FOR,
        lacks_change=standing.lacks(Operation.MEMBER_CHANGE),
        lacks_removal=standing.lacks(Operation.MEMBER_REMOVE),
        is_self=member.user_id == standing.user_id,
        **record_values(standing, record, user_id, member.email),
    )


@routes.post(MEMBER, refuses=(MemberUnknown, MemberChanged, RoleOfRule, AssignedRoleUnknown))
@in_console(Operation.MEMBER_CHANGE)
@shows_again(show_member, BadRequest, MemberChanged, RoleOfRule)
async def change_role(call: Call, org_slug: str, user_id: UUID, form: RoleForm) -> PageOrRedirect:
    """Change the role of a member; programs use `PATCH /api/organizations/:slug/members/:user_id`."""
    await call.transact(members.change_role, org_slug, user_id, form.role, seen_role=form.seen_role)
    return after(f"{page_of(org_slug)}/people/{user_id}", "role-changed")


@routes.get(f"{MEMBER}/remove", refuses=(MemberUnknown,))
@in_console(Operation.MEMBER_REMOVE)
async def ask_to_remove(
    call: Call, org_slug: str, user_id: UUID, *, form: RemovalForm | None = None, refusal: Refusal | None = None
) -> Page:
    """Show what ends when a member is removed, in numbers."""
    standing, (member, departure) = await opened(
        call, org_slug, Operation.MEMBER_REMOVE, found_members.show_departure, user_id
    )
    return console_page(
        call,
        "organizations/found_members_removal.html",
        standing,
        program=Program("members_remove_member", org_slug, user_id),
        refusal=refusal,
        member=member,
        departure=departure,
        # What the page shows now is what the next form has seen.
        seen_role=member.role,
        note=form.note if form is not None else "",
        page=f"{page_of(org_slug)}/people/{user_id}",
    )


@routes.post(f"{MEMBER}/remove", refuses=(MemberUnknown, MemberChanged, BadRequest))
@in_console(Operation.MEMBER_REMOVE)
@shows_again(ask_to_remove, BadRequest, MemberChanged, Forbidden)
async def remove_member(call: Call, org_slug: str, user_id: UUID, form: RemovalForm) -> PageOrRedirect:
    """Remove a member, and offer to add them again; programs use `POST /api/organizations/:slug/members/:user_id`."""
    removed = await call.transact(members.remove, org_slug, user_id, seen_role=form.seen_role, note=form.note)
    standing, offered = await opened(call, org_slug, Operation.MEMBERS_LIST, roles.list_all)
    lacks_roles = standing.lacks_lasting(Operation.INVITATIONS_CHANGE)
    # As on the page of invitations: a role above member needs another capability.
    may_give = Capability.ORG_ROLES_MANAGE in standing.capabilities and lacks_roles is None
    role = removed.membership.role if may_give and any(one.slug == removed.membership.role for one in offered) else ""
    return console_page(
        call,
        "organizations/found_members_removed.html",
        standing,
        program=Program("members_list_members", org_slug),
        done="removed",
        email=removed.email,
        role=role or MEMBER_ROLE,
        had_role=removed.membership.role,
        lacks_invitation=standing.lacks(Operation.INVITATIONS_CHANGE),
        page=f"{page_of(org_slug)}/people",
    )


async def _roles(call: Call, slug: str) -> list[tuple[str, str]]:
    """Return the roles of an organization, as the pairs of a choice."""
    return [(role.slug, role.slug) for role in await call.read(roles.list_all, slug)]
