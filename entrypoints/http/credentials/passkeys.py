"""Registering and managing passkeys, and signing in with one.

The options and credentials have the form of the browser's own functions: `parseCreationOptionsFromJSON` and
`parseRequestOptionsFromJSON` of `PublicKeyCredential` read the options, and the credential's `toJSON()` the answer.
"""

from typing import Any
from uuid import UUID

import msgspec

from core.credentials import passkey_factors, passkeys
from core.credentials.passkey_challenges import PasskeyOptions
from core.credentials.passkey_factors import PasskeyOfDomain
from core.credentials.passkeys import (
    LastSignInMethod,
    PasskeyExists,
    PasskeyItem,
    PasskeyUnknown,
    RegistrationOver,
    RegistrationRefused,
    TooManyPasskeys,
)
from core.errors import BadRequest, Forbidden, NotFound, OrganizationNotActive, SsoRequired
from core.rate_limits import RateLimit
from core.sign_in import passkeys as passkeys_sign_in
from core.sign_in import second_factor
from core.sign_in.customer_choices import CustomerRequired
from core.sign_in.passkeys import PasskeyRefused
from core.sign_in.second_factor import NoPasskeyFactor, PreAuthExpired, PreAuthInvalid, PreAuthOver
from entrypoints.shared.credentials.passkeys import (
    AuthenticationCredential,
    RegistrationCredential,
    assertion_of,
    attestation_of,
    transports_of,
)
from entrypoints.shared.sessions.token_answers import (
    CustomerName,
    PendingSecondFactor,
    SignInTokens,
    answer_outcome,
    destination,
    transact_counted,
)
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.admitting import admit_pre_auth_token
from entrypoints.web.serving.admission.credentials import account_wide, awaiting_second_factor, public, signed_in
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.answering.bodies import Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "passkeys", "Registering and managing passkeys, and signing in with one, according to the WebAuthn standard."
)


class PasskeyRegistration(SecretBody, kw_only=True):
    """The new passkey and its name."""

    challenge_id: UUID
    credential: RegistrationCredential
    name: str | None = None


class PasskeySignInStart(msgspec.Struct, kw_only=True):
    """Who signs in, and where; without `email` the browser offers every passkey that it has for this site."""

    email: str | None = None
    org_slug: str | None = None
    service_slug: str | None = None
    customer: CustomerName | None = None


class PasskeySignIn(SecretBody, kw_only=True):
    """The answer of the authenticator, and the organization and service to sign in to."""

    challenge_id: UUID
    credential: AuthenticationCredential
    org_slug: str | None = None
    service_slug: str | None = None
    customer: CustomerName | None = None


class PasskeyChallenge(Record, of=PasskeyOptions):
    """The options for the browser, and the id to send with its answer within five minutes."""


class PasskeyUpdate(msgspec.Struct, kw_only=True):
    """The new name of a passkey, 1 to 100 characters, and whether it is a second factor; what is omitted stays."""

    name: str | msgspec.UnsetType = msgspec.UNSET
    second_factor: bool | msgspec.UnsetType = msgspec.UNSET


class ChangedPasskeyItem(Record, SecretBody, of=PasskeyItem):
    """The passkey after the change; with backup codes if it has turned multi-factor authentication on."""

    backup_codes: list[str] | msgspec.UnsetType = msgspec.UNSET


class PasskeyFactorStart(SecretBody, kw_only=True):
    """The pre-auth token, unless it is sent as a bearer token."""

    preauth_token: str | None = None


class PasskeyFactorOptions(msgspec.Struct, kw_only=True):
    """The options for `navigator.credentials.get()`, whose answer is taken once, within five minutes."""

    options: dict[str, Any]


class PasskeyList(msgspec.Struct, kw_only=True):
    """The passkeys of the caller."""

    passkeys: list[PasskeyItem]
    total: int


@routes.post("/api/auth/passkeys/register/start", refuses=(TooManyPasskeys, Forbidden))
@account_wide
async def start_registration(call: Call) -> PasskeyChallenge:
    """Begin to register a passkey: the options are for `navigator.credentials.create()`."""
    return PasskeyChallenge.of(await call.transact(passkeys.start_registration))


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


