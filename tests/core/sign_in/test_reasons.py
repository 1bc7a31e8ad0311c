"""The vocabulary of why sign-ins are refused."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from core.accounts.users import User
from core.sign_in.reasons import (
    FAILED_ATTEMPTS,
    ROWS_MAX,
    ROWS_OF_LIMIT_MAX,
    SignInReason,
    reason_of,
    reason_of_account,
)
from tests.documents import ROOT


def test_each_reason_is_explained_in_the_manual_as_the_interface_explains_it() -> None:
    text = (ROOT / "ops/docs/sign-in-problems.md").read_text()

    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE)

    assert rows == [(str(reason), reason.text) for reason in SignInReason]


def test_a_text_is_one_or_two_sentences() -> None:
    assert [reason for reason in SignInReason if not re.fullmatch(r"[A-Z].{10,170}\.", reason.text)] == []


def test_a_stored_reason_is_found_by_its_value() -> None:
    assert reason_of("wrong_password") is SignInReason.WRONG_PASSWORD
    assert reason_of("of_a_later_version") is None
    assert reason_of(None) is None


def test_a_locked_account_is_told_from_a_deactivated_one() -> None:
    now = datetime(2026, 2, 3, tzinfo=UTC)
    ada = User(
        id=UUID(int=1),
        email="ada@example.org",
        email_verified_at=now,
        is_platform_owner=False,
        created_at=now,
        updated_at=now,
    )

    assert reason_of_account(ada) is None
    assert reason_of_account(replace(ada, locked_at=now)) is SignInReason.LOCKED
    assert reason_of_account(replace(ada, locked_at=now, deactivated_at=now)) is SignInReason.DEACTIVATED


def test_what_is_asked_and_what_was_proved_raises_no_risk() -> None:
    assert SignInReason.WRONG_PASSWORD in FAILED_ATTEMPTS
    assert SignInReason.SECOND_FACTOR_ASKED not in FAILED_ATTEMPTS
    assert SignInReason.NOT_A_MEMBER not in FAILED_ATTEMPTS


def test_a_reached_limit_is_recorded_once() -> None:
    assert (SignInReason.TOO_MANY_FAILURES.rows_max, SignInReason.WRONG_PASSWORD.rows_max) == (
        ROWS_OF_LIMIT_MAX,
        ROWS_MAX,
    )


def test_events_name_less_precise_reasons() -> None:
    assert SignInReason.NO_PASSWORD.published is SignInReason.WRONG_PASSWORD
    assert SignInReason.CLOSED.published is SignInReason.CLOSED
