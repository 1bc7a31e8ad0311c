"""Which tokens of a provider revoke, and which person they mean."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.errors import BadRequest
from core.sign_in.upstream.revocation.global_token_revocation import (
    RevocationToken,
    RevocationUnauthorized,
    RevokedSubject,
    judged,
    subject_of,
)

NOW = datetime(2026, 2, 3, tzinfo=UTC)
SECONDS = int(NOW.timestamp())
ISSUER, ADDRESS = "https://idp.example", "https://id.example/auth/upstream/1/global-token-revocation"
CLAIMS: dict[str, Any] = {"iss": ISSUER, "aud": ADDRESS, "jti": "one", "exp": SECONDS + 60}


@pytest.mark.parametrize(
    "changes", [{}, {"aud": [ADDRESS]}, {"iat": SECONDS, "nbf": SECONDS + 30}, {"iat": SECONDS - 300}]
)
def test_a_token_of_the_issuer_for_this_address_is_taken(changes: dict[str, Any]) -> None:
    token = judged({**CLAIMS, **changes}, issuer=ISSUER, audience=ADDRESS, at=NOW)

    assert token == RevocationToken(issuer=ISSUER, id="one", expires_at=NOW + timedelta(seconds=60))


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://other.example"},
        {"aud": [ADDRESS, "https://id.example"]},
        {"aud": "https://other.example/auth/upstream/1/global-token-revocation"},
        {"jti": None},
        {"jti": ""},
        {"jti": "a" * 201},
        {"jti": "\u0000"},
        {"exp": None},
        {"exp": True},
        {"exp": "soon"},
        {"exp": 1e30},
        {"exp": SECONDS - 180},
        {"exp": SECONDS + 481},
        {"nbf": SECONDS + 181},
        {"nbf": "now"},
        {"iat": SECONDS + 181},
        {"iat": SECONDS - 481},
    ],
)
def test_any_other_token_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(RevocationUnauthorized):
        judged({**CLAIMS, **changes}, issuer=ISSUER, audience=ADDRESS, at=NOW)


def test_a_person_is_meant_by_the_identity_or_by_the_address() -> None:
    identity = {"format": "iss_sub", "iss": ISSUER, "sub": "ada"}

    assert subject_of(identity) == RevokedSubject(issuer=ISSUER, subject="ada")
    assert subject_of({"format": "email", "email": "ada@example.org"}) == RevokedSubject(email="ada@example.org")


@pytest.mark.parametrize(
    "described",
    [
        {},
        {"format": "phone_number", "phone_number": "+12065550100"},
        {"format": "email"},
        {"format": "email", "email": ""},
        {"format": "iss_sub", "iss": ISSUER, "sub": "a" * 501},
    ],
)
def test_another_subject_is_named(described: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        subject_of(described)
