"""Sign-in that begins at Gatehouse: the form that posts an assertion which the service provider has not asked for."""

from typing import Annotated, Final

import msgspec
from quart import Response

from core.errors import Refusal
from core.organizations.access import Operation
from core.saml import sign_in
from core.saml.messages import RELAY_STATE_CHARACTERS_MAX
from core.saml.sign_in import AgreementRequired, ResponseToPost
from core.saml.visits import Visit
from core.sign_in.refusals import SecondFactorDue
from entrypoints.pages.refusals import refusal_page
from entrypoints.pages.rendering import Page
from entrypoints.pages.saml import sso
from entrypoints.pages.sign_in.ways import send_to_sign_in
from entrypoints.shared.sessions import token_answers
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.answers import refused
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_organization
from entrypoints.web.serving.impersonating import StopFirst
from entrypoints.web.serving.routes import Routes

_OWN_SITE: Final = "same-origin"


class LoginQuery(Query, kw_only=True):
    """What the service provider is to get with the assertion."""

    relay_state: Annotated[str, msgspec.Meta(max_length=RELAY_STATE_CHARACTERS_MAX)] | None = msgspec.field(
        name="RelayState", default=None
    )


def login_refusal(call: Call, refusal: Refusal) -> Response:
    """Return a page for a browser, and JSON for everything else."""
    if "text/html" in call.request.headers.get("Accept", ""):
        return refusal_page(call, refusal)
    installation = call.installation
    return refused(
        refusal, request_id=call.request_id, at=installation.clock(), base_url=installation.settings.base_url
    )


routes = Routes("SAML", sso.routes.description, login_refusal)


@routes.get(
    "/api/organizations/:org_slug/services/:service_slug/saml/login",
    limits=sso.LIMITS,
    refuses=(*sso.REFUSES, SecondFactorDue),
)
@in_organization(Operation.SAML_LOGIN, or_browser=True)
async def log_in(call: Call, org_slug: str, service_slug: str, query: LoginQuery) -> Page | sso.Redirect:
    """Answer with a form that signs you in to the application.

    In a browser that comes from another site, a page asks first.
    """
    if call.acts_for is not None:
        # As on the other ways to an application.
        raise StopFirst
    is_asked = call.browser is None or call.request.headers.get("Sec-Fetch-Site") == _OWN_SITE
    visit = Visit(
        base_url=call.installation.settings.base_url,
        device_token=token_answers.destination(call).device_token,
        has_agreed=is_asked,
        relay_state=query.relay_state,
    )
    begun = await call.transact(sign_in.initiate, org_slug, service_slug, visit)
    if isinstance(begun.outcome, ResponseToPost):
        return await sso.answered(call, begun.outcome)
    if isinstance(begun.outcome, AgreementRequired):
        return await sso.agreement_page(call, begun.provider, begun.outcome, relay_state=query.relay_state)
    return await _sign_in_again(call, org_slug, service_slug)


async def _sign_in_again(call: Call, org_slug: str, service_slug: str) -> Response:
    if call.browser is None:
        raise SecondFactorDue
    return await send_to_sign_in(call, return_to=call.request.path, organization=org_slug, service=service_slug)
