"""Failed sign-ins for one address, and the limit after which every client has to wait.

An attempt is recorded before the secret is compared, so that concurrent attempts all count. Then it is removed, because
the secret was right or was not compared after all, or marked as failed. An attempt that is neither counts for a minute,
which is longer than a request lasts: its process was killed, and the user must not be locked out by that.

Attempts are counted by address, whether or not an account has it, and wrong passwords and wrong second factors
together: an attacker who knows the password must not have unlimited attempts at the code.

A known device is exempt from the limit that counts every network, so that an attacker elsewhere does not lock its user
out. Attempts inside a session, to change the password or to sign in again, are exempt from it too. But the session may
be stolen, with its device, so they have limits of their own: for the session, and for all sessions of the account
together, because one session can begin others. The session goes on; its user can end the others at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import RateLimitExceeded
from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from core.deferred import Deferred
    from ports.unit_of_work import UnitOfWork

WINDOW: Final = timedelta(minutes=15)
UNDECIDED_MAX: Final = timedelta(minutes=1)
FAILURES_FROM_NETWORK_MAX: Final = 10
FAILURES_FROM_ANYWHERE_MAX: Final = 100
FAILURES_IN_SESSION_MAX: Final = 10
FAILURES_IN_ALL_SESSIONS_MAX: Final = 100
_UNLIMITED: Final = "-"


@dataclass(frozen=True, slots=True)
class SignInFailure:
    """An attempt that failed or is not decided yet; `session_id` is set for one inside a session."""

    network: str
    at: datetime
    session_id: UUID | None = None


def attempt(
    uow: UnitOfWork,
    address: str,
    network: str | None,
    *,
    is_known_device: Deferred[bool] = lambda: False,
    session_id: UUID | None = None,
) -> UUID:
    """Record an attempt and return its id, with which `uow.sign_in_failures` removes it or marks it as failed.

    `is_known_device` may be read in the same round trip. `session_id` is the session of the account's user in which the
    attempt is made, None for a sign-in.

    Raise `RateLimitExceeded` when there were too many. Without a network the limits are off. Attempts for one address
    wait for each other until their transactions end, so that each sees those before it.
    """
    recorded = record(uow, address, network, session_id=session_id)
    if network is None:
        return recorded.id
    allowed_at = blocked_until(recorded.attempts, network, is_known_device=is_known_device(), session_id=session_id)
    if allowed_at is not None:
        # Raising rolls this attempt back: only attempts that are compared are counted.
        raise too_many(allowed_at, at=uow.now)
    return recorded.id


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAttempt:
    """An attempt that is recorded, and all attempts for its address that count, the newest first, itself among them."""

    id: UUID
    attempts: Sequence[SignInFailure]


def record(uow: UnitOfWork, address: str, network: str | None, *, session_id: UUID | None = None) -> RecordedAttempt:
    """Record an attempt as `attempt` does, without judging it; the refusal has to roll it back."""
    email_hash = hash_address(uow, address)
    attempt_id = uow.randomness.new_id()
    uow.sign_in_failures.add(attempt_id, email_hash, network or _UNLIMITED, at=uow.now, session_id=session_id)
    return RecordedAttempt(id=attempt_id, attempts=_read(uow, email_hash))


def too_many(until: datetime, *, at: datetime) -> RateLimitExceeded:
    """Return the refusal of an attempt for an address with too many failed ones."""
    return (
        RateLimitExceeded(
            "Too many failed sign-ins for this address. Wait 15 minutes, then try again.",
            retry_after_seconds=max(1, ceil((until - at).total_seconds())),
        )
        .of("sign_in_failures", counts="failures")
        .because("too_many_failures")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkLimit:
    """The failed sign-ins from one client network, and until when it is refused; None while it is not."""

    network: str
    failures: int
    blocked_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressLimits:
    """The failed sign-ins for an address in the last 15 minutes.

    Until `blocked_until` every network is refused, but no known device; None while none is.
    """

    failures: int
    blocked_until: datetime | None
    networks: list[NetworkLimit]


def limits_of(uow: UnitOfWork, address: str) -> AddressLimits:
    """Return what is counted for an address, and what it limits."""
    failures = read(uow, address)
    by_network: dict[str, list[SignInFailure]] = {}
    for failure in failures:
        by_network.setdefault(failure.network, []).append(failure)
    return AddressLimits(
        failures=len(failures),
        blocked_until=_filled_until(failures, FAILURES_FROM_ANYWHERE_MAX),
        networks=[
            NetworkLimit(
                network=network,
                failures=len(of_network),
                blocked_until=_filled_until(of_network, FAILURES_FROM_NETWORK_MAX),
            )
            for network, of_network in by_network.items()
            if network != _UNLIMITED
        ],
    )


def _filled_until(failures: Sequence[SignInFailure], failures_max: int) -> datetime | None:
    return failures[failures_max - 1].at + WINDOW if len(failures) >= failures_max else None


def blocked_until(
    failures: Sequence[SignInFailure],
    network: str,
    *,
    is_known_device: bool = False,
    session_id: UUID | None = None,
) -> datetime | None:
    """Return until when the newest of the attempts for an address is refused; None when it is not.

    The newest is the attempt itself; it is allowed once the oldest attempt that fills a limit leaves the window.
    """
    blocking = [failure for failure in failures if failure.network == network][FAILURES_FROM_NETWORK_MAX:][:1]
    if session_id is not None:
        blocking += _blocking_inside(failures, session_id)
    elif not is_known_device:
        blocking += failures[FAILURES_FROM_ANYWHERE_MAX:][:1]
    return max((failure.at + WINDOW for failure in blocking), default=None)


def read(uow: UnitOfWork, address: str) -> Sequence[SignInFailure]:
    """Return the attempts for an address that count, the newest first, without another one."""
    return _read(uow, hash_address(uow, address))


def _read(uow: UnitOfWork, email_hash: bytes) -> Sequence[SignInFailure]:
    return uow.sign_in_failures.since(
        email_hash, failed_since=uow.now - WINDOW, undecided_since=uow.now - UNDECIDED_MAX
    )


def hash_address(uow: UnitOfWork, address: str) -> bytes:
    """Return the keyed hash under which the attempts for an address are counted."""
    return uow.pepper.mark("sign-in failures", address.encode("utf-8", "surrogatepass"))


def _blocking_inside(failures: Sequence[SignInFailure], session_id: UUID) -> list[SignInFailure]:
    """Return the attempts that have to leave the window before another one inside this session is allowed."""
    inside = [failure for failure in failures if failure.session_id is not None]
    in_session = [failure for failure in inside if failure.session_id == session_id]
    return [*in_session[FAILURES_IN_SESSION_MAX:][:1], *inside[FAILURES_IN_ALL_SESSIONS_MAX:][:1]]
