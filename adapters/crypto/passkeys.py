"""WebAuthn with the package `webauthn`: options for browsers, and verification of what authenticators answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from typing import Any, Final, final
from urllib.parse import urlsplit

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import (
    bytes_to_base64url,
    decode_credential_public_key,
    decoded_public_key_to_cryptography,
    encode_cbor,
    options_to_json_dict,
    parse_cbor,
    parse_client_data_json,
    verify_signature,
)
from webauthn.helpers.cose import COSECRV, COSEKTY, COSEAlgorithmIdentifier, COSEKey
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticationCredential,
    AuthenticatorAssertionResponse,
    AuthenticatorAttestationResponse,
    AuthenticatorSelectionCriteria,
    AuthenticatorTransport,
    CredentialDeviceType,
    PublicKeyCredentialDescriptor,
    RegistrationCredential,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from core.credentials.passkey_challenges import LIFETIME
from core.credentials.webauthn import (
    Attestation,
    Descriptor,
    PasskeyAssertion,
    Transport,
    VerifiedAssertion,
    VerifiedAttestation,
)
from core.platform_brand import NAME_DEFAULT

_TIMEOUT_MILLISECONDS: Final = int(LIFETIME.total_seconds() * 1000)
_P256_BYTES: Final = 32
# What a browser offers first (WebAuthn Level 3, 5.8.7), in our order, and the transports by which one is reached.
_HINTS: Final[Mapping[str, frozenset[Transport]]] = {
    "client-device": frozenset({Transport.INTERNAL}),
    "hybrid": frozenset({Transport.HYBRID}),
    "security-key": frozenset({Transport.BLE, Transport.NFC, Transport.SMART_CARD, Transport.USB}),
}
# What the package, CBOR and the key parsers raise for malformed input.
_MALFORMED: Final = (WebAuthnException, UnsupportedAlgorithm, ValueError, TypeError, LookupError)


@final
class PyWebAuthn:
    """The port `WebAuthn`, for passkeys that belong to `rp_id` and are used on pages of `origin`.

    `rp_name` is the name that devices show to their users.
    """

    def __init__(self, *, rp_id: str, origin: str, rp_name: str = NAME_DEFAULT) -> None:
        self._rp_id = rp_id
        self._rp_name = rp_name
        self._origin = origin
        # Verified against when the credential is unknown, to take the same time. Its private key is not kept.
        self._decoy_key = _encoded(ec.generate_private_key(ec.SECP256R1()).public_key())

    def of_host(self, name: str) -> PyWebAuthn:
        """Return the same for the pages and the passkeys of a custom host."""
        of_host = copy(self)
        of_host._rp_id, of_host._origin = name, _with_host(self._origin, name)
        return of_host

    def creation_options(
        self, challenge: bytes, *, user_handle: bytes, user_name: str, excluded: Sequence[Descriptor]
    ) -> dict[str, Any]:
        """Return the options with which a browser creates a passkey."""
        options = options_to_json_dict(
            generate_registration_options(
                rp_id=self._rp_id,
                rp_name=self._rp_name,
                user_id=user_handle,
                user_name=user_name,
                challenge=challenge,
                timeout=_TIMEOUT_MILLISECONDS,
                exclude_credentials=[_descriptor(each) for each in excluded],
                # The device finds a discoverable passkey without a user name; a security key may have no PIN.
                authenticator_selection=AuthenticatorSelectionCriteria(
                    resident_key=ResidentKeyRequirement.REQUIRED,
                    user_verification=UserVerificationRequirement.PREFERRED,
                ),
            )
        )
        return {**options, "hints": list(_HINTS)}

    def request_options(self, challenge: bytes, *, allowed: Sequence[Descriptor]) -> dict[str, Any]:
        """Return the options with which a browser requests a passkey."""
        options = options_to_json_dict(
            generate_authentication_options(
                rp_id=self._rp_id,
                challenge=challenge,
                timeout=_TIMEOUT_MILLISECONDS,
                allow_credentials=[_descriptor(each) for each in allowed],
                user_verification=UserVerificationRequirement.PREFERRED,
            )
        )
        hints = _hints_for(allowed)
        return {**options, "hints": hints} if hints else options

    def check_attestation(self, attestation: Attestation, challenge: bytes) -> VerifiedAttestation | None:
        """Verify an attestation; return None when it is malformed or not for this challenge and site."""
        try:
            verified = verify_registration_response(
                credential=RegistrationCredential(
                    id=bytes_to_base64url(attestation.credential_id),
                    raw_id=attestation.credential_id,
                    response=AuthenticatorAttestationResponse(
                        client_data_json=attestation.client_data,
                        attestation_object=_without_statement(attestation.attestation_object),
                    ),
                ),
                expected_challenge=challenge,
                expected_rp_id=self._rp_id,
                expected_origin=self._origin,
            )
            _check_usable(verified.credential_public_key)
            is_valid = verified.credential_id == attestation.credential_id and not _is_framed(attestation.client_data)
        except _MALFORMED:
            return None
        if not is_valid:
            return None
        return VerifiedAttestation(
            public_key=verified.credential_public_key,
            sign_count=verified.sign_count,
            aaguid=verified.aaguid,
            is_backup_eligible=verified.credential_device_type is CredentialDeviceType.MULTI_DEVICE,
            is_user_verified=verified.user_verified,
        )

    def check_assertion(
        self, assertion: PasskeyAssertion, challenge: bytes, public_key: bytes | None
    ) -> VerifiedAssertion | None:
        """Verify an assertion; return None when it is malformed, or not by this key for this challenge and site."""
        try:
            verified = verify_authentication_response(
                credential=AuthenticationCredential(
                    id=bytes_to_base64url(assertion.credential_id),
                    raw_id=assertion.credential_id,
                    response=AuthenticatorAssertionResponse(
                        client_data_json=assertion.client_data,
                        authenticator_data=assertion.authenticator_data,
                        signature=assertion.signature,
                    ),
                ),
                expected_challenge=challenge,
                expected_rp_id=self._rp_id,
                expected_origin=self._origin,
                credential_public_key=public_key if public_key is not None else self._decoy_key,
                # The count is compared in the database, so that concurrent assertions are ordered.
                credential_current_sign_count=0,
            )
            is_valid = public_key is not None and not _is_framed(assertion.client_data)
        except _MALFORMED:
            return None
        if not is_valid:
            return None
        return VerifiedAssertion(sign_count=verified.new_sign_count, is_user_verified=verified.user_verified)


def _with_host(origin: str, name: str) -> str:
    parts = urlsplit(origin)
    return f"{parts.scheme}://{name}" if parts.port is None else f"{parts.scheme}://{name}:{parts.port}"


def _descriptor(descriptor: Descriptor) -> PublicKeyCredentialDescriptor:
    return PublicKeyCredentialDescriptor(
        id=descriptor.credential_id,
        transports=[AuthenticatorTransport(transport) for transport in descriptor.transports],
    )


def _hints_for(allowed: Sequence[Descriptor]) -> list[str]:
    """Return what the browser is to offer first, by the transports of the passkeys alone; nothing for any passkey."""
    transports = {transport for descriptor in allowed for transport in descriptor.transports}
    return [hint for hint, reached_by in _HINTS.items() if not reached_by.isdisjoint(transports)]


def _without_statement(attestation_object: bytes) -> bytes:
    """Remove the attestation statement: it was not requested, and an unrequested one proves nothing."""
    return encode_cbor({"fmt": "none", "attStmt": {}, "authData": parse_cbor(attestation_object)["authData"]})


def _check_usable(public_key: bytes) -> None:
    """Raise for a key with which no signature can be checked, while the user can still choose another one."""
    decoded = decode_credential_public_key(public_key)
    with suppress(InvalidSignature):
        verify_signature(
            public_key=decoded_public_key_to_cryptography(decoded), signature_alg=decoded.alg, signature=b"", data=b""
        )


def _is_framed(client_data: bytes) -> bool:
    """Return whether the page was a frame in a page of another origin, which Gatehouse's pages never are."""
    return bool(parse_client_data_json(client_data).cross_origin)


def _encoded(key: ec.EllipticCurvePublicKey) -> bytes:
    point = key.public_numbers()
    return encode_cbor(
        {
            COSEKey.KTY: COSEKTY.EC2,
            COSEKey.ALG: COSEAlgorithmIdentifier.ECDSA_SHA_256,
            COSEKey.CRV: COSECRV.P256,
            COSEKey.X: point.x.to_bytes(_P256_BYTES, "big"),
            COSEKey.Y: point.y.to_bytes(_P256_BYTES, "big"),
        }
    )
