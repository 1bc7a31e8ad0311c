"""The last attempt with something that a vendor has set up for a customer, as its program reads it back."""

from __future__ import annotations

from datetime import datetime

from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupAttempt:
    """When something was last tried or used, and whether that succeeded; `reason` is why it did not, None otherwise."""

    at: datetime
    succeeded: bool
    reason: str | None = None


def last_of(*attempts: SetupAttempt | None) -> SetupAttempt | None:
    """Return the last of some attempts; None without any."""
    return max((one for one in attempts if one is not None), key=lambda one: one.at, default=None)
