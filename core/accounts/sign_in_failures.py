"""Failed sign-ins for one address: how many there may be before everybody who tries it has to wait (decisions 1.9).

An attempt is written down before what was given is compared, and taken back when that was right, so that many at once
count as many. What is counted is the address, whether or not an account has it, and wrong passwords and wrong second
factors alike: whoever knows the one must not have endless tries at the other.
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
FAILURES_FROM_NETWORK_MAX: Final = 10
FAILURES_FROM_ANYWHERE_MAX: Final = 100
_UNLIMITED: Final = "-"


@dataclass(frozen=True, slots=True)
class SignInFailure:
    """An attempt that was not right, or is not known to be yet."""

    network: str
    at: datetime


def attempt(uow: UnitOfWork, address: str, network: str | None, *, is_known_device: bool) -> UUID:
    """Write an attempt down, and refuse one too many; its id takes it back (`uow.sign_in_failures.remove`).

    Without a network nobody is refused: the limits are off. Attempts for one address wait for each other until their
    transactions end, so that each sees those before it.
    """
    marked = mark(uow, address)
    attempt_id = uow.randomness.new_id()
    uow.sign_in_failures.add(attempt_id, marked, network or _UNLIMITED, at=uow.now)
    failures = uow.sign_in_failures.since(marked, uow.now - WINDOW)
    free_at = _free_at(failures, network, is_known_device=is_known_device) if network is not None else None
    if free_at is not None:
        # Raising takes this attempt back: those that are not compared are not counted either.
        raise RateLimitExceeded(
            "Too many failed sign-ins for this address. Wait a quarter of an hour, then try again.",
            retry_after_seconds=max(1, ceil((free_at - uow.now).total_seconds())),
        )
    return attempt_id


def mark(uow: UnitOfWork, address: str) -> bytes:
    """Give what stands for an address where its attempts are counted."""
    return uow.pepper.mark("sign-in failures", address.encode("utf-8", "surrogatepass"))


def _free_at(failures: Sequence[SignInFailure], network: str, *, is_known_device: bool) -> datetime | None:
    """Say when the newest of these attempts, one too many now, would not be; None when it is not one too many."""
    from_network = [failure for failure in failures if failure.network == network]
    # The newest is the attempt itself; there is room for it once the last of those that fill the limit is too old.
    in_the_way = from_network[FAILURES_FROM_NETWORK_MAX:][:1]
    if not is_known_device:
        in_the_way += failures[FAILURES_FROM_ANYWHERE_MAX:][:1]
    return max((failure.at + WINDOW for failure in in_the_way), default=None)
