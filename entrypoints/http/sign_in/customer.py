"""Choosing the customer of a service for which one signs in."""

from core.errors import Forbidden, NotFound, OrganizationNotActive, SsoRequired
from core.rate_limits import RateLimit
from core.saml import requests
from core.sign_in import customer
from core.sign_in.mfa_challenges import CustomerTokenOver
from core.sign_in.reasons import SignInRefused
from entrypoints.shared.sessions.token_answers import (
    CustomerName,
    SignInTokens,
    back_to_service_provider,
    destination,
    signed_in,
    transact_counted,
)
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("login", "Signing in with an email address and a password.")


class CustomerChoice(SecretBody, kw_only=True):
    """The token of the sign-in that has asked, and the customer by its id or slug; null for none."""

    customer_token: str
    customer: CustomerName | None
    saml_state: str | None = None


@routes.post(
    "/api/auth/customer",
    limits=(RateLimit.LOGIN,),
    refuses=(CustomerTokenOver, SignInRefused, SsoRequired, NotFound, Forbidden, OrganizationNotActive),
)
@public
async def choose_customer(call: Call, body: CustomerChoice) -> SignInTokens:
    """Complete a sign-in that was answered with `CUSTOMER_REQUIRED`, for the customer that the user has chosen.

    It answers like a login, and confirms that the user comes for this customer: the next sign-in does not ask, unless
    there are several. Where the customer requires its own sign-in, 403 `SSO_REQUIRED` has its `connection_id`. A
    refusal does not use the token up. Send `saml_state` again if the sign-in had one.
    """
    client = destination(call)
    if body.saml_state is not None:
        client = await call.read(requests.require_open, body.saml_state, client)
    completed = await transact_counted(call, customer.choose, body.customer_token, body.customer, client)
    tokens = signed_in(call, completed)
    tokens.saml_redirect_url = await back_to_service_provider(call, completed, body.saml_state)
    return tokens
