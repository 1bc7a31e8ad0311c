"""How long expired rows are kept: never less than they have an effect."""

from __future__ import annotations

from datetime import timedelta

from core.accounts import sign_in_failures
from core.billing.checkout import REPEATABLE_FOR
from core.billing.sandbox import SESSION_LIFETIME
from core.platform.housekeeping import Leftover
from core.sessions.sessions import ABSOLUTE_LIFETIME, IDLE_LIFETIME
from core.sign_in.recognition import TOKEN_LIFETIME


def test_failed_sign_ins_are_kept_as_long_as_they_count() -> None:
    assert Leftover.SIGN_IN_FAILURES.kept_for == sign_in_failures.WINDOW


def test_challenges_and_device_tokens_are_kept_for_a_day_after_their_expiry() -> None:
    for leftover in (Leftover.MFA_CHALLENGES, Leftover.PASSKEY_CHALLENGES, Leftover.DEVICE_TOKENS):
        assert leftover.kept_for == timedelta(days=1)


def test_a_session_is_kept_for_a_month_after_its_maximum_lifetime() -> None:
    assert Leftover.SESSIONS.kept_for == timedelta(days=30)
    assert IDLE_LIFETIME <= ABSOLUTE_LIFETIME


def test_a_device_is_kept_longer_than_any_token_or_session_of_it() -> None:
    assert Leftover.DEVICES.kept_for > max(TOKEN_LIFETIME, ABSOLUTE_LIFETIME)


def test_a_checkout_is_kept_longer_than_it_can_be_taken_up_and_its_page_is_open() -> None:
    assert Leftover.BILLING_CHECKOUTS.kept_for > max(REPEATABLE_FOR, SESSION_LIFETIME)


def test_every_kind_of_leftover_has_a_unique_name() -> None:
    assert len({leftover.value for leftover in Leftover}) == len(Leftover) == 42
