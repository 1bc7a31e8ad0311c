"""Who somebody has proved to be and how, and where they want to: what every way of signing in hands to `sign_in.py`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uuid import UUID

    from core.accounts.providers import Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Who somebody has proved to be, and how (RFC 8176 names the methods)."""

    user_id: UUID
    provider: Provider
    amr: tuple[str, ...]
    proves_address: bool = False

    @property
    def has_second_factor(self) -> bool:
        """Whether the proof was made with more than one factor already."""
        return "mfa" in self.amr

    def with_methods(self, *methods: str) -> Proof:
        """Add how else it was proved."""
        return replace(self, amr=(*self.amr, *methods))


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where somebody wants to, and from which device."""

    organization_slug: str | None = None
    service_slug: str | None = None
    device_token: str | None = field(default=None, repr=False)
