"""Turning multi-factor authentication on and off, its backup codes, and the second factor at sign-in."""

from dataclasses import replace
from uuid import UUID

import msgspec

from core.credentials import mfa
from core.credentials.mfa import MfaAlreadyEnabled, MfaNotEnabled, MfaNotSetUp, MfaStatus, SetupCodeWrong
from core.credentials.webauthn import PasskeyAssertion
from core.errors import BadRequest, Forbidden, NotFound, OrganizationNotActive, SsoRequired
from core.rate_limits import RateLimit
from core.saml import requests
from core.sign_in import second_factor
from core.sign_in.customer_choices import CustomerRequired
from core.sign_in.second_factor import (
    CodeWrong,
    PasskeyWrong,
    PreAuthExpired,
    PreAuthInvalid,
    PreAuthOver,
    TooManyWrongCodes,
)
from entrypoints.shared.credentials.mfa import QR_CODE_TITLE, SETUP_LIMITS
from entrypoints.shared.credentials.passkeys import AuthenticationCredential, assertion_of
from entrypoints.shared.sessions import token_answers
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.admitting import admit_pre_auth_token
from entrypoints.web.serving.admission.credentials import account_wide, awaiting_second_factor, signed_in
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("multi-factor authentication", "An authenticator app, backup codes, and the code at sign-in.")


class MfaSetup(SecretBody, kw_only=True):
    """The secret for an authenticator app: as text to type, as a QR code to scan, and as an address to open."""

    secret: str
    qr_code_svg: str
    qr_code_uri: str


class MfaActivation(SecretBody, kw_only=True):
    """The code that the app shows: six digits."""

    code: str


class MfaEnabled(SecretBody, kw_only=True):
    """The app is a second factor. The backup codes are shown this one time; there are none beside another factor."""

    enabled: bool
    backup_codes: list[str]


class MfaDisabled(msgspec.Struct, kw_only=True):
    """Multi-factor authentication is off."""

    success: bool
    message: str


class BackupCodes(SecretBody, kw_only=True):
    """The new backup codes, shown this one time only."""

    backup_codes: list[str]


class MfaVerification(SecretBody, kw_only=True):
    """A code of the app, a backup code or the answer of a passkey, and the pre-auth token unless it is in the header.

    With `trust_device`, this device needs no second factor for a while; the organization decides how long.
    """

    code: str | None = None
    credential: AuthenticationCredential | None = None
    preauth_token: str | None = None
    trust_device: bool = False


@routes.get("/api/user/mfa/status")
@signed_in
async def status(call: Call) -> MfaStatus:
    """Show whether multi-factor authentication is on, and whether unused backup codes are left."""
    return await call.read(mfa.status)


@routes.post("/api/user/mfa/setup", limits=SETUP_LIMITS, refuses=(MfaAlreadyEnabled, Forbidden))
@account_wide
async def set_up(call: Call) -> MfaSetup:
    """Begin to set up an authenticator app: show the user the QR code, then send the app's first code to `verify`.

    Multi-factor authentication stays off until then; beginning again replaces the secret.
    """
    setup = await call.transact(mfa.set_up)
    uri = setup.uri.reveal()
    return MfaSetup(
        secret=setup.secret.reveal(),
        qr_code_svg=await call.installation.qr_codes.svg(uri, title=QR_CODE_TITLE),
        qr_code_uri=uri,
    )


@routes.post(
    "/api/user/mfa/verify",
    limits=(RateLimit.MFA_VERIFICATION, *SETUP_LIMITS),
    refuses=(SetupCodeWrong, MfaNotSetUp, MfaAlreadyEnabled, Forbidden),
)
@account_wide
async def enable(call: Call, body: MfaActivation) -> MfaEnabled:
    """Make the app a second factor with a code of it; the first second factor turns multi-factor authentication on.

    Only its answer contains the backup codes.
    """
    enabled = await call.transact(mfa.enable, body.code)
    return MfaEnabled(enabled=True, backup_codes=[code.reveal() for code in enabled.codes])


@routes.delete("/api/user/mfa", limits=SETUP_LIMITS, refuses=(Forbidden,))
@account_wide
async def disable(call: Call) -> MfaDisabled:
    """Turn multi-factor authentication off: the app and all backup codes are deleted.

    Passkeys are second factors no longer, and still sign in.
    """
    await call.transact(mfa.disable)
    return MfaDisabled(
        success=True, message="Multi-factor authentication is off. Signing in no longer requires a second factor."
    )


@routes.post("/api/user/mfa/backup-codes/regenerate", limits=SETUP_LIMITS, refuses=(MfaNotEnabled, Forbidden))
@account_wide
async def renew_backup_codes(call: Call) -> BackupCodes:
    """Generate ten new backup codes; all earlier ones become invalid."""
    codes = await call.transact(mfa.renew_backup_codes)
    return BackupCodes(backup_codes=[code.reveal() for code in codes])


@routes.post(
    "/api/auth/mfa/verify",
    limits=(RateLimit.MFA_VERIFICATION,),
    refuses=(
        CodeWrong,
        PasskeyWrong,
        SsoRequired,
        TooManyWrongCodes,
        PreAuthOver,
        PreAuthExpired,
        PreAuthInvalid,
        NotFound,
        Forbidden,
        OrganizationNotActive,
        CustomerRequired,
    ),
)
@awaiting_second_factor
async def verify(call: Call, body: MfaVerification) -> token_answers.SignInTokens:
    """Finish a sign-in with a second factor: exchange the pre-auth token for an access token and a refresh token.

    `code` is a code of the app or a backup code; in its place, `credential` is what a passkey has signed for the
    options of `POST /api/auth/mfa/passkey`. Each can be used once, and so can the pre-auth token; five wrong answers
    invalidate it.
    """
    answer = _answer(body)
    if not call.claims:
        await admit_pre_auth_token(call, body.preauth_token)
    client, saml_state = token_answers.destination(call), call.claims.get(token_answers.SAML_STATE_CLAIM)
    if saml_state is not None:
        client = replace(client, target=await call.read(requests.open_target, saml_state))
    verified = await token_answers.transact_counted(
        call,
        second_factor.verify,
        UUID(call.claims["sub"]),
        UUID(call.claims["challenge"]),
        answer,
        network=call.throttled_network,
        client=client,
        trust_device=body.trust_device,
    )
    tokens = token_answers.signed_in(call, verified.completed, method=verified.method)
    tokens.saml_redirect_url = await token_answers.back_to_service_provider(call, verified.completed, saml_state)
    return tokens


def _answer(body: MfaVerification) -> str | PasskeyAssertion:
    """Return the code or what the passkey has signed; raise `BadRequest` for both and for neither."""
    if body.code is not None and body.credential is None:
        return body.code
    if body.credential is not None and body.code is None:
        return assertion_of(body.credential)
    raise BadRequest.of_field("code", "Send either a code or the credential of a passkey.")
