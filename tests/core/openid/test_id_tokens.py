"""What an ID token says, by the scopes that were granted."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from core.openid import id_tokens, scopes
from core.openid.logout import EVENT, LogoutNotice
from core.openid.token_grants import IssuedTokens
from core.secrets import Secret
from core.sessions.client_grants import ClientGrant
from core.sessions.tokens import TokenGrant

ID = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")
CLAIMS: dict[str, Any] = {"sub": "user", "sid": "session", "amr": ["pwd"], "auth_time": 1, "email": "ada@example.com"}


def issued(*granted: str, amr: tuple[str, ...] = ("pwd",), nonce: str | None = None) -> IssuedTokens:
    grant = TokenGrant(
        user_id=ID,
        session_id=ID,
        client_id=ID,
        claims=CLAIMS | {"amr": list(amr)},
        session_expires_at=datetime(2026, 2, 3, tzinfo=UTC),
        refresh_token=Secret("r"),
        client_grant=ClientGrant(scopes=granted) if granted else None,
    )
    return IssuedTokens(grant=grant, nonce=nonce)


def test_it_says_who_signed_in_when_and_how() -> None:
    claims = id_tokens.claims_of(issued("openid", nonce="n"), "token")

    assert claims == {
        "sub": "user",
        "sid": "session",
        "amr": ["pwd"],
        "auth_time": 1,
        "aud": str(ID),
        "acr": scopes.ONE_FACTOR,
        # The left half of the hash of the access token, in base64url.
        "at_hash": "PEaenWxYddN6Q_NT1PiOYQ",
        "nonce": "n",
    }


def test_the_address_is_in_it_for_the_scopes_that_open_it() -> None:
    email = id_tokens.claims_of(issued("openid", "email"), "token")
    profile = id_tokens.claims_of(issued("openid", "profile"), "token")

    assert (email["email"], email["email_verified"], "preferred_username" in email) == ("ada@example.com", True, False)
    assert (profile["preferred_username"], "email" in profile) == ("ada@example.com", False)
    assert "email" not in id_tokens.claims_of(issued(), "token")


def test_two_factors_are_a_class_of_their_own() -> None:
    assert id_tokens.claims_of(issued("openid", amr=("pwd", "otp", "mfa")), "token")["acr"] == scopes.TWO_FACTORS


def test_it_is_due_with_the_scope_openid() -> None:
    assert id_tokens.is_due(["openid"])
    assert not id_tokens.is_due(["email"])


def test_a_logout_token_names_the_session_and_the_event() -> None:
    notice = LogoutNotice(id=ID, session_id=ID, user_id=ID, attempt_count=0)

    assert notice.claims(ID) == {"sub": str(ID), "sid": str(ID), "aud": str(ID), "events": {EVENT: {}}}
