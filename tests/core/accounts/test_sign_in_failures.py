"""What holds of failed sign-ins whatever the order in which they come (decisions 1.9)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.accounts import sign_in_failures
from core.accounts.sign_in_failures import FAILURES_FROM_ANYWHERE_MAX, FAILURES_FROM_NETWORK_MAX, WINDOW, SignInFailure
from core.errors import RateLimitExceeded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ports.unit_of_work import UnitOfWork

ADDRESS = "ada@example.com"
START = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
NETWORKS = ("192.0.2.0/24", "198.51.100.0/24")


@dataclass
class Failures:
    """The port `SignInFailures` in memory."""

    kept: dict[UUID, SignInFailure] = field(default_factory=dict[UUID, SignInFailure])

    def add(self, attempt_id: UUID, email_hash: bytes, network: str, *, at: datetime) -> None:
        self.kept[attempt_id] = SignInFailure(network, at)

    def since(self, email_hash: bytes, moment: datetime) -> Sequence[SignInFailure]:
        return sorted((one for one in self.kept.values() if one.at > moment), key=lambda one: one.at, reverse=True)


class Chance:
    def new_id(self) -> UUID:
        return uuid4()


class Marks:
    def mark(self, purpose: str, /, *parts: bytes) -> bytes:
        return hashlib.sha256(purpose.encode() + b"".join(parts)).digest()


@dataclass
class Installation:
    """What an attempt needs of the unit of work; what raises is rolled back."""

    now: datetime = START
    sign_in_failures: Failures = field(default_factory=Failures)
    randomness: Chance = field(default_factory=Chance)
    pepper: Marks = field(default_factory=Marks)

    def attempt(self, network: str | None, *, is_known_device: bool = False) -> int | None:
        """Try, and fail; give the seconds to wait when that was one too many."""
        before = dict(self.sign_in_failures.kept)
        uow = cast("UnitOfWork", self)
        try:
            sign_in_failures.attempt(uow, ADDRESS, network, is_known_device=is_known_device)
        except RateLimitExceeded as refused:
            self.sign_in_failures.kept = before
            return refused.retry_after_seconds
        return None

    def counted(self, network: str | None = None) -> int:
        """Count what was compared within the last quarter of an hour."""
        recent = self.sign_in_failures.since(b"", self.now - WINDOW)
        return len([one for one in recent if network in {None, one.network}])


tries = st.lists(st.tuples(st.integers(0, 300), st.sampled_from(NETWORKS)), max_size=80)


@given(tries)
def test_never_more_than_ten_from_one_network_are_compared_in_any_quarter_of_an_hour(
    attempts: list[tuple[int, str]],
) -> None:
    installation = Installation()
    for seconds, network in attempts:
        installation.now += timedelta(seconds=seconds)
        refused = installation.attempt(network)

        assert installation.counted(network) <= FAILURES_FROM_NETWORK_MAX
        # And nobody is refused for whom there would have been room.
        assert (refused is None) or installation.counted(network) == FAILURES_FROM_NETWORK_MAX


@given(tries)
def test_whoever_waits_as_long_as_they_are_told_is_let_in_and_a_second_earlier_is_not(
    attempts: list[tuple[int, str]],
) -> None:
    installation = Installation()
    for seconds, network in attempts:
        installation.now += timedelta(seconds=seconds)
        wait = installation.attempt(network)
        if wait is not None:
            assert 1 <= wait <= WINDOW.total_seconds()
            installation.now += timedelta(seconds=wait - 1)
            assert wait == 1 or installation.attempt(network) == 1
            installation.now += timedelta(seconds=1)
            assert installation.attempt(network) is None


def test_never_more_than_a_hundred_are_compared_from_wherever_they_come() -> None:
    installation = Installation()
    waits: list[int | None] = []
    for number in range(FAILURES_FROM_ANYWHERE_MAX + 5):
        installation.now += timedelta(seconds=2)
        waits.append(installation.attempt(f"10.0.{number}.0/24"))

    assert waits[:FAILURES_FROM_ANYWHERE_MAX] == [None] * FAILURES_FROM_ANYWHERE_MAX
    # The first of the hundred came 200 seconds before the first that is refused.
    assert waits[FAILURES_FROM_ANYWHERE_MAX:] == [700, 698, 696, 694, 692]


def test_a_known_device_is_compared_all_the_same_and_then_counts() -> None:
    installation = Installation()
    for number in range(FAILURES_FROM_ANYWHERE_MAX):
        installation.attempt(f"10.0.{number}.0/24")

    assert installation.attempt("192.0.2.0/24", is_known_device=True) is None
    assert installation.counted() == FAILURES_FROM_ANYWHERE_MAX + 1


def test_of_two_limits_the_longer_wait_counts() -> None:
    installation = Installation()
    for number in range(FAILURES_FROM_ANYWHERE_MAX - FAILURES_FROM_NETWORK_MAX):
        installation.attempt(f"10.0.{number}.0/24")
    installation.now += timedelta(minutes=5)
    for _ in range(FAILURES_FROM_NETWORK_MAX):
        installation.attempt(NETWORKS[0])

    assert installation.attempt(NETWORKS[0]) == 15 * 60
    assert installation.attempt(NETWORKS[1]) == 10 * 60


def test_without_limits_attempts_are_written_down_and_never_refused() -> None:
    installation = Installation()

    assert {installation.attempt(None) for _ in range(FAILURES_FROM_ANYWHERE_MAX + 1)} == {None}
    assert installation.counted() == FAILURES_FROM_ANYWHERE_MAX + 1


@pytest.mark.parametrize("address", ["", "no address", "ä@example.com", "\ud800"])
def test_any_text_can_be_tried(address: str) -> None:
    sign_in_failures.attempt(cast("UnitOfWork", Installation()), address, NETWORKS[0], is_known_device=False)
