"""What is kept how long: never less than it counts for."""

from __future__ import annotations

from datetime import timedelta

from core.accounts import sign_in_failures
from core.platform.housekeeping import Leftover
from core.sessions.sessions import ABSOLUTE_LIFETIME, IDLE_LIFETIME
from core.sign_in.recognition import TOKEN_LIFETIME


def test_refused_attempts_are_kept_as_long_as_they_count() -> None:
    assert Leftover.SIGN_IN_FAILURES.kept_for == sign_in_failures.WINDOW


def test_what_is_used_within_a_while_is_kept_a_day_longer() -> None:
    for leftover in (Leftover.MFA_CHALLENGES, Leftover.PASSKEY_CHALLENGES, Leftover.DEVICE_TOKENS):
        assert leftover.kept_for == timedelta(days=1)


def test_a_session_can_be_seen_for_a_month_after_its_longest_life() -> None:
    assert Leftover.SESSIONS.kept_for == timedelta(days=30)
    assert IDLE_LIFETIME <= ABSOLUTE_LIFETIME


def test_a_device_is_kept_while_any_token_or_session_of_it_may_be_alive() -> None:
    assert Leftover.DEVICES.kept_for > max(TOKEN_LIFETIME, ABSOLUTE_LIFETIME)


def test_every_kind_has_a_name_of_its_own() -> None:
    assert len({leftover.value for leftover in Leftover}) == len(Leftover) == 7
