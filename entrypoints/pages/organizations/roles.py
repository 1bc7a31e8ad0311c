"""The pages of the roles of an organization: what each allows, a new one from a copy, changing one, and deleting it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Annotated, Final

import msgspec

from core.errors import BadRequest, Forbidden, Refusal
from core.organizations import roles
from core.organizations.access import Capability, Operation, implied_by
from core.organizations.authorization import authorize
from core.organizations.roles import (
    Role,
    RoleBuiltIn,
    RoleChanged,
    RoleChanges,
    RoleInUse,
    RoleTaken,
    RoleUnknown,
    TooManyRoles,
    seen_state_of,
)
from core.organizations.standing import Standing
from core.text import SLUG_CHARACTERS_MAX, slug_of_name
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of, with_query
from entrypoints.pages.console.lists import ways
from entrypoints.pages.console.sections import sections_of
from entrypoints.pages.frame.forms import DoneQuery, SeenStateForm
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

# The name of each capability, and what it allows.
CAPABILITIES: Final = {
    Capability.ORG_SETTINGS_MANAGE: (
        marked("Change the settings"),
        marked("The name, the rules of signing in, the branding and the own domain."),
    ),
    Capability.ORG_MEMBERS_VIEW: (
        marked("See the members"),
        marked("Who belongs to the organization, their roles and their last sign-ins."),
    ),
    Capability.ORG_MEMBERS_MANAGE: (
        marked("Manage the members"),
        marked("Invite people, and remove members whose role allows no more."),
    ),
    Capability.ORG_ROLES_MANAGE: (
        marked("Manage the roles"),
        marked("Define roles like this one, and invite people with any role."),
    ),
    Capability.BILLING_MANAGE: (
        marked("Manage the billing"),
        marked("The tier of the organization and its payments."),
    ),
    Capability.SERVICES_VIEW: (marked("See the services"), marked("Their settings, plans and subscriptions.")),
    Capability.SERVICES_CREATE: (marked("Create services"), marked("Add applications that users sign in to.")),
    Capability.SERVICES_MANAGE: (
        marked("Manage the services"),
        marked("Their settings, secrets, keys, plans, SAML and who looks after them."),
    ),
    Capability.END_USERS_VIEW: (
        marked("See the end users"),
        marked("Who signs in to the services, with their sessions and sign-ins."),
    ),
    Capability.END_USERS_MANAGE: (
        marked("Help the end users"),
        marked("End their sessions, and find out why they cannot sign in."),
    ),
    Capability.WEBHOOKS_MANAGE: (
        marked("Manage the webhooks"),
        marked("Where events are sent, their deliveries and the feed of events."),
    ),
    Capability.INTEGRATIONS_MANAGE: (
        marked("Manage the integrations"),
        marked("Identity providers, mail domains, directories, the SIEM, the mail server and setup links."),
    ),
    Capability.AUDIT_LOGS_VIEW: (marked("Read the audit log"), marked("Who changed what, and from where.")),
    Capability.ANALYTICS_VIEW: (marked("See the analytics"), marked("How many people sign in, and how.")),
    Capability.PRODUCTS_MANAGE: (
        marked("Manage the products"),
        marked("Which services of other organizations are used, who uses them, and with which roles."),
    ),
}


def capability_boxes(held: Collection[Capability]) -> list[tuple[str, str, str, Capability | None]]:
    """Return the capabilities as boxes to tick: value, text, meaning, and itself where the reader does not hold it."""
    return [(one.value, text, about, None if one in held else one) for one, (text, about) in CAPABILITIES.items()]


def chosen_capabilities(words: Sequence[str]) -> list[Capability]:
    """Return the capabilities of a form; raise `BadRequest` for a word that the page does not offer."""
    known = {one.value: one for one in Capability}
    if not set(words) <= known.keys():
        raise BadRequest.of_field("permissions", "Choose among these permissions.")
    return [known[word] for word in words]


routes: Routes = console_pages()
ROLES: Final = "/app/organizations/:org_slug/roles"
ROLE: Final = f"{ROLES}/:role_slug"
# How many custom roles the matrix shows at once, beside the built-in ones.
CUSTOM_ROLES_SHOWN: Final = 10


class RolesQuery(DoneQuery, kw_only=True):
    """From which role on the list is shown, and the role that a new one copies."""

    after: Annotated[
        str, msgspec.Meta(description="The slug after which the list goes on.", max_length=SLUG_CHARACTERS_MAX)
    ] = ""
    copy: Annotated[str, msgspec.Meta(description="The role to copy, by slug.", max_length=SLUG_CHARACTERS_MAX)] = ""


class NewRoleForm(ProtectedForm, kw_only=True):
    """A new role, and the one that it copies."""

    slug: str = ""
    name: str = ""
    description: str = ""
    permissions: Annotated[list[str], msgspec.Meta(description="The capabilities of the role.")] = msgspec.field(
        default_factory=list[str]
    )
    scopes: str = ""


class ChangedRoleForm(ProtectedForm, kw_only=True):
    """The new state of a role, and the state that the page has shown."""

    name: str = ""
    description: str = ""
    permissions: Annotated[list[str], msgspec.Meta(description="The capabilities of the role.")] = msgspec.field(
        default_factory=list[str]
    )
    scopes: str = ""
    seen_state: str = ""


@routes.get(ROLES, refuses=(RoleUnknown,))
@in_console(Operation.ROLES_READ)
async def show_roles(
    call: Call,
    org_slug: str,
    *,
    query: RolesQuery | None = None,
    form: NewRoleForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show which role allows what, how many members have it, and the form of a new one."""
    query = query or RolesQuery()
    standing, found = await opened(
        call, org_slug, Operation.ROLES_READ, roles.search, after=query.after, limit=CUSTOM_ROLES_SHOWN
    )
    copied = await call.read(roles.show, org_slug, query.copy) if query.copy else None
    form = form or _copy_of(copied, standing)
    page = f"{page_of(org_slug)}/roles"
    return console_page(
        call,
        "organizations/roles.html",
        standing,
        program=Program(
            "roles_create_role",
            org_slug,
            body={"slug": form.slug or "helpdesk", "name": form.name or "Helpdesk", "permissions": form.permissions},
        ),
        done=query.done,
        refusal=refusal,
        found=found,
        words=CAPABILITIES,
        form=form,
        copied=copied,
        problems=problems_of(refusal),
        boxes=capability_boxes(standing.capabilities),
        lacks_change=standing.lacks(Operation.ROLES_CHANGE),
        lacks_creation=standing.lacks_lasting(Operation.ROLES_CHANGE),
        lacks_people=standing.lacks(Operation.MEMBERS_LIST),
        page=page,
        people=f"{page_of(org_slug)}/people",
        **ways(page, {}, after=query.after, following=found.next),
    )


