"""Registering and managing passkeys, and signing in with one.

The options and credentials are those of the browser's own functions: `PublicKeyCredential.parseCreationOptionsFromJSON`
and `parseRequestOptionsFromJSON` read the options, and `credential.toJSON()` produces what is sent back.
"""

import base64
import binascii
import re
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import msgspec

from core.credentials import passkeys
from core.credentials.passkey_challenges import PasskeyOptions
from core.credentials.passkeys import (
    LastSignInMethod,
    PasskeyExists,
    PasskeyItem,
    PasskeyUnknown,
    RegistrationOver,
    RegistrationRefused,
    TooManyPasskeys,
)
from core.credentials.webauthn import Assertion, Attestation, Transport
from core.errors import BadRequest, Forbidden, NotFound, OrganizationNotActive, SsoRequired
from core.rate_limits import RateLimit
from core.sign_in import passkeys as passkeys_sign_in
from core.sign_in.passkeys import PasskeyRefused
from entrypoints.http.sessions.token_answers import (
    SecondFactorDue,
    SignedIn,
    answer_outcome,
    destination,
    transact_counted,
)
from entrypoints.web.calls import Call
from entrypoints.web.credentials import account_wide, public, signed_in
from entrypoints.web.hidden import SecretBody
from entrypoints.web.hosts import on_custom_hosts
from entrypoints.web.routes import Routes

routes = Routes(
    "passkeys", "Registering and managing passkeys, and signing in with one, according to the WebAuthn standard."
)

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


class NewCredential(SecretBody, kw_only=True):
    """The result of `navigator.credentials.create()`, as its `toJSON()` writes it."""

    id: Encoded
    type: Literal["public-key"]
    response: AttestationResponse


class PasskeyRegistration(SecretBody, kw_only=True):
    """The new passkey and its name."""

    challenge_id: UUID
    credential: NewCredential
    name: str | None = None


class AssertionResponse(SecretBody, kw_only=True, rename="camel"):
    """The assertion that the authenticator signed; bytes are in base64url."""

    client_data_json: Encoded = msgspec.field(name="clientDataJSON")
    authenticator_data: Encoded
    signature: Encoded
    user_handle: Encoded | None = None


class Credential(SecretBody, kw_only=True):
    """The result of `navigator.credentials.get()`, as its `toJSON()` writes it."""

    id: Encoded
    type: Literal["public-key"]
    response: AssertionResponse


class PasskeySignInWanted(msgspec.Struct, kw_only=True):
    """Who signs in, and where; without `email` the browser offers every passkey that it has for this site."""

    email: str | None = None
    org_slug: str | None = None
    service_slug: str | None = None


class PasskeySignIn(SecretBody, kw_only=True):
    """The answer of the authenticator, and the organization and service to sign in to."""

    challenge_id: UUID
    credential: Credential
    org_slug: str | None = None
    service_slug: str | None = None


class PasskeyChallenge(msgspec.Struct, kw_only=True):
    """The options for the browser, and the id to send with its answer within five minutes."""

    challenge_id: UUID
    options: dict[str, Any]


class PasskeyName(msgspec.Struct, kw_only=True):
    """The new name of a passkey, 1 to 100 characters."""

    name: str


class PasskeyList(msgspec.Struct, kw_only=True):
    """The passkeys of the caller."""

    passkeys: list[PasskeyItem]
    total: int


@routes.post("/api/auth/passkeys/register/start", refuses=(TooManyPasskeys, Forbidden))
@account_wide
async def start_registration(call: Call) -> PasskeyChallenge:
    """Begin to register a passkey: the options are for `navigator.credentials.create()`."""
    return _challenge(await call.transact(passkeys.start_registration))


@routes.post(
    "/api/auth/passkeys/register/finish",
    refuses=(RegistrationOver, RegistrationRefused, TooManyPasskeys, PasskeyExists, Forbidden),
)
@account_wide
async def finish_registration(call: Call, body: PasskeyRegistration) -> PasskeyItem:
    """Register the passkey that the browser created; without a `name` it is named after the browser.

    You are notified by mail.
    """
    return await call.transact(
        passkeys.finish_registration,
        body.challenge_id,
        attestation_of(body.credential),
        transports_of(body.credential),
        body.name,
    )


