"""Checks of passkeys (WebAuthn 7.1 and 7.2), and malformed input from browsers and authenticators."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any, cast
from uuid import UUID

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from adapters.crypto.passkeys import PyWebAuthn
from adapters.postgres.driver.connection import Connection
from adapters.postgres.transaction import Tools
from adapters.postgres.unit_of_work import PostgresUnitOfWork
from core.credentials.passkey_challenges import LIFETIME
from core.credentials.webauthn import Attestation, Descriptor, PasskeyAssertion, Transport, VerifiedAttestation
from core.sessions.origins import BACKGROUND, CustomHost
from tests.authenticators import AAGUID, ORIGIN, Authenticator, cose_key, decoded, encoded, make_key

CHALLENGE = b"\x01" * 64
USER_HANDLE = b"\x02" * 16
WEBAUTHN = PyWebAuthn(rp_id="localhost", origin=ORIGIN)


def attestation(authenticator: Authenticator, *, challenge: bytes = CHALLENGE) -> Attestation:
    """Let an authenticator create a passkey."""
    options = WEBAUTHN.creation_options(challenge, user_handle=USER_HANDLE, user_name="ada@example.com", excluded=())
    response = authenticator.create(options)["response"]
    return Attestation(
        credential_id=authenticator.credential_id,
        client_data=decoded(response["clientDataJSON"]),
        attestation_object=decoded(response["attestationObject"]),
    )


def assertion(authenticator: Authenticator, *, challenge: bytes = CHALLENGE) -> PasskeyAssertion:
    """Let an authenticator sign a challenge."""
    response = authenticator.get(WEBAUTHN.request_options(challenge, allowed=()))["response"]
    return PasskeyAssertion(
        credential_id=authenticator.credential_id,
        client_data=decoded(response["clientDataJSON"]),
        authenticator_data=decoded(response["authenticatorData"]),
        signature=decoded(response["signature"]),
        user_handle=authenticator.user_handle,
    )


def registered(authenticator: Authenticator) -> VerifiedAttestation:
    """Let an authenticator create a passkey, and check its attestation."""
    attested = WEBAUTHN.check_attestation(attestation(authenticator), CHALLENGE)
    assert attested is not None
    return attested


class TestOptions:
    """The options sent to browsers."""

    def test_a_new_passkey_is_discoverable_and_prefers_user_verification(self) -> None:
        options = WEBAUTHN.creation_options(
            CHALLENGE,
            user_handle=USER_HANDLE,
            user_name="ada@example.com",
            excluded=[Descriptor(credential_id=b"\x03" * 20, transports=(Transport.HYBRID, Transport.INTERNAL))],
        )

        assert options["rp"] == {"name": "Gatehouse", "id": "localhost"}
        assert options["user"] == {
            "id": encoded(USER_HANDLE),
            "name": "ada@example.com",
            "displayName": "ada@example.com",
        }
        assert options["authenticatorSelection"] == {
            "residentKey": "required",
            "requireResidentKey": True,
            "userVerification": "preferred",
        }
        assert options["excludeCredentials"] == [
            {"id": encoded(b"\x03" * 20), "type": "public-key", "transports": ["hybrid", "internal"]}
        ]
        assert {-7, -8, -257} <= {parameters["alg"] for parameters in options["pubKeyCredParams"]}
        assert (options["attestation"], options["timeout"]) == ("none", LIFETIME.total_seconds() * 1000)
        assert json.loads(json.dumps(options)) == options

    def test_a_sign_in_lists_the_allowed_passkeys_or_none(self) -> None:
        named = WEBAUTHN.request_options(
            CHALLENGE, allowed=[Descriptor(credential_id=b"\x03", transports=(Transport.SMART_CARD,))]
        )
        unnamed = WEBAUTHN.request_options(CHALLENGE, allowed=())

        assert named["allowCredentials"] == [
            {"id": encoded(b"\x03"), "type": "public-key", "transports": ["smart-card"]}
        ]
        assert unnamed == {
            "challenge": encoded(CHALLENGE),
            "timeout": 300_000,
            "rpId": "localhost",
            "allowCredentials": [],
            "userVerification": "preferred",
        }


class TestAttestations:
    """The check of a new passkey."""

    @pytest.mark.parametrize("algorithm", [-7, -8, -257])
    def test_a_key_of_each_algorithm_is_accepted(self, algorithm: int) -> None:
        authenticator = Authenticator(key=make_key(algorithm))

        attested = registered(authenticator)

        assert cbor2.loads(attested.public_key) == cose_key(authenticator.key)
        assert attested.sign_count == 1
        assert attested.aaguid.replace("-", "") == AAGUID.hex()

    @pytest.mark.parametrize("is_backup_eligible", [True, False])
    def test_the_backup_eligibility_of_a_passkey_is_returned(self, is_backup_eligible: bool) -> None:
        assert registered(Authenticator(is_backup_eligible=is_backup_eligible)).is_backup_eligible is is_backup_eligible

    def test_an_unrequested_attestation_statement_is_ignored(self) -> None:
        statement = {"fmt": "packed", "attStmt": {"alg": -7, "sig": b"nonsense", "x5c": [b"nonsense"]}}

        assert registered(Authenticator(statement=statement)) is not None

    @pytest.mark.parametrize(
        "wrong",
        [
            {"origin": "https://localhost:8000"},
            {"origin": "http://localhost:8001"},
            {"origin": "http://evil.localhost:8000"},
            {"rp_id": "example.com"},
            {"is_user_present": False},
            {"is_backed_up": True},  # backed up, but not eligible for backup
            {"cross_origin": True},
            {"aaguid": b""},
            {"statement": {}, "credential_id": b""},
        ],
    )
    def test_an_invalid_attestation_is_refused(self, wrong: dict[str, Any]) -> None:
        assert WEBAUTHN.check_attestation(attestation(Authenticator(**wrong)), CHALLENGE) is None

    def test_another_challenge_is_refused(self) -> None:
        made = attestation(Authenticator(), challenge=b"\x09" * 64)

        assert WEBAUTHN.check_attestation(made, CHALLENGE) is None

    def test_another_credential_id_than_the_attested_one_is_refused(self) -> None:
        made = replace(attestation(Authenticator()), credential_id=b"somebody else's")

        assert WEBAUTHN.check_attestation(made, CHALLENGE) is None

    def test_the_response_to_a_sign_in_is_refused_as_a_registration(self) -> None:
        authenticator = Authenticator()
        made = replace(attestation(authenticator), client_data=assertion(authenticator).client_data)

        assert WEBAUTHN.check_attestation(made, CHALLENGE) is None

    @pytest.mark.parametrize(
        "key",
        [
            {},
            {1: 2, 3: -7, -1: 1, -2: b"\x01" * 32, -3: b"\x02" * 32},  # a point that is not on the curve
            {1: 2, 3: -257, -1: 1},
            {1: 2, 3: -7, -1: 1, -2: 17, -3: "x"},
            {1: 1, 3: -8, -1: 6, -2: b"short"},
            {1: 3, 3: -257, -1: b"\x00", -2: b"\x00"},
            {1: 9, 3: -7},
            {1: 2, 3: [], -1: 1, -2: b"", -3: b""},
            "no map",
            4,
        ],
    )
    def test_a_malformed_key_is_refused(self, key: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tests.authenticators.cose_key", lambda _key: key)

        assert WEBAUTHN.check_attestation(attestation(Authenticator()), CHALLENGE) is None

    def test_a_key_that_does_not_match_its_algorithm_is_refused_at_registration(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        key = cose_key(make_key(-7)) | {3: -257}
        monkeypatch.setattr("tests.authenticators.cose_key", lambda _key: key)

        assert WEBAUTHN.check_attestation(attestation(Authenticator()), CHALLENGE) is None


class TestAssertions:
    """The check of a sign-in."""

    @pytest.mark.parametrize("algorithm", [-7, -8, -257])
    @pytest.mark.parametrize("is_user_verified", [True, False])
    def test_a_signature_of_each_algorithm_is_accepted(self, algorithm: int, is_user_verified: bool) -> None:
        authenticator = Authenticator(key=make_key(algorithm))
        attested = registered(authenticator)
        authenticator.is_user_verified = is_user_verified

        asserted = WEBAUTHN.check_assertion(assertion(authenticator), CHALLENGE, attested.public_key)

        assert asserted is not None
        assert (asserted.sign_count, asserted.is_user_verified) == (2, is_user_verified)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"origin": "https://evil.example"},
            {"rp_id": "evil.example"},
            {"is_user_present": False},
            {"cross_origin": True},
            {"key": ec.generate_private_key(ec.SECP256R1())},
        ],
    )
    def test_an_invalid_assertion_is_refused(self, wrong: dict[str, Any]) -> None:
        authenticator = Authenticator()
        attested = registered(authenticator)

        made = assertion(replace(authenticator, **wrong))

        assert WEBAUTHN.check_assertion(made, CHALLENGE, attested.public_key) is None

    @pytest.mark.parametrize("part", ["client_data", "authenticator_data", "signature"])
    def test_an_altered_assertion_is_refused(self, part: str) -> None:
        authenticator = Authenticator()
        attested = registered(authenticator)
        made = assertion(authenticator)
        for position in (0, -1):
            altered = bytearray(getattr(made, part))
            altered[position] ^= 1

            assert (
                WEBAUTHN.check_assertion(replace(made, **{part: bytes(altered)}), CHALLENGE, attested.public_key)
                is None
            )

    def test_the_signature_covers_the_user_verification_flag(self) -> None:
        authenticator = Authenticator(is_user_verified=False)
        attested = registered(authenticator)
        made = assertion(authenticator)
        data = bytearray(made.authenticator_data)
        data[32] |= 0x04

        made = replace(made, authenticator_data=bytes(data))

        assert WEBAUTHN.check_assertion(made, CHALLENGE, attested.public_key) is None

    def test_another_challenge_is_refused(self) -> None:
        authenticator = Authenticator()
        attested = registered(authenticator)

        made = assertion(authenticator, challenge=b"\x09" * 64)

        assert WEBAUTHN.check_assertion(made, CHALLENGE, attested.public_key) is None

    def test_the_response_to_a_registration_is_refused_as_a_sign_in(self) -> None:
        authenticator = Authenticator()
        made = attestation(authenticator)

        signed = replace(assertion(authenticator), client_data=made.client_data)

        assert WEBAUTHN.check_assertion(signed, CHALLENGE, registered(authenticator).public_key) is None

    def test_an_assertion_without_a_known_key_is_refused(self) -> None:
        assert WEBAUTHN.check_assertion(assertion(Authenticator()), CHALLENGE, None) is None


cbor_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.integers(-8, 8) | st.text(max_size=8), inner),
    max_leaves=12,
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


class TestMalformedInput:
    """Malformed input is refused without an unexpected error."""

    @given(
        st.binary(max_size=200)
        | cbor_values.map(cbor2.dumps)
        | st.dictionaries(st.sampled_from(["fmt", "attStmt", "authData"]), cbor_values).map(cbor2.dumps)
    )
    def test_a_malformed_attestation_object_is_refused(self, attestation_object: bytes) -> None:
        made = replace(attestation(Authenticator()), attestation_object=attestation_object)

        assert WEBAUTHN.check_attestation(made, CHALLENGE) is None

    @given(cbor_values.map(cbor2.dumps) | st.binary(max_size=100))
    def test_a_malformed_public_key_is_refused(self, key: bytes) -> None:
        authenticator = Authenticator()
        made = attestation(authenticator)
        whole = cbor2.loads(made.attestation_object)
        whole["authData"] = whole["authData"][: -len(cbor2.dumps(cose_key(authenticator.key)))] + key

        made = replace(made, attestation_object=cbor2.dumps(whole))

        assert WEBAUTHN.check_attestation(made, CHALLENGE) is None

    @given(
        st.binary(max_size=100)
        | json_values.map(lambda value: json.dumps(value).encode())
        | st.dictionaries(
            st.sampled_from(["type", "challenge", "origin", "crossOrigin", "tokenBinding"]), json_values
        ).map(lambda value: json.dumps(value).encode())
    )
    def test_malformed_client_data_are_refused(self, client_data: bytes) -> None:
        authenticator = Authenticator()

        made = replace(attestation(authenticator), client_data=client_data)
        signed = replace(assertion(authenticator), client_data=client_data)

        assert WEBAUTHN.check_attestation(made, CHALLENGE) is None
        assert WEBAUTHN.check_assertion(signed, CHALLENGE, None) is None

    @given(st.binary(max_size=200), st.binary(max_size=100))
    def test_malformed_authenticator_data_and_signatures_are_refused(self, data: bytes, signature: bytes) -> None:
        authenticator = Authenticator()
        attested = registered(authenticator)

        signed = replace(assertion(authenticator), authenticator_data=data, signature=signature)

        assert WEBAUTHN.check_assertion(signed, CHALLENGE, attested.public_key) is None

    @pytest.mark.parametrize("opening", [b"\x81", b"\xa1\x01", b"\xd8\x18", b"\x9f"])
    def test_deeply_nested_cbor_is_refused(self, opening: bytes) -> None:
        made = replace(attestation(Authenticator()), attestation_object=opening * 20_000)

        assert WEBAUTHN.check_attestation(made, CHALLENGE) is None

    @pytest.mark.parametrize("client_data", [b"[" * 50_000, b'{"type": ' * 10_000, b"1" * 50_000])
    def test_deeply_nested_client_data_are_refused(self, client_data: bytes) -> None:
        made = replace(attestation(Authenticator()), client_data=client_data)

        assert WEBAUTHN.check_attestation(made, CHALLENGE) is None


def test_the_package_is_made_at_the_first_use_also_for_a_custom_host(tools: Tools) -> None:
    made: list[PyWebAuthn] = []

    def make() -> PyWebAuthn:
        made.append(PyWebAuthn(rp_id="localhost", origin=ORIGIN))
        return made[-1]

    shared, unused = replace(tools, webauthn=cache(make)), cast("Connection", None)
    host = CustomHost(
        domain_id=UUID(int=1), name="login.acme.example", organization_id=UUID(int=2), organization_slug="acme"
    )
    own = PostgresUnitOfWork(unused, BACKGROUND, shared)
    of_host = PostgresUnitOfWork(unused, replace(BACKGROUND, custom_host=host), shared)

    assert made == []
    assert of_host.webauthn.request_options(b"challenge", allowed=[])["rpId"] == "login.acme.example"
    assert own.webauthn.request_options(b"challenge", allowed=[])["rpId"] == "localhost"
    assert len(made) == 1
