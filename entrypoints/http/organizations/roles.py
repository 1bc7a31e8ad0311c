"""The roles of an organization: the built-in ones and its custom ones."""

import msgspec

from core.errors import Forbidden
from core.organizations import roles
from core.organizations.access import Capability, Operation
from core.organizations.roles import Role, RoleBuiltIn, RoleChanges, RoleInUse, RoleTaken, RoleUnknown, TooManyRoles
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.answering.bodies import Input
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "roles",
    "What members may do. The roles `owner`, `admin` and `member` are built in; an organization can define custom roles"
    " from capabilities, and its owner assigns them to members.",
)


class RoleCreation(msgspec.Struct, kw_only=True):
    """A new role: a slug for paths, a name and a description for people, and its capabilities."""

    slug: str
    name: str
    permissions: list[Capability]
    description: str = ""
    scopes: list[str] = []


class RoleUpdate(Input, of=RoleChanges):
    """The fields to change; omitted fields keep their values. The slug cannot change."""


class RoleList(msgspec.Struct, kw_only=True):
    """All roles, the built-in ones first."""

    roles: list[Role]
    total: int


@routes.get("/api/organizations/:slug/roles")
@in_organization(Operation.ROLES_READ)
async def list_roles(call: Call, slug: str) -> RoleList:
    """List the roles: the built-in ones, then the custom ones sorted by slug."""
    found = list(await call.read(roles.list_all, slug))
    return RoleList(roles=found, total=len(found))


@routes.post("/api/organizations/:slug/roles", refuses=(Forbidden, RoleTaken, TooManyRoles))
@in_organization(Operation.ROLES_CHANGE)
async def create_role(call: Call, slug: str, body: RoleCreation) -> Role:
    """Create a role from capabilities that you have yourself."""
    return await call.transact(
        roles.create,
        slug,
        role_slug=body.slug,
        name=body.name,
        description=body.description,
        permissions=body.permissions,
        scopes=body.scopes,
    )


@routes.get("/api/organizations/:slug/roles/:role_slug", refuses=(RoleUnknown,))
@in_organization(Operation.ROLES_READ)
async def show_role(call: Call, slug: str, role_slug: str) -> Role:
    """Show a role."""
    return await call.read(roles.show, slug, role_slug)


@routes.patch("/api/organizations/:slug/roles/:role_slug", refuses=(RoleBuiltIn, Forbidden, RoleUnknown))
@in_organization(Operation.ROLES_CHANGE)
async def change_role(call: Call, slug: str, role_slug: str, body: RoleUpdate) -> Role:
    """Change a role, which takes effect with the next request of every member who has it.

    You can only add capabilities that you have yourself.
    """
    return await call.transact(roles.change, slug, role_slug, body.to(RoleChanges))


@routes.delete("/api/organizations/:slug/roles/:role_slug", status=204, refuses=(RoleBuiltIn, RoleUnknown, RoleInUse))
@in_organization(Operation.ROLES_CHANGE)
async def delete_role(call: Call, slug: str, role_slug: str) -> None:
    """Delete a role that no member has and no pending invitation names."""
    await call.transact(roles.delete, slug, role_slug)
