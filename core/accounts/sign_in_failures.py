"""Failed sign-ins for one address, and the limit after which every client has to wait (decisions 1.9).

An attempt is recorded before the secret is compared, so that concurrent attempts all count. Then it is removed, because
the secret was right or was not compared after all, or marked as failed. An attempt that is neither counts for a minute,
which is longer than a request lasts: its process was killed, and the user must not be locked out by that.

Attempts are counted by address, whether or not an account has it, and wrong passwords and wrong second factors
together: an attacker who knows the password must not have unlimited attempts at the code.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import TYPE_CHECKING, Final

from core.errors import RateLimitExceeded

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from ports.unit_of_work import UnitOfWork

WINDOW: Final = timedelta(minutes=15)
UNDECIDED_MAX: Final = timedelta(minutes=1)
FAILURES_FROM_NETWORK_MAX: Final = 10
FAILURES_FROM_ANYWHERE_MAX: Final = 100
_UNLIMITED: Final = "-"


@dataclass(frozen=True, slots=True)
class SignInFailure:
    """An attempt that failed or is not decided yet."""

    network: str
    at: datetime


def attempt(uow: UnitOfWork, address: str, network: str | None, *, is_known_device: bool) -> UUID:
    """Record an attempt and return its id, with which `uow.sign_in_failures` removes it or marks it as failed.

    Raise `RateLimitExceeded` when there were too many. Without a network the limits are off. Attempts for one address
    wait for each other until their transactions end, so that each sees those before it.
    """
    email_hash = hash_address(uow, address)
    attempt_id = uow.randomness.new_id()
    uow.sign_in_failures.add(attempt_id, email_hash, network or _UNLIMITED, at=uow.now)
    failures = uow.sign_in_failures.since(
        email_hash, failed_since=uow.now - WINDOW, undecided_since=uow.now - UNDECIDED_MAX
    )
    allowed_at = _allowed_at(failures, network, is_known_device=is_known_device) if network is not None else None
    if allowed_at is not None:
        # Raising rolls this attempt back: only attempts that are compared are counted.
        raise RateLimitExceeded(
            "Too many failed sign-ins for this address. Wait 15 minutes, then try again.",
            retry_after_seconds=max(1, ceil((allowed_at - uow.now).total_seconds())),
        ).because("too_many_failures")
    return attempt_id


def hash_address(uow: UnitOfWork, address: str) -> bytes:
    """Return the keyed hash under which the attempts for an address are counted."""
    return uow.pepper.mark("sign-in failures", address.encode("utf-8", "surrogatepass"))


def _allowed_at(failures: Sequence[SignInFailure], network: str, *, is_known_device: bool) -> datetime | None:
    """Return when the newest of these attempts would be allowed; None when it is allowed now."""
    from_network = [failure for failure in failures if failure.network == network]
    # The newest is the attempt itself; it is allowed once the oldest of those that fill the limit leaves the window.
    blocking = from_network[FAILURES_FROM_NETWORK_MAX:][:1]
    if not is_known_device:
        blocking += failures[FAILURES_FROM_ANYWHERE_MAX:][:1]
    return max((failure.at + WINDOW for failure in blocking), default=None)
