"""The schedule of attempts, and the secrets that sign them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.attempts import ATTEMPTS_MAX, JITTER, RETRY_DELAYS, Attempt
from core.secrets import Secret
from core.webhooks.deliveries import DueDelivery, outcome_of
from core.webhooks.webhooks import SigningSecrets

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
FAILED = Attempt(status_code=500, body="", error="The receiver answered 500.")


def due(attempt_count: int, number: int = 1) -> DueDelivery:
    """Return a delivery after that many attempts."""
    return DueDelivery(id=UUID(int=number), payload={"id": "e"}, attempt_count=attempt_count, queued_at=NOW)


def test_the_delays_are_those_of_the_schedule() -> None:
    minutes = [delay / timedelta(minutes=1) for delay in RETRY_DELAYS]

    assert (minutes, ATTEMPTS_MAX) == ([1, 5, 30, 120], 5)


@given(st.integers(0, 3), st.integers(0, 2**128 - 1))
def test_a_failed_attempt_is_followed_by_another_after_the_delay_give_or_take_a_tenth(made: int, number: int) -> None:
    outcome = outcome_of(due(made, number), FAILED, at=NOW)

    assert outcome.attempt_count == made + 1
    assert outcome.next_retry_at is not None
    factor = (outcome.next_retry_at - NOW) / RETRY_DELAYS[made]
    assert 1 - JITTER <= factor <= 1 + JITTER


def test_the_message_id_is_the_id_of_the_event() -> None:
    assert due(0).message_id == "e"


def test_deliveries_that_failed_together_are_retried_at_different_times() -> None:
    assert len({outcome_of(due(0, number), FAILED, at=NOW).next_retry_at for number in range(100)}) == 100


def test_the_fifth_attempt_is_the_last() -> None:
    assert outcome_of(due(4), FAILED, at=NOW).next_retry_at is None


@pytest.mark.parametrize(("status", "is_over"), [(200, True), (204, True), (299, True), (410, True)])
@pytest.mark.parametrize("made", range(5))
def test_a_success_and_a_receiver_that_is_gone_end_a_delivery(made: int, status: int, is_over: bool) -> None:
    outcome = outcome_of(due(made), Attempt(status_code=status, body="", error=None), at=NOW)

    assert (outcome.next_retry_at is None) is is_over


@pytest.mark.parametrize("status", [100, 199, 300, 301, 304, 400, 404, 500, None])
def test_every_other_answer_is_a_failure(status: int | None) -> None:
    attempt = Attempt(status_code=status, body=None, error="x")

    assert not attempt.is_success
    assert outcome_of(due(0), attempt, at=NOW).next_retry_at is not None


def test_after_a_rotation_both_secrets_sign_for_a_day() -> None:
    new, old = Secret("whsec_new"), Secret("whsec_old")
    rotated = SigningSecrets(current=new, previous=old, previous_until=NOW)

    assert rotated.at(NOW - timedelta(seconds=1)) == [new, old]
    assert rotated.at(NOW) == [new]
    assert SigningSecrets(current=new).at(NOW) == [new]
