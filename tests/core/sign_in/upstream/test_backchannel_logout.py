"""Which logout tokens of a provider are taken (OpenID Connect Back-Channel Logout 1.0, 2.6)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from core.sign_in.upstream.revocation.backchannel_logout import (
    EVENT,
    LogoutIssuer,
    LogoutToken,
    LogoutTokenRefused,
    judged,
)

NOW = datetime(2026, 2, 3, tzinfo=UTC)
SECONDS = int(NOW.timestamp())
ISSUER = LogoutIssuer(organization_id=UUID(int=1), issuer="https://idp.example", client_id="gatehouse")
CLAIMS: dict[str, Any] = {
    "iss": "https://idp.example",
    "aud": "gatehouse",
    "iat": SECONDS,
    "exp": SECONDS + 120,
    "jti": "one",
    "events": {EVENT: {}},
    "sub": "ada",
    "sid": "session",
}


def without(*names: str) -> dict[str, Any]:
    """Return the claims without these."""
    return {name: value for name, value in CLAIMS.items() if name not in names}


@pytest.mark.parametrize("kind", [None, "JWT", "logout+jwt", "application/logout+jwt"])
def test_a_token_for_us_is_taken_by_whatever_it_may_call_itself(kind: str | None) -> None:
    token = judged(CLAIMS, kind, ISSUER, at=NOW)

    assert token == LogoutToken(
        issuer="https://idp.example", client_id="gatehouse", id="one", subject="ada", session_id="session"
    )


@pytest.mark.parametrize(
    "claims",
    [
        without("sub"),
        without("sid"),
        without("exp"),
        {**CLAIMS, "aud": ["another", "gatehouse"]},
        {**CLAIMS, "events": {EVENT: {}, "https://other.example": {}}},
    ],
)
def test_what_the_protocol_leaves_open_is_taken(claims: dict[str, Any]) -> None:
    assert judged(claims, None, ISSUER, at=NOW).id == "one"


@pytest.mark.parametrize("kind", ["at+jwt", "id_token", 7, ["logout+jwt"]])
def test_a_token_of_another_kind_is_refused(kind: Any) -> None:
    with pytest.raises(LogoutTokenRefused):
        judged(CLAIMS, kind, ISSUER, at=NOW)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"iss": "https://other.example"}, "other_issuer"),
        ({"aud": "another"}, "other_audience"),
        ({"aud": None}, "other_audience"),
        ({"events": None}, "no_logout"),
        ({"events": {"https://other.example": {}}}, "no_logout"),
        ({"events": {EVENT: True}}, "no_logout"),
        ({"nonce": None}, "nonce"),
        ({"nonce": "n"}, "nonce"),
        ({"jti": None}, "no_id"),
        ({"jti": ""}, "no_id"),
        ({"jti": "x" * 201}, "no_id"),
        ({"jti": "\ud800"}, "no_id"),
        ({"iat": None}, "not_valid_yet"),
        ({"iat": True}, "not_valid_yet"),
        ({"iat": 1e30}, "not_valid_yet"),
        ({"iat": SECONDS + 181}, "not_valid_yet"),
        ({"iat": SECONDS - 781, "exp": SECONDS + 60}, "expired"),
        ({"exp": SECONDS - 180}, "expired"),
        ({"exp": "soon"}, "expired"),
        ({"sub": 7}, "no_subject"),
        ({"sub": ""}, "no_subject"),
        ({"sub": "x" * 256}, "no_subject"),
        ({"sub": "ada\0"}, "no_subject"),
        ({"sub": "\ud800"}, "no_subject"),
        ({"sid": ""}, "no_session"),
        ({"sid": "x" * 257}, "no_session"),
    ],
)
def test_any_other_token_is_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(LogoutTokenRefused) as refused:
        judged({**CLAIMS, **changes}, "logout+jwt", ISSUER, at=NOW)

    assert refused.value.reason == reason


def test_a_token_that_names_no_user_or_session_is_refused() -> None:
    with pytest.raises(LogoutTokenRefused) as refused:
        judged(without("sub", "sid"), None, ISSUER, at=NOW)

    assert refused.value.reason == "no_subject_or_session"
