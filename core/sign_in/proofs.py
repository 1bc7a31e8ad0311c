"""Proofs of identity and destinations, which every sign-in method passes to `conclusion.py`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uuid import UUID

    from core.accounts.providers import Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The user whose identity is proved, and by which methods (RFC 8176)."""

    user_id: UUID
    provider: Provider
    amr: tuple[str, ...]
    proves_address: bool = False

    @property
    def has_second_factor(self) -> bool:
        """Whether more than one factor was proved."""
        return "mfa" in self.amr

    def with_methods(self, *methods: str) -> Proof:
        """Return the proof with further authentication methods."""
        return replace(self, amr=(*self.amr, *methods))


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """The organization and service to sign in to, and the token of the device."""

    organization_slug: str | None = None
    service_slug: str | None = None
    device_token: str | None = field(default=None, repr=False)
