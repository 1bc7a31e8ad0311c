"""Backup codes: their form, how they may be typed, and that each works once."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.crypto.pepper import PEPPER_BYTES, HmacPepper
from adapters.crypto.randomness import SystemRandomness
from core.credentials import mfa
from core.credentials.mfa import ALPHABET, CODES_PER_SET
from ports.unit_of_work import UnitOfWork

ADA, GRACE = UUID(int=1), UUID(int=2)


class CodesInMemory:
    """The port `StoredBackupCodes`, without a database."""

    def __init__(self) -> None:
        self.unused: dict[UUID, set[bytes]] = {}

    def replace(self, user_id: UUID, code_hashes: Sequence[bytes], *, at: datetime) -> None:
        self.unused[user_id] = set(code_hashes)

    def use(self, user_id: UUID, code_hash: bytes, *, at: datetime) -> bool:
        unused = self.unused.get(user_id, set())
        is_there = code_hash in unused
        unused.discard(code_hash)
        return is_there

    def count_unused(self, user_id: UUID) -> int:
        return len(self.unused[user_id])


class EventsInMemory:
    """The port `MfaEvents`, without a database."""

    def __init__(self) -> None:
        self.written: list[tuple[str, dict[str, Any]]] = []

    def add(self, user_id: UUID, event_type: str, *, is_success: bool, details: dict[str, Any]) -> None:
        assert is_success
        self.written.append((event_type, details))


class RepeatingRandomness:
    """Draws every code twice."""

    def __init__(self) -> None:
        self._drawn: list[str] = []

    def choice(self, alphabet: str, length: int) -> str:
        self._drawn = self._drawn or [SystemRandomness().choice(alphabet, length)] * 2
        return self._drawn.pop()


def _pepper() -> HmacPepper:
    pepper = HmacPepper()
    pepper.load(bytes(PEPPER_BYTES))
    return pepper


@dataclass
class FakeUnitOfWork:
    """What these functions need of the unit of work."""

    now: datetime = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
    randomness: SystemRandomness | RepeatingRandomness = field(default_factory=SystemRandomness)
    pepper: HmacPepper = field(default_factory=_pepper)
    backup_codes: CodesInMemory = field(default_factory=CodesInMemory)
    mfa_events: EventsInMemory = field(default_factory=EventsInMemory)


def issue(uow: FakeUnitOfWork, user_id: UUID = ADA) -> list[str]:
    return [code.reveal() for code in mfa.issue_backup_codes(cast("UnitOfWork", uow), user_id)]


def use(uow: FakeUnitOfWork, typed: str, user_id: UUID = ADA) -> bool:
    code = mfa.normalized_backup_code(typed)
    assert code is not None
    return mfa.use_backup_code(cast("UnitOfWork", uow), user_id, code, is_new_device=False)


def test_a_set_has_ten_different_codes_of_two_groups_of_four() -> None:
    codes = issue(FakeUnitOfWork())

    assert len(codes) == len(set(codes)) == 10
    assert all(re.fullmatch(rf"[{ALPHABET}]{{4}}-[{ALPHABET}]{{4}}", code) for code in codes)


def test_the_alphabet_has_no_confusable_characters() -> None:
    assert len(ALPHABET) == len(set(ALPHABET)) == 30
    assert not set("0O1IL") & set(ALPHABET)
    assert ALPHABET.isupper()


def test_a_set_contains_no_code_twice_when_randomness_repeats() -> None:
    codes = issue(FakeUnitOfWork(randomness=RepeatingRandomness()))

    assert len(set(codes)) == CODES_PER_SET


def test_the_repr_of_codes_is_masked() -> None:
    codes = mfa.issue_backup_codes(cast("UnitOfWork", FakeUnitOfWork()), ADA)

    assert repr(codes) == f"({', '.join(['***'] * CODES_PER_SET)})"


def test_a_code_works_only_for_its_own_user() -> None:
    uow = FakeUnitOfWork()
    codes = issue(uow, ADA)
    # The same hashes, as if an attacker had copied the rows to another user.
    uow.backup_codes.unused[GRACE] = set(uow.backup_codes.unused[ADA])

    assert not any(use(uow, code, GRACE) for code in codes)
    assert all(use(uow, code, ADA) for code in codes)


def test_no_code_matches_its_hash_under_another_key() -> None:
    uow = FakeUnitOfWork()
    codes = issue(uow)
    uow.pepper = HmacPepper()
    uow.pepper.load(os.urandom(PEPPER_BYTES))

    assert not any(use(uow, code) for code in codes)


@given(
    code=st.text(ALPHABET, min_size=8, max_size=8),
    dash=st.sampled_from(["", "-", " - ", " ", "- "]),
    change_case=st.sampled_from([str.upper, str.lower, str.swapcase, str.title]),
)
def test_a_code_may_be_typed_in_any_case_with_or_without_its_dash(code: str, dash: str, change_case: Any) -> None:
    assert mfa.normalized_backup_code(change_case(f" {code[:4]}{dash}{code[4:]}\n")) == code


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "-",
        "123456",
        "ABCD-234",
        "ABCD-23456",
        "ABC-D2345",
        "ABCD--2345",
        "ABCD_2345",
        "ÄBCD-2345",
        "\uff21\uff22\uff23\uff24-2345",
    ],
)
def test_text_without_the_form_of_a_code_normalizes_to_none(typed: str) -> None:
    assert mfa.normalized_backup_code(typed) is None


@given(st.text())
def test_any_text_normalizes_to_eight_characters_or_none(typed: str) -> None:
    code = mfa.normalized_backup_code(typed)

    assert code is None or re.fullmatch(r"[0-9A-Z]{8}", code)


@given(tries=st.lists(st.integers(0, CODES_PER_SET - 1), max_size=30))
def test_each_code_works_once_in_any_order(tries: list[int]) -> None:
    uow = FakeUnitOfWork()
    codes = issue(uow)
    seen: set[int] = set()

    for index in tries:
        assert use(uow, codes[index].lower()) is (index not in seen)
        seen.add(index)

    remaining = [details["remaining"] for event, details in uow.mfa_events.written if event == "backup_code_used"]
    assert remaining == [CODES_PER_SET - 1 - used for used in range(len(seen))]


def test_a_new_set_invalidates_the_previous_one() -> None:
    uow = FakeUnitOfWork()
    before = issue(uow)
    after = issue(uow)

    assert not any(use(uow, code) for code in before)
    assert all(use(uow, code) for code in after)
