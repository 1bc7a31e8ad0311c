"""Memberships: that a person manages an organization, and in which role. What members do is in `members.py`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - the reference is made from the fields of `Membership`
from typing import Final
from uuid import UUID  # noqa: TC003 - likewise

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
