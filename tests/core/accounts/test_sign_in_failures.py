"""The limits on failed sign-ins, for attempts in any order."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import cast
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.accounts import sign_in_failures
from core.accounts.sign_in_failures import (
    FAILURES_FROM_ANYWHERE_MAX,
    FAILURES_FROM_NETWORK_MAX,
    FAILURES_IN_ALL_SESSIONS_MAX,
    FAILURES_IN_SESSION_MAX,
    WINDOW,
    SignInFailure,
)
from core.errors import RateLimitExceeded
from ports.unit_of_work import UnitOfWork

ADDRESS = "ada@example.com"
START = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
NETWORKS = ("192.0.2.0/24", "198.51.100.0/24")


@dataclass
class Failures:
    """The port `SignInFailures` in memory."""

    kept: dict[UUID, SignInFailure] = field(default_factory=dict[UUID, SignInFailure])

    def add(self, attempt_id: UUID, email_hash: bytes, network: str, *, at: datetime, session_id: UUID | None) -> None:
        self.kept[attempt_id] = SignInFailure(network, at, session_id)

    def since(self, email_hash: bytes, *, failed_since: datetime, undecided_since: datetime) -> Sequence[SignInFailure]:
        # Every attempt of these tests has failed.
        kept = (one for one in self.kept.values() if one.at > failed_since)
        return sorted(kept, key=lambda one: one.at, reverse=True)


class FakeRandomness:
    def new_id(self) -> UUID:
        return uuid4()


class FakePepper:
    def mark(self, purpose: str, /, *parts: bytes) -> bytes:
        return hashlib.sha256(purpose.encode() + b"".join(parts)).digest()


@dataclass
class FakeUnitOfWork:
    """The part of a unit of work that an attempt needs; an attempt that raises is rolled back."""

    now: datetime = START
    sign_in_failures: Failures = field(default_factory=Failures)
    randomness: FakeRandomness = field(default_factory=FakeRandomness)
    pepper: FakePepper = field(default_factory=FakePepper)

    def attempt(
        self, network: str | None, *, is_known_device: bool = False, session_id: UUID | None = None
    ) -> int | None:
        """Fail an attempt; return the seconds to wait when it is refused, None when it is compared."""
        before = dict(self.sign_in_failures.kept)
        uow = cast("UnitOfWork", self)
        try:
            sign_in_failures.attempt(
                uow, ADDRESS, network, is_known_device=lambda: is_known_device, session_id=session_id
            )
        except RateLimitExceeded as refused:
            self.sign_in_failures.kept = before
            return refused.retry_after_seconds
        return None

    def counted(self, network: str | None = None) -> int:
        """Return how many attempts were compared within the last 15 minutes."""
        recent = self.sign_in_failures.since(b"", failed_since=self.now - WINDOW, undecided_since=self.now)
        return len([one for one in recent if network in {None, one.network}])


tries = st.lists(st.tuples(st.integers(0, 300), st.sampled_from(NETWORKS)), max_size=80)


@given(tries)
def test_at_most_ten_attempts_from_one_network_are_compared_in_any_15_minutes(
    attempts: list[tuple[int, str]],
) -> None:
    uow = FakeUnitOfWork()
    for seconds, network in attempts:
        uow.now += timedelta(seconds=seconds)
        refused = uow.attempt(network)

        assert uow.counted(network) <= FAILURES_FROM_NETWORK_MAX
        # And no attempt is refused below the limit.
        assert (refused is None) or uow.counted(network) == FAILURES_FROM_NETWORK_MAX


@given(tries)
def test_an_attempt_is_compared_after_the_stated_wait_and_refused_a_second_earlier(
    attempts: list[tuple[int, str]],
) -> None:
    uow = FakeUnitOfWork()
    for seconds, network in attempts:
        uow.now += timedelta(seconds=seconds)
        wait = uow.attempt(network)
        if wait is not None:
            assert 1 <= wait <= WINDOW.total_seconds()
            uow.now += timedelta(seconds=wait - 1)
            assert wait == 1 or uow.attempt(network) == 1
            uow.now += timedelta(seconds=1)
            assert uow.attempt(network) is None


def test_at_most_a_hundred_attempts_from_all_networks_are_compared() -> None:
    uow = FakeUnitOfWork()
    waits: list[int | None] = []
    for number in range(FAILURES_FROM_ANYWHERE_MAX + 5):
        uow.now += timedelta(seconds=2)
        waits.append(uow.attempt(f"10.0.{number}.0/24"))

    assert waits[:FAILURES_FROM_ANYWHERE_MAX] == [None] * FAILURES_FROM_ANYWHERE_MAX
    # The first of the hundred came 200 seconds before the first that is refused.
    assert waits[FAILURES_FROM_ANYWHERE_MAX:] == [700, 698, 696, 694, 692]


def test_an_attempt_from_a_known_device_is_compared_beyond_that_limit_and_counts() -> None:
    uow = FakeUnitOfWork()
    for number in range(FAILURES_FROM_ANYWHERE_MAX):
        uow.attempt(f"10.0.{number}.0/24")

    assert uow.attempt("192.0.2.0/24", is_known_device=True) is None
    assert uow.counted() == FAILURES_FROM_ANYWHERE_MAX + 1


def test_at_most_ten_attempts_inside_a_session_are_compared_also_on_a_known_device() -> None:
    uow, stolen, own = FakeUnitOfWork(), uuid4(), uuid4()
    waits: list[int | None] = []
    for number in range(FAILURES_IN_SESSION_MAX + 1):
        uow.now += timedelta(seconds=2)
        waits.append(uow.attempt(f"10.0.{number}.0/24", is_known_device=True, session_id=stolen))

    assert waits == [None] * FAILURES_IN_SESSION_MAX + [880]
    assert uow.attempt("192.0.2.0/24", session_id=own) is None


def test_attempts_inside_all_sessions_of_an_account_have_a_limit_too() -> None:
    uow = FakeUnitOfWork()
    for number in range(FAILURES_IN_ALL_SESSIONS_MAX):
        assert uow.attempt(f"10.0.{number}.0/24", session_id=uuid4()) is None

    assert uow.attempt("192.0.2.0/24", session_id=uuid4()) == WINDOW.total_seconds()


def test_attempts_elsewhere_do_not_keep_a_session_from_comparing() -> None:
    uow = FakeUnitOfWork()
    for number in range(FAILURES_FROM_ANYWHERE_MAX):
        uow.attempt(f"10.0.{number}.0/24")

    assert uow.attempt("192.0.2.0/24") == WINDOW.total_seconds()
    assert uow.attempt("192.0.2.0/24", session_id=uuid4()) is None


def test_the_longer_wait_of_the_two_limits_applies() -> None:
    uow = FakeUnitOfWork()
    for number in range(FAILURES_FROM_ANYWHERE_MAX - FAILURES_FROM_NETWORK_MAX):
        uow.attempt(f"10.0.{number}.0/24")
    uow.now += timedelta(minutes=5)
    for _ in range(FAILURES_FROM_NETWORK_MAX):
        uow.attempt(NETWORKS[0])

    assert uow.attempt(NETWORKS[0]) == 15 * 60
    assert uow.attempt(NETWORKS[1]) == 10 * 60


def test_without_limits_attempts_are_recorded_and_never_refused() -> None:
    uow = FakeUnitOfWork()

    assert {uow.attempt(None) for _ in range(FAILURES_FROM_ANYWHERE_MAX + 1)} == {None}
    assert uow.counted() == FAILURES_FROM_ANYWHERE_MAX + 1


@pytest.mark.parametrize("address", ["", "no address", "ä@example.com", "\ud800"])
def test_any_text_is_accepted_as_an_address(address: str) -> None:
    sign_in_failures.attempt(cast("UnitOfWork", FakeUnitOfWork()), address, NETWORKS[0])
