"""Answering a request for a sign-in that waits: after the sign-in, and after the user's agreement."""

from dataclasses import replace
from urllib.parse import parse_qsl

from quart import Response

from core.saml import answering, identity_providers, requests
from core.saml.answers import AgreementRequired, CustomerQuestion, ResponseToPost
from core.saml.identity_providers import SamlProvider
from core.saml.requests import PendingRequest
from core.saml.visits import Visit
from core.sign_in import browser_returns
from core.sign_in.browser_returns import BrowserReturn
from entrypoints.pages.frame.refusals import protocol_refusal_page
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.returns import WayForm
from entrypoints.pages.saml import messages
from entrypoints.pages.saml.answering import (
    LIMITS,
    REFUSES,
    Redirect,
    address,
    agreement_page,
    answered,
    customer_page,
    send_to_authenticate,
    visit,
)
from entrypoints.pages.saml.answering import routes as sign_in_routes
from entrypoints.shared.sessions.token_answers import CustomerName
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import in_browser_or_not
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("SAML", sign_in_routes.description, protocol_refusal_page)


class AuthenticateQuery(Query, kw_only=True):
    """The state of a request, and the ticket of a sign-in elsewhere if there was one."""

    saml_state: str = ""
    ticket: str = ""


class CancelForm(WayForm, kw_only=True):
    """The button that cancels: on the page that asks, or on one of the sign-in, which names where it leads."""

    saml_state: str = ""


class QuestionForm(ProtectedForm, kw_only=True):
    """What the user says to a question; without a state the service provider has sent no request.

    `ticket` is for the session of a user who has signed in elsewhere, and `joins` is `yes` on a page that says that the
    organization has added the user.
    """

    saml_state: str = ""
    ticket: str = ""
    relay_state: str | None = None
    joins: str = ""


class AgreementForm(QuestionForm, kw_only=True):
    """The button of a user who agrees; `customer` is the customer in the link that led there."""

    customer: CustomerName | None = None


class CustomerForm(QuestionForm, kw_only=True):
    """The customer of a service that the user has chosen, empty for none."""

    customer: CustomerName = ""


@routes.get("/saml/:org_slug/:service_slug/authenticate", limits=LIMITS, refuses=REFUSES)
@on_custom_hosts
@in_browser_or_not
async def authenticate(call: Call, org_slug: str, service_slug: str, query: AuthenticateQuery) -> Page | Redirect:
    """Answer a request that waits; a browser that is not signed in is led to the sign-in first."""
    found = await call.read(requests.find, org_slug, service_slug, query.saml_state, messages.browser_key(call))
    return await _answered(call, found.provider, found.pending, visit(call), query)


@routes.post("/saml/:org_slug/:service_slug/authenticate", limits=LIMITS, refuses=REFUSES)
@on_custom_hosts
@in_browser_or_not
async def agree(call: Call, org_slug: str, service_slug: str, form: AgreementForm) -> Page | Redirect:
    """Sign the user in to the service provider, whose page they have agreed to."""
    return await _agreed(call, org_slug, service_slug, form, customer=form.customer)


@routes.post("/saml/:org_slug/:service_slug/authenticate/customer", limits=LIMITS, refuses=REFUSES)
@on_custom_hosts
@in_browser_or_not
async def choose_customer(call: Call, org_slug: str, service_slug: str, form: CustomerForm) -> Page | Redirect:
    """Sign the user in to the service provider for the customer that they have chosen."""
    return await _agreed(call, org_slug, service_slug, form, chosen=form.customer)


@routes.post("/saml/:org_slug/:service_slug/authenticate/cancel", limits=LIMITS, refuses=REFUSES)
@on_custom_hosts
@in_browser_or_not
async def cancel(call: Call, org_slug: str, service_slug: str, form: CancelForm) -> Page:
    """Cancel the sign-in to a service provider, which gets the status `RequestDenied`."""
    state = form.saml_state
    if form.return_id:
        kept = await call.transact(browser_returns.use, form.return_id)
        state = dict(parse_qsl(kept.answering.partition("?")[2])).get("saml_state", "") if kept is not None else ""
    found = await call.read(requests.find, org_slug, service_slug, state, messages.browser_key(call))
    return await answered(call, await call.transact(answering.deny, found.provider, found.pending, visit(call)))


async def _found(
    call: Call, org_slug: str, service_slug: str, saml_state: str
) -> tuple[SamlProvider, PendingRequest | None]:
    """Return the identity provider, and the request that waits under a state; None without a state."""
    if not saml_state:
        return await call.read(identity_providers.find, org_slug, service_slug), None
    found = await call.read(requests.find, org_slug, service_slug, saml_state, messages.browser_key(call))
    return found.provider, found.pending


async def _agreed(
    call: Call,
    org_slug: str,
    service_slug: str,
    form: QuestionForm,
    *,
    customer: str | None = None,
    chosen: str | None = None,
) -> Response:
    """Answer with the user's choice on a page."""
    provider, pending = await _found(call, org_slug, service_slug, form.saml_state)
    agreed = replace(
        visit(call),
        has_agreed=True,
        confirms_membership=form.joins == "yes",
        relay_state=form.relay_state,
        customer=customer,
        chosen=chosen,
    )
    return await _answered(call, provider, pending, agreed, form, relay_state=form.relay_state)


async def _answered(
    call: Call,
    provider: SamlProvider,
    pending: PendingRequest | None,
    visit: Visit,
    sent: AuthenticateQuery | QuestionForm,
    *,
    relay_state: str | None = None,
) -> Response:
    """Answer in the session of the browser or of a ticket, ask the user, or lead to the sign-in."""
    saml_state = sent.saml_state
    if sent.ticket and pending is not None:
        outcome = await call.transact(answering.answer_with_ticket, provider, pending, sent.ticket, visit)
    else:
        outcome = await call.transact(answering.answer, provider, pending, visit)
    if isinstance(outcome, ResponseToPost):
        return await answered(call, outcome)
    if isinstance(outcome, AgreementRequired):
        return await agreement_page(call, provider, outcome, saml_state=saml_state, relay_state=relay_state)
    if isinstance(outcome, CustomerQuestion):
        return await customer_page(call, provider, outcome, saml_state=saml_state, relay_state=relay_state)
    wanted = BrowserReturn(
        # The sign-in that follows is the agreement.
        target=address(provider, "authenticate", saml_state) if pending is not None else "/app",
        organization_slug=provider.organization_slug,
        service_slug=provider.service_slug,
        request_key=pending.key if pending is not None else None,
    )
    return await send_to_authenticate(call, wanted, outcome)
