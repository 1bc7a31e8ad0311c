"""The answer to every sign-in: the signed tokens of a grant, with the device token in body and cookie."""

from collections.abc import Callable
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, Final, ParamSpec, TypeVar
from urllib.parse import urlencode

import msgspec

from core.errors import BadRequest, Refusal
from core.saml import requests
from core.secrets import Secret
from core.services.services import CUSTOMER_CHARACTERS_MAX
from core.sessions.tokens import TokenGrant, TokenKind
from core.sign_in.mfa_challenges import LIFETIME as CHALLENGE_LIFETIME
from core.sign_in.mfa_challenges import SecondFactorPending, SignInCompleted
from core.sign_in.proofs import Destination
from core.sign_in.reasons import CountedRefusal
from core.sign_in.recognition import TOKEN_LIFETIME as DEVICE_LIFETIME
from entrypoints.web.input.cookies import cookie_of
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.calls import Call

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# Carries the state of a request by SAML from the first factor to the second.
SAML_STATE_CLAIM: Final = "saml_state"
# Carries the notice about the password, which comes with the answer to the second factor.
PASSWORD_NOTICE_CLAIM: Final = "password_notice"  # noqa: S105 - the name of a claim, not a secret
# Says that a passkey may finish the sign-in, so that its page asks for one without reading first.
PASSKEY_CLAIM: Final = "passkey"
# A customer of a service, by its id or slug.
CustomerName = Annotated[str, msgspec.Meta(max_length=CUSTOMER_CHARACTERS_MAX)]
DEVICE_COOKIE: Final = "gatehouse_device"
DEVICE_HEADER: Final = "X-Device-Token"


class Tokens(SecretBody, kw_only=True):
    """An access token, and the refresh token to get the next one."""

    access_token: str
    refresh_token: str
    expires_in: int
    token_type: str = "Bearer"  # noqa: S105 - the name of a kind, not a secret


class PasswordNotice(StrEnum):
    """What a person should know about the password that they have signed in with."""

    BREACHED = "breached"


class SignInTokens(Tokens, kw_only=True):
    """A session has begun; clients without cookies send `device_token` as `X-Device-Token` from now on."""

    device_token: str
    method: str | msgspec.UnsetType = msgspec.UNSET
    password_notice: PasswordNotice | msgspec.UnsetType = msgspec.UNSET
    saml_redirect_url: str | msgspec.UnsetType = msgspec.UNSET


class PendingSecondFactor(SecretBody, kw_only=True):
    """The first factor was right and a second one is required: `POST /api/auth/mfa/verify` takes the pre-auth token."""

    access_token: str
    refresh_token: str
    expires_in: int
    mfa_required: bool
    preauth_token: str


def destination(
    call: Call, organization_slug: str | None = None, service_slug: str | None = None, customer: str | None = None
) -> Destination:
    """Return where the request signs in to, for which customer, and the device token it carries.

    Raise `BadRequest` for a service without an organization, and for a customer without a service.
    """
    if customer is not None and service_slug is None:
        raise BadRequest.of_field("service_slug", "Name the service that the customer uses as well.")
    if service_slug is not None and organization_slug is None:
        raise BadRequest.of_field("org_slug", "Name the organization of the service as well.")
    request = call.request
    return Destination(
        organization_slug=organization_slug,
        service_slug=service_slug,
        customer=customer,
        device_token=request.headers.get(DEVICE_HEADER) or cookie_of(request, DEVICE_COOKIE),
    )


