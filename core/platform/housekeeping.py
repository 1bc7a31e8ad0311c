"""What is deleted by itself when it counts no longer, and how long each kind is kept after its end.

Nothing here decides anything any more, so deleting it late or twice harms nothing. Letters are forgotten by their
courier, signing keys where new ones are made; events, login events and audit entries are kept.
"""

from __future__ import annotations

from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Final

from core.accounts import sign_in_failures

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_DAY: Final = timedelta(days=1)


class Leftover(Enum):
    """A kind of rows that end by themselves, and how long they are kept after that."""

    SIGN_IN_FAILURES = ("sign_in_failures", sign_in_failures.WINDOW)
    MFA_CHALLENGES = ("mfa_challenges", _DAY)
    PASSKEY_CHALLENGES = ("passkey_challenges", _DAY)
    DEVICE_TOKENS = ("device_tokens", _DAY)
    # Whoever opens a letter of last week should hear that its link has expired, and not that there never was one.
    ONE_TIME_TOKENS = ("one_time_tokens", 30 * _DAY)
    # Counted from the end of the longest life, whatever ended them: who was here in the last three months can be seen.
    SESSIONS = ("sessions", 30 * _DAY)
    # Counted from the last use. No token and no session of such a device is good any more.
    DEVICES = ("devices", 365 * _DAY)

    kept_for: timedelta

    def __new__(cls, value: str, kept_for: timedelta) -> Leftover:
        member = object.__new__(cls)
        member._value_ = value
        member.kept_for = kept_for
        return member


def sweep(uow: UnitOfWork, leftover: Leftover, limit: int) -> int:
    """Delete what was kept long enough, the oldest first and at most so many; say how many those were."""
    return uow.housekeeping.delete(leftover, uow.now - leftover.kept_for, limit)
