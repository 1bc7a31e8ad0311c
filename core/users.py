"""Accounts: one per address on the whole platform. What an account signs in with is in the credential capabilities."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from core.errors import BadRequest, Conflict
from core.limits import EMAIL_CHARACTERS_MAX

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

# No character is composed of more than four.
_DECOMPOSED_CHARACTERS_MAX: Final = 4 * EMAIL_CHARACTERS_MAX

# One @, something before it, a dotted name after it, no blanks and no quotes: what real mail systems deliver to.
_EMAIL = re.compile(r"[^\s@\"'(),:;<>\[\]\\]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+[^\W\d_](?:[\w-]{0,61}[^\W_])")


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A person's account, without anything secret."""

    id: UUID
    email: str
    email_verified_at: datetime | None
    is_platform_owner: bool
    created_at: datetime
    updated_at: datetime
    deactivated_at: datetime | None = None
    mfa_enabled_at: datetime | None = None

    @property
    def is_verified(self) -> bool:
        """Whether the person has proved that the address is theirs."""
        return self.email_verified_at is not None

    @property
    def is_active(self) -> bool:
        """Whether the account may be used at all."""
        return self.deactivated_at is None

    @property
    def has_mfa(self) -> bool:
        """Whether a second factor is asked for."""
        return self.mfa_enabled_at is not None

    def appointed(self, *, at: datetime) -> User:
        """Govern the platform; whoever appoints vouches for the address."""
        if not self.is_active:
            raise Conflict("This account is deactivated, and nobody could sign in with it.")
        return replace(self, is_platform_owner=True, email_verified_at=self.email_verified_at or at, updated_at=at)


def spelled(typed: str) -> str:
    """Give the one spelling of an address, under which its account is found; what is no address has no account."""
    trimmed = typed.strip().lower()
    # Composed, because an accented letter has two spellings that look the same and are one address to mail systems. But
    # many marks on one letter take the square of their number, and nothing that long is an address.
    return unicodedata.normalize("NFC", trimmed) if len(trimmed) <= _DECOMPOSED_CHARACTERS_MAX else trimmed


def normalize_email(email: str, field: str = "email") -> str:
    """Give the one spelling under which an address is stored; refuse what is no address."""
    normalized = spelled(email)
    # What cannot be printed (controls, invisible characters, halves of characters) would make two addresses look alike.
    is_possible = len(normalized) <= EMAIL_CHARACTERS_MAX and normalized.isprintable()
    if not is_possible or not _EMAIL.fullmatch(normalized):
        raise BadRequest.of_field(field, "This is not a valid email address.")
    return normalized