async def transact_counted(
    call: Call,
    use_case: "Callable[Concatenate[UnitOfWork, Arguments], Result | Refusal]",
    /,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Result:
    """Run a use case that may conclude a sign-in, and count a refusal in the metrics."""
    try:
        return await call.transact(use_case, *args, **kwargs)
    except CountedRefusal as refusal:
        call.installation.metrics.login_failed(refusal.counted_as)
        raise


def answer_outcome(
    call: Call, outcome: SignInCompleted | SecondFactorPending, *, saml_state: str | None = None
) -> SignInTokens | PendingSecondFactor:
    """Turn the conclusion of a sign-in into an answer; the second factor comes back with the state."""
    if isinstance(outcome, SecondFactorPending):
        return _second_factor_due(call, outcome, saml_state)
    return signed_in(call, outcome)


async def back_to_service_provider(
    call: Call, outcome: SignInCompleted | SecondFactorPending, saml_state: str | None
) -> str | msgspec.UnsetType:
    """Return the address that signs the user in to the service provider of SAML whose request waits under the state."""
    if saml_state is None or isinstance(outcome, SecondFactorPending):
        return msgspec.UNSET
    ticket = await call.transact(requests.make_ticket, saml_state, outcome.grant.session_id)
    if ticket is None:
        return msgspec.UNSET
    query = urlencode({"saml_state": saml_state, "ticket": ticket.value.reveal()})
    return f"{call.installation.settings.base_url}{ticket.path}?{query}"


def signed(call: Call, grant: TokenGrant) -> Tokens:
    """Return the signed tokens of a grant, as the JSON interface answers them."""
    access_token, lifetime = signed_access_token(call, grant)
    call.installation.metrics.token_issued()
    return Tokens(
        access_token=access_token,
        refresh_token=grant.refresh_token.reveal(),
        expires_in=int(lifetime.total_seconds()),
    )


def signed_access_token(call: Call, grant: TokenGrant) -> tuple[str, timedelta]:
    """Return the signed access token of a grant, and how long it lives."""
    installation = call.installation
    now = installation.clock()
    # No token outlives its session, because services check a token without asking Gatehouse.
    lifetime = min(installation.settings.access_token_ttl, grant.session_expires_at - now)
    access_token = installation.tokens.sign(
        {**grant.claims, "aud": _audience(grant) or installation.settings.base_url},
        kind=TokenKind.ACCESS,
        lifetime=lifetime,
        now=now,
        host=call.host_name,
        algorithm=grant.signature_algorithm or installation.settings.token_signing,
    )
    return access_token, lifetime


def _audience(grant: TokenGrant) -> str | None:
    """Return the audience of an access token; None for Gatehouse itself."""
    if grant.client_grant is not None and grant.client_grant.audience is not None:
        return grant.client_grant.audience
    return str(grant.client_id) if grant.client_id else None


def signed_in(call: Call, completed: SignInCompleted, *, method: str | None = None) -> SignInTokens:
    """Answer with tokens and the device token; `method` names the second factor that was used."""
    grant = completed.grant
    tokens = signed(call, grant)
    assert grant.device_token is not None, "the grant of a sign-in has no device token"
    has_notice = has_breached_password(call, completed)
    return SignInTokens(
        access_token=tokens.access_token,
        refresh_token=tokens.refresh_token,
        expires_in=tokens.expires_in,
        device_token=remember_device(call, grant.device_token),
        method=method or msgspec.UNSET,
        password_notice=PasswordNotice.BREACHED if has_notice else msgspec.UNSET,
    )


def has_breached_password(call: Call, completed: SignInCompleted) -> bool:
    """Return whether the password of a sign-in has leaked, also when it was typed before the second factor."""
    return completed.has_breached_password or PASSWORD_NOTICE_CLAIM in call.claims


def remember_device(call: Call, device_token: Secret) -> str:
    """Give the client the token of its device as a cookie, and return it."""
    call.set_cookie(DEVICE_COOKIE, device_token.reveal(), lifetime=DEVICE_LIFETIME)
    return device_token.reveal()


def pre_auth_token(call: Call, pending: SecondFactorPending, *, saml_state: str | None = None) -> str:
    """Return the signed token of a sign-in that waits for a second factor."""
    installation, challenge = call.installation, pending.challenge
    claims: dict[str, Any] = {
        "sub": str(challenge.proof.user_id),
        "aud": installation.settings.base_url,
        "challenge": str(challenge.id),
    }
    notice = {PASSWORD_NOTICE_CLAIM: PasswordNotice.BREACHED.value} if pending.has_breached_password else {}
    return installation.tokens.sign(
        claims
        | notice
        | ({SAML_STATE_CLAIM: saml_state} if saml_state is not None else {})
        | ({PASSKEY_CLAIM: True} if pending.takes_passkey else {}),
        kind=TokenKind.PRE_AUTH,
        lifetime=CHALLENGE_LIFETIME,
        now=installation.clock(),
        algorithm=installation.settings.token_signing,
    )


def _second_factor_due(call: Call, pending: SecondFactorPending, saml_state: str | None) -> PendingSecondFactor:
    token = pre_auth_token(call, pending, saml_state=saml_state)
    return PendingSecondFactor(
        access_token=token,
        refresh_token="",
        expires_in=int(CHALLENGE_LIFETIME.total_seconds()),
        mfa_required=True,
        preauth_token=token,
    )
