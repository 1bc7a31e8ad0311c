"""What the sessions and the sign-ins of a person say of the browser or program."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from core.sign_in.own_account import OwnSession
from core.sign_in.sign_ins import SignIn, SignInOutcome

NOW = datetime(2026, 2, 3, tzinfo=UTC)
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
AGENTS = [(FIREFOX, "Firefox"), ("something else", None), (None, None)]


@pytest.mark.parametrize(("user_agent", "browser"), AGENTS)
def test_a_session_names_its_browser(user_agent: str | None, browser: str | None) -> None:
    session = OwnSession(
        id=UUID(int=1),
        parent_id=None,
        provider="password",
        amr=["pwd"],
        created_at=NOW,
        last_used_at=NOW,
        expires_at=NOW,
        ip_address=None,
        user_agent=user_agent,
        device=None,
        host=None,
        is_browser=True,
        is_impersonation=False,
        organization=None,
        service=None,
        connection=None,
    )

    assert session.client.browser == browser


@pytest.mark.parametrize(("user_agent", "browser"), AGENTS)
def test_a_sign_in_names_its_browser(user_agent: str | None, browser: str | None) -> None:
    sign_in = SignIn(
        id=UUID(int=1),
        created_at=NOW,
        provider="password",
        outcome=SignInOutcome.SUCCESS,
        reason=None,
        reason_text=None,
        organization=None,
        service=None,
        connection=None,
        ip_address=None,
        user_agent=user_agent,
        device="",
        device_id=None,
        geo_country=None,
        geo_city=None,
        risk_score=0,
        risk_factors=[],
        request_id=None,
    )

    assert sign_in.client.browser == browser
