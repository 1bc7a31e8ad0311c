"""The arithmetic of browser sessions: when they end, and when a use is stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from core.secrets import Secret
from core.sessions import browser_sessions
from core.sessions.browser_sessions import (
    IDLE_LIFETIME,
    LONG_IDLE_LIFETIME,
    TOUCH_PERIOD,
    BrowserSession,
    end_of,
    form_token_of,
    kept,
    needs_upkeep,
)
from core.sessions.sessions import ABSOLUTE_LIFETIME

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
USER = UUID("0191d3c1-0000-7000-8000-00000000000a")
SESSION = BrowserSession(
    session_id=UUID("0191d3c1-0000-7000-8000-00000000000b"),
    user_id=USER,
    email="ada@example.com",
    organization_id=None,
    device_id=None,
    provider="password",
    amr=["pwd"],
    authenticated_at=NOW,
    used_at=NOW,
    created_at=NOW,
    stays_signed_in=False,
)

moments = st.timedeltas(min_value=timedelta(), max_value=timedelta(days=120))


@given(age=moments, stays_signed_in=st.booleans())
def test_a_use_moves_the_end_by_the_idle_time_and_never_beyond_ninety_days(
    age: timedelta, stays_signed_in: bool
) -> None:
    ends_at = end_of(NOW, stays_signed_in=stays_signed_in, at=NOW + age)

    assert ends_at <= NOW + ABSOLUTE_LIFETIME
    assert ends_at <= NOW + age + (LONG_IDLE_LIFETIME if stays_signed_in else IDLE_LIFETIME)
    assert ends_at in {NOW + ABSOLUTE_LIFETIME, NOW + age + IDLE_LIFETIME, NOW + age + LONG_IDLE_LIFETIME}


def test_a_use_is_stored_when_the_last_stored_one_is_old_or_the_organization_is_lost() -> None:
    assert not needs_upkeep(SESSION, at=NOW + TOUCH_PERIOD - timedelta(seconds=1))
    assert needs_upkeep(SESSION, at=NOW + TOUCH_PERIOD)
    assert needs_upkeep(replace(SESSION, has_lost_organization=True), at=NOW)


def test_a_sign_in_is_recent_for_a_period() -> None:
    assert SESSION.is_recent(timedelta(minutes=10), at=NOW + timedelta(minutes=10))
    assert not SESSION.is_recent(timedelta(minutes=10), at=NOW + timedelta(minutes=10, seconds=1))


def test_a_second_factor_counts_when_it_was_proved() -> None:
    assert not replace(SESSION, amr=["pwd", "trusted"]).has_proved_second_factor
    assert replace(SESSION, amr=["pwd", "otp", "mfa"]).has_proved_second_factor


def test_the_cookie_of_a_session_lasts_as_long_as_its_user_wants_to_stay_signed_in() -> None:
    assert kept(SESSION, "secret") == browser_sessions.BrowserCookie(secret=Secret("secret"), lifetime=None)
    assert kept(replace(SESSION, stays_signed_in=True), "secret").lifetime == LONG_IDLE_LIFETIME


def test_the_token_of_a_form_before_the_sign_in_depends_on_the_cookie_and_does_not_reveal_it() -> None:
    assert form_token_of("one") == form_token_of("one")
    assert form_token_of("one") != form_token_of("other")
    assert "one" not in form_token_of("one").reveal()
    assert form_token_of("\udc80").reveal()


def test_a_session_without_a_required_sign_in_goes_to_what_it_is_limited_to() -> None:
    organization, service, other = (UUID(int=number) for number in (1, 2, 3))
    limited = replace(SESSION, confined_to=organization, confined_to_service=service)
    lacking = replace(limited, lacks_required_connection=True)

    assert SESSION.goes_to(None, None)
    assert SESSION.goes_to(organization, service)
    assert not replace(SESSION, lacks_required_connection=True).goes_to(organization, service)
    assert limited.goes_to(None, None)
    assert not lacking.goes_to(None, None)
    for session in (limited, lacking):
        assert session.goes_to(organization, service)
        assert not session.goes_to(organization, other)
        assert not session.goes_to(other, None)
    assert [one.is_closed_to_account for one in (SESSION, limited, lacking)] == [False, False, True]
