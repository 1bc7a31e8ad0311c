"""What a proof of possession must say about the request that it is for."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from core.openid.dpop import DpopProof, SelfSigned, judged_proof
from core.openid.refusals import ProofInvalid, ProofUnauthorized, TokenBound

NOW = datetime(2026, 2, 3, tzinfo=UTC)
URL = "https://id.example.com/auth/token"
# The hash of the access token `token`.
ATH = "PEaenWxYddN6Q_NT1PiOYfz4EsZu7jRXRlpAsNpBU-A"
CLAIMS: dict[str, Any] = {"jti": "one", "htm": "POST", "htu": URL, "iat": int(NOW.timestamp())}


def judge(changes: dict[str, Any], *, access_token: str | None = None) -> DpopProof:
    return judged_proof(
        SelfSigned(key_thumbprint="t", algorithm="ES256", claims=CLAIMS | changes),
        method="POST",
        url=URL,
        access_token=access_token,
        at=NOW,
    )


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"htu": "https://ID.example.com:443/auth/token?x=1#y"},
        {"iat": int(NOW.timestamp()) - 299},
        {"nonce": "n"},
    ],
)
def test_a_proof_for_this_request_is_taken(changes: dict[str, Any]) -> None:
    assert judge(changes).id == "one"
    assert judge(changes).nonce == changes.get("nonce")


@pytest.mark.parametrize(
    "changes",
    [
        {"jti": None},
        {"jti": "x" * 201},
        {"htm": "GET"},
        {"htu": "https://id.example.com/auth/revoke"},
        {"htu": "http://id.example.com/auth/token"},
        {"htu": "https://[id.example.com/auth/token"},
        {"htu": None},
        {"iat": None},
        {"iat": float(NOW.timestamp())},
        {"iat": int(NOW.timestamp()) + 301},
        {"iat": int(NOW.timestamp()) - 301},
        {"iat": 10**310},
        {"iat": -(10**310)},
        {"nbf": "now"},
        {"nbf": True},
        {"nbf": None},
    ],
)
def test_a_proof_for_another_request_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ProofInvalid):
        judge(changes)


def test_a_proof_with_an_access_token_names_its_hash() -> None:
    assert judge({"ath": ATH}, access_token="token").is_of_access_token
    with pytest.raises(ProofUnauthorized):
        judge({"ath": "other"}, access_token="token")


def test_an_address_of_ipv6_is_compared_with_its_brackets() -> None:
    signed = SelfSigned(key_thumbprint="t", algorithm="ES256", claims=CLAIMS | {"htu": "http://[::1]:8000/x"})

    assert judged_proof(signed, method="POST", url="http://[::1]:8000/x", access_token=None, at=NOW)


def test_the_refusal_of_a_bound_token_names_the_algorithms_of_proofs() -> None:
    assert TokenBound(("ES256", "PS256")).algorithms == ("ES256", "PS256")
