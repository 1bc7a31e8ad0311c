"""The positions of the list of users, and what a recorded session says of its client."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from core.platform.user_records import RecordedSession
from core.platform.users import UserPosition, position_of
from core.positions import Position

USER_ID = UUID("0191d3c1-0000-7000-8000-00000000000f")
MOMENT = datetime(2026, 2, 3, tzinfo=UTC)


def test_a_position_is_read_as_it_is_written() -> None:
    for position in (UserPosition(email="a_b@example.com"), UserPosition(account=Position(at=MOMENT, id=USER_ID))):
        assert position_of(str(position)) == position


def test_a_damaged_position_is_the_begin() -> None:
    for text in ("", "x", "address_", "account_", "account_x", f"account_{USER_ID}", f"id_{USER_ID}"):
        assert position_of(text) == UserPosition()


def test_a_session_says_what_its_browser_is() -> None:
    at = datetime(2026, 2, 3, tzinfo=UTC)
    session = RecordedSession(
        id=USER_ID,
        provider="password",
        amr=["pwd"],
        created_at=at,
        last_used_at=at,
        expires_at=at,
        ip_address=None,
        geo_country=None,
        geo_city=None,
        user_agent="Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
        is_impersonation=False,
        organization=None,
        service=None,
    )

    assert (session.client.browser, session.client.os) == ("Firefox", "Linux")
