"""Memberships: who manages an organization, in which role."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

OWNER: Final = "owner"
ADMIN: Final = "admin"
MEMBER: Final = "member"
BUILT_IN_ROLES: Final = (OWNER, ADMIN, MEMBER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """That a person manages an organization; `role` is a built-in one or the slug of a custom role."""

    id: UUID
    org_id: UUID
    user_id: UUID
    role: str
    created_at: datetime
