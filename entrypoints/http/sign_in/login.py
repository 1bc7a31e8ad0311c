"""Signing in by password."""

from core.errors import Forbidden, NotFound, OrganizationNotActive, SsoRequired
from core.rate_limits import RateLimit
from core.saml import requests
from core.sign_in.customer_choices import CustomerRequired
from core.sign_in.reasons import SignInRefused
from entrypoints.shared.sessions.token_answers import (
    CustomerName,
    PendingSecondFactor,
    SignInTokens,
    answer_outcome,
    back_to_service_provider,
    destination,
)
from entrypoints.shared.sign_in.login import authenticate
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("login", "Signing in with an email address and a password.")


class Login(SecretBody, kw_only=True):
    """The credentials, and the organization and service to sign in to."""

    email: str
    password: str
    org_slug: str | None = None
    service_slug: str | None = None
    customer: CustomerName | None = None
    saml_state: str | None = None


@routes.post(
    "/api/auth/login",
    limits=(RateLimit.LOGIN,),
    refuses=(SignInRefused, SsoRequired, NotFound, Forbidden, OrganizationNotActive, CustomerRequired),
)
@public
async def log_in(call: Call, body: Login) -> SignInTokens | PendingSecondFactor:
    """Sign in with an email address and a password.

    When a second factor is required, the answer has `mfa_required: true`, and its `access_token` is valid for
    `POST /api/auth/mfa/verify` only. Where you have to choose for which customer of the service you come, the answer is
    409 `CUSTOMER_REQUIRED`, with `customers` (id, slug, name and connection_id of each), `individual`, and a
    `customer_token` for `POST /api/auth/customer`. Where the customer requires its own sign-in, 403 `SSO_REQUIRED` has
    its `connection_id`: begin anew at `/auth/upstream`. With `saml_state`, the answer to the last step has
    `saml_redirect_url`: open it in the same browser within a minute.
    """
    wanted = destination(call, body.org_slug, body.service_slug, body.customer)
    if body.saml_state is not None:
        wanted = await call.read(requests.require_open, body.saml_state, wanted)
    outcome = await authenticate(call, body.email, body.password, wanted)
    answer = answer_outcome(call, outcome, saml_state=body.saml_state)
    if isinstance(answer, SignInTokens):
        answer.saml_redirect_url = await back_to_service_provider(call, outcome, body.saml_state)
    return answer
