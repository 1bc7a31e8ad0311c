"""What an assertion of a client must say about itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from core.openid.clients import ClientAssertion, PresentedClient, judged_assertion
from core.openid.refusals import ClientInvalid
from core.secrets import Secret

CLIENT = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")
NOW = datetime(2026, 2, 3, tzinfo=UTC)
SERVER: dict[str, Any] = {"issuer": "https://id.example.com", "endpoints": {"https://id.example.com/auth/token"}}
CLAIMS: dict[str, Any] = {
    "iss": str(CLIENT),
    "sub": str(CLIENT),
    "aud": "https://id.example.com",
    "jti": "one",
    "exp": int(NOW.timestamp()) + 60,
}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"aud": ["https://id.example.com"]},
        {"aud": "https://id.example.com/auth/token"},
        {"exp": NOW.timestamp() + 3600},
        {"iat": NOW.timestamp()},
    ],
)
def test_an_assertion_for_this_server_and_time_is_taken(changes: dict[str, Any]) -> None:
    judged = judged_assertion(CLAIMS | changes, CLIENT, **SERVER, at=NOW)

    assert judged.id == "one"
    assert NOW < judged.expires_at <= NOW + timedelta(hours=1)
    assert isinstance(judged, ClientAssertion)


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "other"},
        {"sub": "other"},
        {"aud": "https://other.example.com"},
        {"aud": []},
        {"aud": {}},
        {"aud": "https://id.example.com/auth/par"},
        {"aud": ["https://id.example.com/auth/token"]},
        {"aud": ["https://id.example.com", "https://id.example.com/auth/token"]},
        {"aud": None},
        {"aud": ["https://id.example.com", "https://other.example.com"]},
        {"jti": None},
        {"jti": ""},
        {"jti": "x" * 201},
        {"jti": 7},
        {"exp": None},
        {"exp": True},
        {"exp": "soon"},
        {"exp": 1e400},
        {"exp": NOW.timestamp() - 60},
        {"exp": NOW.timestamp() + 3601},
        {"nbf": NOW.timestamp() + 60},
        {"nbf": "then"},
        {"iat": NOW.timestamp() + 60},
    ],
)
def test_an_assertion_for_another_server_or_time_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ClientInvalid):
        judged_assertion(CLAIMS | changes, CLIENT, **SERVER, at=NOW)


def test_clients_are_counted_by_what_they_prove() -> None:
    named, secret = PresentedClient(client_id=CLIENT), PresentedClient(client_id=CLIENT, secret=Secret("s"))
    guessed = PresentedClient(client_id=CLIENT, secret=Secret("t"))
    asserted = PresentedClient(client_id=CLIENT, assertion=ClientAssertion(id="one", expires_at=NOW))

    assert [one.authenticates for one in (named, secret, asserted)] == [False, True, True]
    assert len({one.limited_as for one in (secret, guessed, asserted)}) == 3
