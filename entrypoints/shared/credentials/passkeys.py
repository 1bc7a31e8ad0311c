"""The credentials of passkeys as browsers write them, and what they say."""

import base64
import binascii
import re
from typing import Annotated, Final, Literal

import msgspec

from core.credentials.webauthn import Attestation, PasskeyAssertion, Transport
from core.errors import BadRequest
from core.wording import Wording
from entrypoints.web.input.hidden import SecretBody

# The maximum of WebAuthn (4, Credential ID).
CREDENTIAL_ID_BYTES_MAX: Final = 1023
# Many times the size of what authenticators send.
ENCODED_CHARACTERS_MAX: Final = 32 * 1024
TRANSPORTS_MAX: Final = 20

_BASE64URL: Final = re.compile(r"[A-Za-z0-9_-]*={0,2}")

Encoded = Annotated[str, msgspec.Meta(max_length=ENCODED_CHARACTERS_MAX)]


class AttestationResponse(SecretBody, kw_only=True, rename="camel"):
    """The answer of the authenticator that created the passkey; bytes are in base64url."""

    client_data_json: Encoded = msgspec.field(name="clientDataJSON")
    attestation_object: Encoded
    transports: Annotated[tuple[str, ...], msgspec.Meta(max_length=TRANSPORTS_MAX)] = ()


class RegistrationCredential(SecretBody, kw_only=True):
    """The result of `navigator.credentials.create()`, as its `toJSON()` writes it."""

    id: Encoded
    type: Literal["public-key"]
    response: AttestationResponse


class AssertionResponse(SecretBody, kw_only=True, rename="camel"):
    """The assertion that the authenticator signed; bytes are in base64url."""

    client_data_json: Encoded = msgspec.field(name="clientDataJSON")
    authenticator_data: Encoded
    signature: Encoded
    user_handle: Encoded | None = None


class AuthenticationCredential(SecretBody, kw_only=True):
    """The result of `navigator.credentials.get()`, as its `toJSON()` writes it."""

    id: Encoded
    type: Literal["public-key"]
    response: AssertionResponse


def attestation_of(credential: RegistrationCredential) -> Attestation:
    """Return the attestation of a new passkey; raise `BadRequest` when it is no base64url."""
    response = credential.response
    return Attestation(
        credential_id=_credential_id(credential.id),
        client_data=_decoded(response.client_data_json, "response.clientDataJSON"),
        attestation_object=_decoded(response.attestation_object, "response.attestationObject"),
    )


def transports_of(credential: RegistrationCredential) -> list[Transport]:
    """Return the known ones among the transports that the browser names."""
    return [transport for transport in Transport if transport in credential.response.transports]


def assertion_of(credential: AuthenticationCredential) -> PasskeyAssertion:
    """Return the assertion of an authenticator; raise `BadRequest` when it is no base64url."""
    response, handle = credential.response, credential.response.user_handle
    return PasskeyAssertion(
        credential_id=_credential_id(credential.id),
        client_data=_decoded(response.client_data_json, "response.clientDataJSON"),
        authenticator_data=_decoded(response.authenticator_data, "response.authenticatorData"),
        signature=_decoded(response.signature, "response.signature"),
        user_handle=_decoded(handle, "response.userHandle") if handle is not None else None,
    )


def _credential_id(text: str) -> bytes:
    credential_id = _decoded(text, "id")
    if not 1 <= len(credential_id) <= CREDENTIAL_ID_BYTES_MAX:
        raise BadRequest.of_field(
            "credential.id",
            Wording("This must be 1 to %(maximum)s bytes in base64url.", maximum=CREDENTIAL_ID_BYTES_MAX),
        )
    return credential_id


def _decoded(text: str, field: str) -> bytes:
    """Decode base64url with or without padding, which browsers omit."""
    try:
        if _BASE64URL.fullmatch(text):
            bare = text.rstrip("=")
            return base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4))
    except binascii.Error:
        pass
    raise BadRequest.of_field(f"credential.{field}", "This must be bytes in base64url.")
