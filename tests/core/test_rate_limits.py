"""Rate limits: their table, and the laws of a token bucket."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.rate_limits import SIGN_IN_PATHS, Bucket, RateLimit, Share

# The number of requests, in this many seconds, and the burst.
DOCUMENTED = {
    RateLimit.SIGN_IN_GROUP: (1, 1, 20),
    RateLimit.DEVICE_FLOW: (1, 5, 10),
    RateLimit.MFA_SETUP: (1, 300, 5),
    RateLimit.MFA_VERIFICATION: (1, 1, 3),
    RateLimit.BILLING_RECEIVER: (1000, 60, 100),
    RateLimit.REGISTER: (10, 60, 10),
    RateLimit.LOGIN: (10, 60, 10),
    RateLimit.FORGOT_PASSWORD: (5, 60, 5),
    RateLimit.RESEND_VERIFICATION: (3, 60, 3),
    RateLimit.MFA_SETUP_ENDPOINT: (5, 300, 5),
    RateLimit.IMPERSONATION: (10, 60, 10),
    RateLimit.REFUSED_CREDENTIAL: (6, 1, 60),
    RateLimit.SIGNED_IN: (20, 1, 100),
}

limits = st.sampled_from(RateLimit)
# The monotonic clock of a machine that has been up for three years.
starts = st.floats(min_value=0, max_value=1e8)
# Pauses as clients make them: none, short ones, and whole seconds as Retry-After requests.
pauses = st.lists(
    st.one_of(st.just(0.0), st.floats(min_value=0, max_value=700), st.integers(0, 700).map(float)), max_size=200
)


FULL = Bucket(0.0)


class Tried(NamedTuple):
    """A request: its time, and whether it was granted."""

    at: float
    is_granted: bool


def tries(limit: RateLimit, start: float, pauses: list[float], bucket: Bucket = FULL) -> list[Tried]:
    now, tried = start, list[Tried]()
    for pause in pauses:
        now += pause
        taken = bucket.take(limit, now)
        tried.append(Tried(now, taken is not None))
        bucket = taken or bucket
    return tried


def remaining(bucket: Bucket, share: Share, now: float) -> int:
    """Return how many requests a bucket grants at once."""
    granted = 0
    while (taken := bucket.take(share, now)) is not None:
        bucket, granted = taken, granted + 1
    return granted


def emptied(limit: RateLimit, now: float) -> Bucket:
    bucket = FULL
    while (taken := bucket.take(limit, now)) is not None:
        bucket = taken
    return bucket


@pytest.mark.parametrize("limit", DOCUMENTED)
def test_the_limits_are_the_documented_ones(limit: RateLimit) -> None:
    requests, seconds, burst = DOCUMENTED[limit]

    assert limit.seconds_per_request * requests == pytest.approx(seconds)
    assert limit.burst == burst


def test_limits_with_equal_numbers_are_different_limits() -> None:
    assert RateLimit.REGISTER is not RateLimit.LOGIN
    assert len({id(limit) for limit in RateLimit}) == len(RateLimit.__members__)


def test_the_group_of_sign_in_paths_is_the_documented_one() -> None:
    assert SIGN_IN_PATHS == ("/auth/", "/api/auth/")


def test_one_process_grants_the_limit_and_several_divide_it_rounded_up() -> None:
    for limit in RateLimit:
        assert limit.share(1) == Share(seconds_per_request=limit.seconds_per_request, burst=limit.burst), limit
        for processes in range(2, 21):
            share = limit.share(processes)
            assert limit.burst <= processes * share.burst < limit.burst + processes, (limit, processes)
            assert share.seconds_to_refill == pytest.approx(limit.seconds_to_refill)

    # Ten in a minute.
    assert RateLimit.LOGIN.share(4) == Share(seconds_per_request=20.0, burst=3)
    assert RateLimit.LOGIN.share(20) == Share(seconds_per_request=60.0, burst=1)


def test_a_bucket_is_as_full_as_before_when_the_number_of_processes_changes() -> None:
    limit, now = RateLimit.LOGIN, 100.0
    half = Bucket(full_at=now + limit.seconds_to_refill / 2)

    granted = [remaining(half, limit.share(processes), now) for processes in (1, 2, 5)]

    assert granted == [5, 2, 1]


def test_after_its_burst_a_bucket_grants_a_request_for_each_interval() -> None:
    # One request in five seconds, ten at once.
    bucket = emptied(RateLimit.DEVICE_FLOW, now=100.0)

    assert bucket == Bucket(full_at=150.0)
    assert bucket.take(RateLimit.DEVICE_FLOW, now=104.0) is None
    assert bucket.retry_after_seconds(RateLimit.DEVICE_FLOW, now=104.0) == 1
    assert bucket.retry_after_seconds(RateLimit.DEVICE_FLOW, now=100.5) == 5
    assert bucket.take(RateLimit.DEVICE_FLOW, now=105.0) == Bucket(full_at=155.0)
    assert bucket.take(RateLimit.DEVICE_FLOW, now=500.0) == Bucket(full_at=505.0)


@given(limits, starts)
def test_a_full_bucket_grants_its_burst_at_once_and_no_more(limit: RateLimit, start: float) -> None:
    granted = [tried.is_granted for tried in tries(limit, start, [0.0] * (limit.burst + 1))]

    assert granted == [True] * limit.burst + [False]


@given(limits, starts, pauses)
def test_a_bucket_never_grants_more_than_burst_plus_rate_times_time(
    limit: RateLimit, start: float, pauses: list[float]
) -> None:
    granted_at = [tried.at for tried in tries(limit, start, pauses) if tried.is_granted]

    for first, begin in enumerate(granted_at):
        for last, end in enumerate(granted_at[first:], start=first):
            # A request is granted at most a thousandth of its interval early, because of float rounding.
            allowed = limit.burst + (end - begin) / limit.seconds_per_request + 0.001
            assert last - first + 1 <= allowed


@given(limits, starts)
def test_an_unused_bucket_is_full_again(limit: RateLimit, start: float) -> None:
    rested_at = start + limit.seconds_to_refill

    granted = [tried.is_granted for tried in tries(limit, rested_at, [0.0] * limit.burst, emptied(limit, start))]

    assert granted == [True] * limit.burst


@given(limits, starts, st.floats(min_value=0, max_value=0.99))
def test_the_next_request_is_granted_after_the_retry_after_of_a_refusal(
    limit: RateLimit, start: float, intervals: float
) -> None:
    bucket = emptied(limit, start)
    now = start + intervals * limit.seconds_per_request
    assume(bucket.take(limit, now) is None)

    seconds = bucket.retry_after_seconds(limit, now)

    assert bucket.take(limit, now + seconds) is not None


@given(limits, starts, st.floats(min_value=0, max_value=700))
def test_the_retry_after_is_not_longer_than_needed(limit: RateLimit, start: float, waited: float) -> None:
    bucket = emptied(limit, start)
    now = start + waited

    seconds = bucket.retry_after_seconds(limit, now)

    # One millisecond allows for float rounding.
    assert seconds == 1 or bucket.take(limit, now + seconds - 1.001) is None
