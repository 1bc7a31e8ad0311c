"""Randomness: ids that sort by their time of creation, and secrets of the required size."""

from __future__ import annotations

import base64
import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.crypto.randomness import SystemRandomness

MOMENT_MILLISECONDS = 1_770_091_506_789


def with_stopped_clock(milliseconds: int = MOMENT_MILLISECONDS) -> SystemRandomness:
    return SystemRandomness(lambda: milliseconds * 1_000_000)


def milliseconds_of(new_id: UUID) -> int:
    return new_id.int >> 80


def tail_of(new_id: UUID) -> int:
    return (new_id.int >> 64 & 0xFFF) << 62 | new_id.int & (1 << 62) - 1


def test_a_new_id_is_a_uuid_of_version_7() -> None:
    new_id = SystemRandomness().new_id()

    assert new_id.version == 7
    assert new_id.variant == "specified in RFC 4122"


def test_a_new_id_begins_with_the_milliseconds_of_its_creation() -> None:
    before = time.time_ns() // 1_000_000
    new_id = SystemRandomness().new_id()
    after = time.time_ns() // 1_000_000

    assert before <= milliseconds_of(new_id) <= after


def test_every_bit_after_the_time_is_random() -> None:
    tails = [tail_of(with_stopped_clock().new_id()) for _ in range(500)]

    ever_set, always_set = 0, -1
    for tail in tails:
        ever_set, always_set = ever_set | tail, always_set & tail
    # The topmost bit is reserved for the overflow of counting within a millisecond.
    assert ever_set == (1 << 73) - 1
    assert always_set == 0


def test_ids_of_one_millisecond_are_in_the_order_of_their_creation() -> None:
    randomness = with_stopped_clock()

    ids = [randomness.new_id() for _ in range(10_000)]

    assert ids == sorted(set(ids))
    assert {milliseconds_of(new_id) for new_id in ids} == {MOMENT_MILLISECONDS}


def test_the_next_id_cannot_be_guessed_by_counting() -> None:
    randomness = with_stopped_clock()

    tails = [tail_of(randomness.new_id()) for _ in range(1000)]

    assert len({later - earlier for earlier, later in pairwise(tails)}) == 999


@given(st.lists(st.integers(-5, 5), max_size=50))
def test_ids_are_in_the_order_of_their_creation_when_the_clock_is_changed(steps: list[int]) -> None:
    milliseconds = MOMENT_MILLISECONDS
    randomness = SystemRandomness(lambda: milliseconds * 1_000_000)
    ids: list[UUID] = []

    for step in steps:
        milliseconds += step
        ids.append(randomness.new_id())

    assert ids == sorted(set(ids))


def test_a_full_millisecond_overflows_into_the_next() -> None:
    randomness = with_stopped_clock()
    randomness.new_id()
    randomness._tail = (1 << 74) - 1

    new_id = randomness.new_id()

    assert milliseconds_of(new_id) == MOMENT_MILLISECONDS + 1
    assert new_id.version == 7
    assert randomness.new_id() > new_id


def test_an_id_is_greater_than_all_earlier_ids_of_other_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    randomness = with_stopped_clock()
    made: list[UUID] = [randomness.new_id()]
    randbits = secrets.randbits

    def randbits_after_other_threads(bits: int) -> int:
        time.sleep(0)
        return randbits(bits)

    def make(_: int) -> bool:
        made_before = max(made)
        new_id = randomness.new_id()
        made.append(new_id)
        return new_id > made_before

    monkeypatch.setattr(secrets, "randbits", randbits_after_other_threads)
    with ThreadPoolExecutor(4) as pool:
        are_greater = list(pool.map(make, range(500)))

    assert all(are_greater)
    assert len(set(made)) == 501


def test_the_id_of_an_account_is_random_and_tells_no_time() -> None:
    randomness = with_stopped_clock()

    ids = [randomness.new_account_id() for _ in range(500)]

    assert {account_id.version for account_id in ids} == {4}
    assert len({milliseconds_of(account_id) for account_id in ids}) == 500
    assert ids != sorted(ids)


def test_a_mail_token_is_a_uuid_of_version_4() -> None:
    randomness = SystemRandomness()

    token, other = randomness.mail_token().reveal(), randomness.mail_token().reveal()

    assert UUID(token).version == 4
    assert str(UUID(token)) == token
    assert token != other


def test_a_token_has_256_bits() -> None:
    randomness = SystemRandomness()

    token, other = randomness.token().reveal(), randomness.token().reveal()

    assert len(base64.urlsafe_b64decode(token + "=")) == 32
    assert token != other


@pytest.mark.parametrize("length", [0, 1, 8, 100])
def test_a_choice_has_the_given_length_and_characters(length: int) -> None:
    text = SystemRandomness().choice("BCDFGHJKLMNPQRSTVWXZ", length)

    assert len(text) == length
    assert set(text) <= set("BCDFGHJKLMNPQRSTVWXZ")


def test_a_choice_draws_every_character_about_equally_often() -> None:
    text = SystemRandomness().choice("abcde", 50_000)

    # Seven standard deviations, so chance alone fails it about once in 10^11 runs.
    assert all(abs(text.count(character) - 10_000) < 630 for character in "abcde")
