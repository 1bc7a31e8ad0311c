"""The account of a caller, as it is now."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerAccount:
    """Who the caller is.

    `is_disowned`: the organization of the mail domain has taken the address back. `is_platform_support` takes a
    verified address and a second factor. `belongs_elsewhere`: the user is a member of another organization, or uses
    services of one. It is read for sessions of a service and for those confined to an organization; where a caller is
    read for the contents of tokens, it is assumed.
    """

    id: UUID
    email: str
    email_verified_at: datetime | None
    created_at: datetime
    is_disowned: bool = False
    is_platform_owner: bool = False
    is_platform_support: bool = False
    belongs_elsewhere: bool = False

    @property
    def is_verified(self) -> bool:
        """Whether the user has verified their email address, and its organization has not taken it back."""
        return self.email_verified_at is not None and not self.is_disowned

    @property
    def has_platform_role(self) -> bool:
        """Whether the user is a platform owner or platform support, so that the account opens other accounts."""
        return self.is_platform_owner or self.is_platform_support