@routes.get("/api/auth/passkeys")
@signed_in
async def list_passkeys(call: Call) -> PasskeyList:
    """List your passkeys, the oldest first."""
    mine = await call.read(passkeys.list_mine)
    return PasskeyList(passkeys=mine, total=len(mine))


@routes.patch("/api/auth/passkeys/:id", refuses=(PasskeyUnknown, Forbidden))
@account_wide
async def rename_passkey(call: Call, id: UUID, body: PasskeyName) -> PasskeyItem:  # noqa: A002 - as the path names it
    """Rename one of your passkeys."""
    return await call.transact(passkeys.rename_mine, id, body.name)


@routes.delete("/api/auth/passkeys/:id", status=204, refuses=(LastSignInMethod, PasskeyUnknown, Forbidden))
@account_wide
async def remove_passkey(call: Call, id: UUID) -> None:  # noqa: A002 - as the path names it
    """Remove one of your passkeys; the last one only if you have a password.

    You are notified by mail. Sessions that began with the passkey continue; end them with `DELETE /api/user/sessions`.
    """
    await call.transact(passkeys.remove_mine, id)


@routes.post("/api/auth/passkeys/authenticate/start", refuses=(NotFound,))
@on_custom_hosts
@public
async def start_sign_in(call: Call, body: PasskeySignInWanted) -> PasskeyChallenge:
    """Begin to sign in with a passkey: the options are for `navigator.credentials.get()`.

    With `email`, the options list the passkeys of the account, or plausible ones if the address has none. Without it,
    the browser offers the passkeys that it has.
    """
    wanted = destination(call, body.org_slug, body.service_slug)
    return _challenge(await call.transact(passkeys_sign_in.start, body.email, wanted))


@routes.post(
    "/api/auth/passkeys/authenticate/finish",
    limits=(RateLimit.PASSKEY_SIGN_IN,),
    refuses=(PasskeyRefused, SsoRequired, NotFound, Forbidden, OrganizationNotActive),
)
@public
async def finish_sign_in(call: Call, body: PasskeySignIn) -> SignedIn | SecondFactorDue:
    """Sign in with the signed assertion; the answer is that of `POST /api/auth/login`.

    A passkey that verified a PIN, a fingerprint or a face counts as two factors. Otherwise a code is required if
    multi-factor authentication is on.
    """
    outcome = await transact_counted(
        call,
        passkeys_sign_in.finish,
        body.challenge_id,
        assertion_of(body.credential),
        destination(call, body.org_slug, body.service_slug),
    )
    return answer_outcome(call, outcome)


def attestation_of(credential: NewCredential) -> Attestation:
    """Return what the authenticator says about a new passkey; raise `BadRequest` when it is no base64url."""
    response = credential.response
    return Attestation(
        credential_id=_credential_id(credential.id),
        client_data=_decoded(response.client_data_json, "response.clientDataJSON"),
        attestation_object=_decoded(response.attestation_object, "response.attestationObject"),
    )


def transports_of(credential: NewCredential) -> list[Transport]:
    """Return the known ones among the transports that the browser names."""
    return [transport for transport in Transport if transport in credential.response.transports]


def assertion_of(credential: Credential) -> Assertion:
    """Return what an authenticator has signed; raise `BadRequest` for what is no base64url."""
    response, handle = credential.response, credential.response.user_handle
    return Assertion(
        credential_id=_credential_id(credential.id),
        client_data=_decoded(response.client_data_json, "response.clientDataJSON"),
        authenticator_data=_decoded(response.authenticator_data, "response.authenticatorData"),
        signature=_decoded(response.signature, "response.signature"),
        user_handle=_decoded(handle, "response.userHandle") if handle is not None else None,
    )


def _challenge(options: PasskeyOptions) -> PasskeyChallenge:
    return PasskeyChallenge(challenge_id=options.challenge_id, options=options.options)


def _credential_id(text: str) -> bytes:
    credential_id = _decoded(text, "id")
    if not 1 <= len(credential_id) <= CREDENTIAL_ID_BYTES_MAX:
        raise BadRequest.of_field("credential.id", f"This must be 1 to {CREDENTIAL_ID_BYTES_MAX} bytes in base64url.")
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
