"""Signing in by password."""

from dataclasses import replace

from core.errors import Forbidden, NotFound, OrganizationNotActive, SsoRequired
from core.rate_limits import RateLimit
from core.saml import requests
from core.sign_in.refusals import SignInRefused
from entrypoints.shared.sessions.token_answers import (
    PendingSecondFactor,
    SignInTokens,
    answer_outcome,
    back_to_service_provider,
    destination,
)
from entrypoints.shared.sign_in.login import authenticate
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public
from entrypoints.web.serving.routes import Routes

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
async def log_in(call: Call, body: Login) -> SignInTokens | PendingSecondFactor:
    """Sign in with an email address and a password.

    When a second factor is required, the answer has `mfa_required: true`, and its `access_token` is valid for
    `POST /api/auth/mfa/verify` only. With `saml_state`, the answer to the last step has `saml_redirect_url`: open it in
    the same browser within a minute.
    """
    wanted = destination(call, body.org_slug, body.service_slug)
    if body.saml_state is not None:
        wanted = replace(wanted, target=await call.read(requests.require_open, body.saml_state))
    outcome = await authenticate(call, body.email, body.password, wanted)
    answer = answer_outcome(call, outcome, saml_state=body.saml_state)
    if isinstance(answer, SignInTokens):
        answer.saml_redirect_url = await back_to_service_provider(call, outcome, body.saml_state)
    return answer
