"""What the maker of a credential or a rule could do: it is kept with a SCIM token, and compared for a rule."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Self

from core.lazy_dataclasses import dataclass
from core.organizations import access, inviters
from core.organizations.access import Capability
from core.organizations.authorization import OrganizationAccess, capabilities_of_role
from core.organizations.organizations import ADMIN, BUILT_IN_ROLES, MEMBER, OWNER

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_NOTHING: Final[frozenset[Capability]] = frozenset()
# Begins what is stored in place of a role for what a key of the organization made; no custom role has such a slug.
_OF_KEY: Final = "key:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """A role, and what it allows if it is a custom role; None for a member who has left.

    `link_roles` are the roles of the setup link with which something was made: it gives, changes and takes these and
    `member`, and no others. None for what a member has made.
    """

    role: str | None
    permissions: list[str] | None
    link_roles: list[str] | None = None

    @classmethod
    def of(cls, role: str, capabilities: frozenset[Capability]) -> Self:
        """Return what to keep of a role."""
        return cls(role=role, permissions=None if role in BUILT_IN_ROLES else sorted(capabilities))

    @classmethod
    def holding(cls, capabilities: frozenset[Capability]) -> Self:
        """Return what a caller with these capabilities may do, whatever the role of the member behind it."""
        return cls(role="", permissions=sorted(capabilities))

    @classmethod
    def of_key(cls, capabilities: frozenset[Capability]) -> Self:
        """Return what a key of the organization with these capabilities may do, and what it makes.

        It makes no admin, who could create keys that outlive it.
        """
        return cls(role=_OF_KEY, permissions=sorted(capabilities))

    @classmethod
    def of_caller(cls, authorized: OrganizationAccess) -> Self:
        """Return what a member may do, or a key that acts for one, itself or by its setup link."""
        if authorized.caller.limits.made_by_key is not None:
            return cls.of_key(authorized.capabilities)
        return cls.of(authorized.membership.role, authorized.capabilities)

    @classmethod
    def of_maker(cls, uow: UnitOfWork, authorized: OrganizationAccess) -> Self:
        """Return what to keep of a caller who makes a credential."""
        link = authorized.caller.limits.link
        if link is None:
            return cls.of_caller(authorized)
        organization_id = authorized.organization.id
        allowed = [capabilities_of_role(uow, organization_id, role) for role in link.roles]
        return cls.of_link(link.roles, _NOTHING.union(*allowed))

    @classmethod
    def of_link(cls, roles: Collection[str], allowed_by_roles: frozenset[Capability]) -> Self:
        """Return what a credential made with a setup link for these roles may do: no more than they allow.

        The maker of the link could give each of them, else the link would be dead.
        """
        named = sorted({*roles} - {MEMBER})
        if not named:
            # Such a token changes plain members only, as a token of an older version does.
            return cls(role=None, permissions=None, link_roles=[])
        if ADMIN in named:
            return cls(role=ADMIN, permissions=None, link_roles=named)
        held = allowed_by_roles | {Capability.ORG_ROLES_MANAGE}
        return cls(role="", permissions=sorted(held), link_roles=named)

    def limited_to(self, link_roles: Collection[str]) -> Self:
        """Return the part of this that the holder of a setup link for these roles has."""
        return replace(self, link_roles=sorted({*link_roles} - {MEMBER}))

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the role allows."""
        return access.capabilities_of(self.role, self.permissions) if self.role is not None else _NOTHING

    def may_give(self, role: str, allowed_by_role: frozenset[Capability]) -> bool:
        """Return whether such a member could give a role that allows `allowed_by_role`."""
        if self.link_roles is not None and role not in {MEMBER, *self.link_roles}:
            return False
        if role == OWNER:
            return self.role == OWNER
        if role == ADMIN and self.role == _OF_KEY:
            return False
        return inviters.may_invite_to(self.capabilities, role, allowed_by_role)

    def covers(self, other: Authority) -> bool:
        """Return whether such a member could give every role that the other could give."""
        is_owner = self.role == OWNER or other.role != OWNER
        allowed = access.capabilities_of(ADMIN, None)
        is_admin = self.may_give(ADMIN, allowed) or not other.may_give(ADMIN, allowed)
        is_wider = self.link_roles is None or (
            other.link_roles is not None and {*other.link_roles} <= {*self.link_roles}
        )
        return is_owner and is_admin and is_wider and other.capabilities <= self.capabilities
