"""Signing in by password."""

import trio

from core.errors import Forbidden, NotFound, OrganizationNotActive, ServiceUnavailable, SsoRequired
from core.limits import PASSWORD_CHARACTERS_MAX
from core.rate_limits import RateLimit
from core.saml import requests
from core.sign_in import login
from core.sign_in.conclusion import SecondFactorPending, SignInCompleted
from core.sign_in.login import Attempt
from core.sign_in.proofs import Destination
from core.sign_in.refusals import SignInRefused
from entrypoints.http.sessions.token_answers import (
    SecondFactorDue,
    SignedIn,
    answer_outcome,
    back_to_service_provider,
    destination,
    transact_counted,
)
from entrypoints.web.calls import Call, shielded
from entrypoints.web.credentials import public
from entrypoints.web.hidden import SecretBody
from entrypoints.web.routes import Routes
from ports.accounts.passwords import Verdict

routes = Routes("login", "Signing in with an email address and a password.")


class Login(SecretBody, kw_only=True):
    """The credentials, and the organization and service to sign in to."""

    email: str
    password: str
    org_slug: str | None = None
    service_slug: str | None = None
    saml_state: str | None = None


@routes.post(
    "/api/auth/login",
    limits=(RateLimit.LOGIN,),
    refuses=(SignInRefused, SsoRequired, NotFound, Forbidden, OrganizationNotActive),
)
@public
async def log_in(call: Call, body: Login) -> SignedIn | SecondFactorDue:
    """Sign in with an email address and a password.

    When a second factor is required, the answer has `mfa_required: true`, and its `access_token` is valid for
    `POST /api/auth/mfa/verify` only. With `saml_state`, the answer to the last step has `saml_redirect_url`: open it in
    the same browser within a minute.
    """
    wanted = destination(call, body.org_slug, body.service_slug)
    if body.saml_state is not None:
        await call.read(requests.require_open, body.saml_state)
    outcome = await authenticate(call, body.email, body.password, wanted)
    answer = answer_outcome(call, outcome, saml_state=body.saml_state)
    if isinstance(answer, SignedIn):
        answer.saml_redirect_url = await back_to_service_provider(call, outcome, body.saml_state)
    return answer


async def authenticate(
    call: Call, email: str, password: str, wanted: Destination
) -> SignInCompleted | SecondFactorPending:
    """Sign in by password, or raise the refusal: find the hash, compare on the hasher's threads, conclude."""
    attempt = await call.transact(login.begin, email, call.throttled_network, wanted)
    verdict = await _compare(call, password, attempt)
    return await _conclude(call, password, attempt, wanted, verdict)


async def _compare(call: Call, password: str, attempt: Attempt) -> Verdict:
    # No account has a longer password. Comparing with none takes the same time as a comparison.
    encoded = attempt.password_hash if len(password) <= PASSWORD_CHARACTERS_MAX else None
    try:
        return await call.installation.passwords.verify(password[:PASSWORD_CHARACTERS_MAX], encoded, attempt.decoys)
    except (ServiceUnavailable, trio.Cancelled):
        # Cancelled while it waited, because a comparison that has begun is finished.
        with shielded():
            await call.transact(login.give_up, attempt)
        raise


async def _conclude(
    call: Call, password: str, attempt: Attempt, wanted: Destination, verdict: Verdict
) -> SignInCompleted | SecondFactorPending:
    if not verdict.is_right:
        # Recorded also when the client has hung up, because a password was compared.
        with shielded():
            return await transact_counted(call, login.finish, attempt, wanted, is_right=False)
    try:
        upgraded = await _rehash(call, password) if verdict.needs_upgrade else None
        return await transact_counted(call, login.finish, attempt, wanted, is_right=True, upgraded_hash=upgraded)
    except trio.Cancelled:
        # No session begins without a client, and the right password is no failure.
        with shielded():
            await call.transact(login.give_up, attempt)
        raise


async def _rehash(call: Call, password: str) -> str | None:
    try:
        return await call.installation.passwords.hash(password)
    except ServiceUnavailable:
        # Keep the old hash until a later sign-in.
        return None
