"""Memberships: a user manages an organization, in a role. The use cases are in `members.py`.

No organization has power over a person who has not consented. A membership that another person made is unconfirmed
until its user proves the address or uses the organization. `uow.members.organizations_of` lists the confirmed ones, to
which events of a person go; what gives an organization power over an account requires a confirmed membership.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from core.lazy_dataclasses import dataclass

OWNER: Final = "owner"
ADMIN: Final = "admin"
MEMBER: Final = "member"
BUILT_IN_ROLES: Final = (OWNER, ADMIN, MEMBER)


class MembershipStatus(StrEnum):
    """Whether a membership gives access; an inactive one can be activated again."""

    ACTIVE = "active"
    INACTIVE = "inactive"

    @classmethod
    def of(cls, *, is_active: bool) -> MembershipStatus:
        """Return the status of a membership."""
        return cls.ACTIVE if is_active else cls.INACTIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSource:
    """The rule that gave a role: `source` is `scim` or the id of a connection, `group` the group that it names."""

    source: str
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """A user's membership in an organization; `role` is a built-in role or the slug of a custom role."""

    id: UUID
    organization_id: UUID
    user_id: UUID
    role: str
    created_at: datetime
