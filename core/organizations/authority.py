"""What a member could do who made a credential or a rule, as far as it is kept or compared (decisions 7.9)."""

from __future__ import annotations

from typing import Final, Self

from core.lazy_dataclasses import dataclass
from core.organizations import access, inviters
from core.organizations.access import Capability
from core.organizations.memberships import BUILT_IN_ROLES, OWNER

_NOTHING: Final[frozenset[Capability]] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """A role, and what it allows if it is a custom role; None for a member who has left."""

    role: str | None
    permissions: list[str] | None

    @classmethod
    def of(cls, role: str, capabilities: frozenset[Capability]) -> Self:
        """Return what to keep of a role."""
        return cls(role=role, permissions=None if role in BUILT_IN_ROLES else sorted(capabilities))

    @classmethod
    def holding(cls, capabilities: frozenset[Capability]) -> Self:
        """Return what a caller may do that has these capabilities, and no more, whatever the role of its member is."""
        return cls(role="", permissions=sorted(capabilities))

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the role allows."""
        return access.capabilities_of(self.role, self.permissions) if self.role is not None else _NOTHING

    def may_give(self, role: str, allowed_by_role: frozenset[Capability]) -> bool:
        """Return whether such a member could give a role, which allows what the second argument lists."""
        if role == OWNER:
            return self.role == OWNER
        return inviters.may_invite_to(self.capabilities, role, allowed_by_role)

    def covers(self, other: Authority) -> bool:
        """Return whether such a member could give every role that the other could give."""
        is_owner = self.role == OWNER or other.role != OWNER
        return is_owner and other.capabilities <= self.capabilities
