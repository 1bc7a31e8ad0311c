"""What a security profile demands at the endpoints of OAuth; a client without one passes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from core.errors import BadRequest, TokenInvalid
from core.openid import clients
from core.openid.dpop import DpopProof
from core.openid.logout import LeasedService
from core.openid.refusals import ClientInvalid, GrantInvalid, ProofInvalid, WayUnauthorized
from core.secrets import Secret
from core.sessions import security_profiles
from core.sessions.security_profiles import OtherWayRefused, SecurityProfile, SignatureAlgorithm

FAPI2 = SecurityProfile.FAPI2
NOW = datetime(2026, 2, 3, tzinfo=UTC)
ISSUER = "https://id.example.com"
PROOF = DpopProof(
    key_thumbprint="t", algorithm="ES256", valid_from=NOW.timestamp(), id="one", nonce=None, is_of_access_token=False
)
RSA = {"kty": "RSA", "n": "AAAA", "e": "AQAB"}


def test_assertions_are_signed_by_two_algorithms_with_the_profile_and_by_any_without() -> None:
    assert clients.assertion_algorithms(FAPI2) == {"ES256", "PS256"}
    assert clients.assertion_algorithms(None) is None


@pytest.mark.parametrize("audience", [[ISSUER], f"{ISSUER}/auth/token", f"{ISSUER}/", None, {ISSUER: 1}])
def test_an_assertion_names_the_issuer_alone(audience: Any) -> None:
    clients.require_assertion(FAPI2, {"aud": ISSUER}, ISSUER)
    clients.require_assertion(None, {"aud": audience}, ISSUER)

    with pytest.raises(ClientInvalid):
        clients.require_assertion(FAPI2, {"aud": audience}, ISSUER)


@pytest.mark.parametrize(
    ("profile", "chosen", "signing"), [(None, "RS256", "RS256"), (None, "ES256", "ES256"), (FAPI2, "RS256", "ES256")]
)
def test_a_logout_token_is_signed_as_the_other_tokens_of_its_service(
    profile: SecurityProfile | None, chosen: str, signing: str
) -> None:
    leased = LeasedService(
        id=uuid4(),
        organization_id=uuid4(),
        client_id=uuid4(),
        uri=None,
        leased_until=NOW,
        notices=[],
        security_profile=profile,
        token_signing=chosen,
    )

    assert leased.signature_algorithm.value == signing


def test_a_secret_authenticates_only_without_the_profile() -> None:
    clients.require_no_secret(None, Secret("s"))
    clients.require_no_secret(FAPI2, None)

    with pytest.raises(ClientInvalid, match="private_key_jwt"):
        clients.require_no_secret(FAPI2, Secret("s"))


@pytest.mark.parametrize(
    ("profile", "is_confidential", "is_required"),
    [(None, True, False), (None, False, True), (FAPI2, True, True), (FAPI2, False, True)],
)
def test_a_challenge_is_required_of_public_clients_and_with_the_profile(
    profile: SecurityProfile | None, is_confidential: bool, is_required: bool
) -> None:
    assert clients.requires_challenge(profile, is_confidential=is_confidential) is is_required


def test_only_codes_with_pkce_are_exchanged_and_no_other_grant() -> None:
    clients.require_code_grant(None)
    clients.require_challenged(None, None)
    clients.require_challenged(FAPI2, "challenge")

    with pytest.raises(WayUnauthorized):
        clients.require_code_grant(FAPI2)
    with pytest.raises(GrantInvalid):
        clients.require_challenged(FAPI2, None)


@pytest.mark.parametrize("algorithm", ["ES256", "PS256"])
@pytest.mark.parametrize("seconds", [-300, 0, 10, 30])
def test_a_proof_of_the_present_by_an_algorithm_of_the_profile_is_taken(algorithm: str, seconds: int) -> None:
    proof = replace(PROOF, algorithm=algorithm, valid_from=NOW.timestamp() + seconds)

    clients.require_proof(FAPI2, proof, at=NOW)
    clients.require_proof_if_any(FAPI2, proof, at=NOW)


@pytest.mark.parametrize(
    "proof",
    [
        replace(PROOF, algorithm="RS256"),
        replace(PROOF, algorithm="EdDSA"),
        replace(PROOF, valid_from=NOW.timestamp() + 31),
        replace(PROOF, valid_from=NOW.timestamp() + 61),
    ],
)
def test_any_other_proof_is_refused_with_the_profile(proof: DpopProof) -> None:
    clients.require_proof(None, proof, at=NOW)

    for require in (clients.require_proof, clients.require_proof_if_any):
        with pytest.raises(ProofInvalid):
            require(FAPI2, proof, at=NOW)


def test_a_pushed_request_may_come_without_a_proof_and_a_request_for_tokens_not() -> None:
    clients.require_proof_if_any(FAPI2, None, at=NOW)
    clients.require_proof(None, None, at=NOW)

    with pytest.raises(ProofInvalid):
        clients.require_proof(FAPI2, None, at=NOW)


def test_the_record_says_which_key_signs_and_whether_there_is_a_secret() -> None:
    for algorithm in SignatureAlgorithm:
        assert security_profiles.signature_algorithm(None, algorithm.value) is algorithm
        assert security_profiles.signature_algorithm(FAPI2, algorithm.value) is SignatureAlgorithm.ES256
    assert security_profiles.has_client_secret(None, is_confidential=True)
    assert not security_profiles.has_client_secret(None, is_confidential=False)
    assert not security_profiles.has_client_secret(FAPI2, is_confidential=True)


def test_a_sign_in_begins_with_a_pushed_request_alone() -> None:
    security_profiles.require_pushed(None, is_pushed=False)
    security_profiles.require_pushed(FAPI2, is_pushed=True)

    with pytest.raises(OtherWayRefused, match="unauthorized_client"):
        security_profiles.require_pushed(FAPI2, is_pushed=False)


@pytest.mark.parametrize("algorithm", [None, "RS256", "EdDSA"])
def test_an_access_token_comes_with_a_proof_of_the_profile(algorithm: str | None) -> None:
    security_profiles.require_bound(None, algorithm)
    security_profiles.require_bound(FAPI2, "PS256")

    with pytest.raises(TokenInvalid):
        security_profiles.require_bound(FAPI2, algorithm)


@pytest.mark.parametrize(
    ("jwks", "is_usable"),
    [
        ({"keys": [RSA]}, True),
        ({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "AAAA"}, RSA | {"alg": "PS256"}]}, True),
        ({"keys": [RSA | {"alg": "RS256"}]}, False),
        ({"keys": [{"kty": "EC", "crv": "P-384"}]}, False),
        ({"keys": ["no key", "nor this"]}, False),
        ({"keys": ["no key", RSA]}, True),
        ({"keys": "no list"}, False),
        ({}, False),
    ],
)
def test_one_of_the_registered_keys_signs_by_an_algorithm_of_the_profile(jwks: dict[str, Any], is_usable: bool) -> None:
    def require() -> None:
        security_profiles.require_record(
            FAPI2,
            is_confidential=True,
            redirect_uris=["https://shop.example/callback"],
            jwks_uri=None,
            jwks=jwks,
            allows_loopback=False,
        )

    if is_usable:
        require()
    else:
        with pytest.raises(BadRequest) as refused:
            require()
        assert [problem.field for problem in refused.value.details] == ["jwks"]