@routes.post(ROLES, refuses=(BadRequest, Forbidden, RoleTaken, TooManyRoles))
@in_console(Operation.ROLES_CHANGE)
@shows_again(show_roles, BadRequest, RoleTaken)
async def add_role(call: Call, org_slug: str, form: NewRoleForm) -> PageOrRedirect:
    """Create a role; programs use `POST /api/organizations/:slug/roles`."""
    await call.read(authorize, org_slug, Operation.ROLES_CHANGE)
    role = await call.transact(
        roles.create,
        org_slug,
        role_slug=form.slug.strip() or slug_of_name(form.name),
        name=form.name,
        description=form.description,
        permissions=chosen_capabilities(form.permissions),
        scopes=form.scopes.split(),
    )
    return after(f"{page_of(org_slug)}/roles/{role.slug}", "role-created")


@routes.get(ROLE, refuses=(RoleUnknown,))
@in_console(Operation.ROLES_READ)
async def show_role_page(
    call: Call,
    org_slug: str,
    role_slug: str,
    *,
    query: DoneQuery | None = None,
    form: ChangedRoleForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show what a role allows, who has it, and what a member with it sees of the console."""
    standing, held = await opened(call, org_slug, Operation.ROLES_READ, roles.show_held, role_slug)
    role = held.role
    page = f"{page_of(org_slug)}/roles"
    typed = form or ChangedRoleForm(
        name=role.name,
        description=role.description,
        permissions=_words(role.permissions),
        scopes=" ".join(role.scopes),
    )
    # What a member with this role would see in the navigation.
    preview = replace(standing, role=role.slug, capabilities=implied_by(role.permissions))
    return console_page(
        call,
        "organizations/roles_one.html",
        standing,
        program=Program("roles_show_role", org_slug, role_slug)
        if role.is_built_in
        else Program(
            "roles_change_role", org_slug, role_slug, body={"name": typed.name, "permissions": typed.permissions}
        ),
        done=query.done if query is not None else "",
        refusal=refusal,
        held=held,
        role=role,
        words=CAPABILITIES,
        form=typed,
        problems=problems_of(refusal),
        boxes=capability_boxes(standing.capabilities),
        # What the page shows now is what the next form has seen.
        seen_state=seen_state_of(role),
        preview=sections_of(preview),
        lacks_change=standing.lacks(Operation.ROLES_CHANGE),
        lacks_creation=standing.lacks_lasting(Operation.ROLES_CHANGE),
        lacks_people=standing.lacks(Operation.MEMBERS_LIST),
        page=f"{page}/{role_slug}",
        back=page,
        copy=with_query(page, copy=role_slug) + "#new",
        people=with_query(f"{page_of(org_slug)}/people", role=role_slug),
    )


@routes.post(ROLE, refuses=(RoleUnknown, RoleBuiltIn, RoleChanged, BadRequest, Forbidden))
@in_console(Operation.ROLES_CHANGE)
@shows_again(show_role_page, BadRequest, RoleChanged)
async def save_role(call: Call, org_slug: str, role_slug: str, form: ChangedRoleForm) -> PageOrRedirect:
    """Change a role; programs use `PATCH /api/organizations/:slug/roles/:role_slug`."""
    await call.read(authorize, org_slug, Operation.ROLES_CHANGE)
    await call.transact(
        roles.change,
        org_slug,
        role_slug,
        RoleChanges(
            name=form.name,
            description=form.description,
            permissions=chosen_capabilities(form.permissions),
            scopes=form.scopes.split(),
        ),
        seen_state=form.seen_state,
    )
    return after(f"{page_of(org_slug)}/roles/{role_slug}", "role-saved")


@routes.get(f"{ROLE}/delete", refuses=(RoleUnknown, RoleBuiltIn))
@in_console(Operation.ROLES_CHANGE)
async def ask_to_delete_role(call: Call, org_slug: str, role_slug: str, *, refusal: Refusal | None = None) -> Page:
    """Show who has a role, in numbers, and ask whether it is to be deleted."""
    standing, (role, holders) = await opened(call, org_slug, Operation.ROLES_CHANGE, roles.show_deletion, role_slug)
    return console_page(
        call,
        "organizations/roles_deletion.html",
        standing,
        program=Program("roles_delete_role", org_slug, role_slug),
        refusal=refusal,
        role=role,
        holders=holders,
        seen_state=seen_state_of(role),
        page=f"{page_of(org_slug)}/roles/{role_slug}",
        people=with_query(f"{page_of(org_slug)}/people", role=role_slug),
        invited=with_query(f"{page_of(org_slug)}/people/invited", status="pending"),
    )


@routes.post(f"{ROLE}/delete", refuses=(RoleUnknown, RoleBuiltIn, RoleInUse, RoleChanged))
@in_console(Operation.ROLES_CHANGE)
@shows_again(ask_to_delete_role, RoleInUse, RoleChanged)
async def delete_role_for_good(call: Call, org_slug: str, role_slug: str, form: SeenStateForm) -> PageOrRedirect:
    """Delete a role that is not in use; programs use `DELETE /api/organizations/:slug/roles/:role_slug`."""
    await call.transact(roles.delete, org_slug, role_slug, seen_state=form.seen_state)
    return after(f"{page_of(org_slug)}/roles", "role-deleted")


def _copy_of(role: Role | None, standing: Standing) -> NewRoleForm:
    """Return the form of a new role that allows what another one does, as far as the reader holds it."""
    if role is None:
        return NewRoleForm()
    held = [one for one in role.permissions if one in standing.capabilities]
    return NewRoleForm(description=role.description if not role.is_built_in else "", permissions=_words(held))


def _words(permissions: Sequence[Capability]) -> list[str]:
    return [one.value for one in permissions]