@routes.patch("/api/auth/passkeys/:id", refuses=(PasskeyOfDomain, PasskeyUnknown, Forbidden))
@account_wide
async def change_passkey(call: Call, id: UUID, body: PasskeyUpdate) -> ChangedPasskeyItem:  # noqa: A002 - as the path
    """Rename one of your passkeys, make it a second factor, or none.

    A second factor is asked for after your password, a mailed link, or another provider. The first one turns
    multi-factor authentication on, and only its answer contains the backup codes; without the last one it is off. You
    are notified by mail.
    """
    if body.name is msgspec.UNSET and body.second_factor is msgspec.UNSET:
        raise BadRequest.of_field("name", "Send a name, or whether the passkey is a second factor.")
    changed = await call.transact(
        passkey_factors.change_mine,
        id,
        name=None if body.name is msgspec.UNSET else body.name,
        is_second_factor=None if body.second_factor is msgspec.UNSET else body.second_factor,
    )
    backup_codes = [code.reveal() for code in changed.codes] or msgspec.UNSET
    return ChangedPasskeyItem.of(changed.item, backup_codes=backup_codes)


@routes.delete("/api/auth/passkeys/:id", status=204, refuses=(LastSignInMethod, PasskeyUnknown, Forbidden))
@account_wide
async def remove_passkey(call: Call, id: UUID) -> None:  # noqa: A002 - as the path names it
    """Remove one of your passkeys; the last one only if you have a password.

    If it was your last second factor, multi-factor authentication is off. You are notified by mail. Sessions that began
    with the passkey continue; end them with `DELETE /api/user/sessions`.
    """
    await call.transact(passkeys.remove_mine, id)


@routes.post("/api/auth/passkeys/authenticate/start", refuses=(NotFound,))
@on_custom_hosts
@public
async def start_sign_in(call: Call, body: PasskeySignInStart) -> PasskeyChallenge:
    """Begin to sign in with a passkey: the options are for `navigator.credentials.get()`.

    With `email`, the options list the passkeys of the account, or plausible ones if the address has none. Without it,
    the browser offers the passkeys that it has.
    """
    wanted = destination(call, body.org_slug, body.service_slug, body.customer)
    return PasskeyChallenge.of(await call.transact(passkeys_sign_in.start, body.email, wanted))


@routes.post(
    "/api/auth/passkeys/authenticate/finish",
    limits=(RateLimit.PASSKEY_SIGN_IN,),
    refuses=(PasskeyRefused, SsoRequired, NotFound, Forbidden, OrganizationNotActive, CustomerRequired),
)
@public
async def finish_sign_in(call: Call, body: PasskeySignIn) -> SignInTokens | PendingSecondFactor:
    """Sign in with the signed assertion; the answer is the same as from `POST /api/auth/login`.

    A passkey that verified a PIN, a fingerprint or a face counts as two factors. Otherwise a code is required if
    multi-factor authentication is on.
    """
    outcome = await transact_counted(
        call,
        passkeys_sign_in.finish,
        body.challenge_id,
        assertion_of(body.credential),
        destination(call, body.org_slug, body.service_slug, body.customer),
    )
    return answer_outcome(call, outcome)


@routes.post(
    "/api/auth/mfa/passkey",
    limits=(RateLimit.MFA_VERIFICATION,),
    refuses=(NoPasskeyFactor, PreAuthOver, PreAuthExpired, PreAuthInvalid),
)
@awaiting_second_factor
async def ask_passkey(call: Call, body: PasskeyFactorStart) -> PasskeyFactorOptions:
    """Begin to finish a sign-in with a passkey that is a second factor of the user.

    The options belong to this pre-auth token, and replace earlier ones.
    """
    if not call.claims:
        await admit_pre_auth_token(call, body.preauth_token)
    options = await call.transact(
        second_factor.ask_passkey,
        UUID(call.claims["sub"]),
        UUID(call.claims["challenge"]),
        destination(call),
    )
    return PasskeyFactorOptions(options=options)
