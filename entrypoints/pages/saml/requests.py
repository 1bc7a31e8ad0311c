"""Answering a request for a sign-in that waits: after the sign-in, and after the user's agreement."""

from urllib.parse import parse_qsl

from core.saml import providers, requests, sign_in
from core.saml.sign_in import AgreementRequired, ResponseToPost
from core.sign_in import browser_returns
from entrypoints.pages.frame.refusals import protocol_refusal_page
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.returns import WayForm
from entrypoints.pages.saml import messages
from entrypoints.pages.saml.sign_in import LIMITS, REFUSES, Redirect, address, agreement_page, answered, visit
from entrypoints.pages.saml.sign_in import routes as sign_in_routes
from entrypoints.pages.sign_in.conclusion import send_to_sign_in
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.browsers import ProtectedForm
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_browser_in_person, in_browser_or_not
from entrypoints.web.serving.hosts import on_custom_hosts
from entrypoints.web.serving.routes import Routes

routes = Routes("SAML", sign_in_routes.description, protocol_refusal_page)


class AuthenticateQuery(Query, kw_only=True):
    """The state of a request, and the ticket of a sign-in elsewhere if there was one."""

    saml_state: str = ""
    ticket: str = ""


class CancelForm(WayForm, kw_only=True):
    """The button that cancels: on the page that asks, or on one of the sign-in, which names where it leads."""

    saml_state: str = ""


class AgreementForm(ProtectedForm, kw_only=True):
    """The button of a user who agrees; without a state the service provider has not asked."""

    saml_state: str = ""
    relay_state: str | None = None


@routes.get("/saml/:org_slug/:service_slug/authenticate", limits=LIMITS, refuses=REFUSES)
@on_custom_hosts
@in_browser_or_not
async def authenticate(call: Call, org_slug: str, service_slug: str, query: AuthenticateQuery) -> Page | Redirect:
    """Answer a request that waits; a browser that is not signed in is led to the sign-in first."""
    found = await call.read(requests.find, org_slug, service_slug, query.saml_state, messages.browser_key(call))
    if query.ticket:
        outcome = await call.transact(
            sign_in.answer_with_ticket, found.provider, found.pending, query.ticket, visit(call)
        )
    else:
        outcome = await call.transact(sign_in.answer, found.provider, found.pending, visit(call))
    if isinstance(outcome, ResponseToPost):
        return await answered(call, outcome)
    if isinstance(outcome, AgreementRequired):
        return await agreement_page(call, found.provider, outcome, saml_state=query.saml_state)
    return await send_to_sign_in(
        call,
        return_to=address(found.provider, "authenticate", query.saml_state),
        organization=org_slug,
        service=service_slug,
        request_key=found.pending.key,
    )


@routes.post("/saml/:org_slug/:service_slug/authenticate", limits=LIMITS, refuses=REFUSES)
@on_custom_hosts
@in_browser_in_person
async def agree(call: Call, org_slug: str, service_slug: str, form: AgreementForm) -> Page | Redirect:
    """Sign the user of this browser in to the service provider, whose page they have agreed to."""
    if not form.saml_state:
        provider, pending = await call.read(providers.find, org_slug, service_slug), None
    else:
        found = await call.read(requests.find, org_slug, service_slug, form.saml_state, messages.browser_key(call))
        provider, pending = found.provider, found.pending
    outcome = await call.transact(
        sign_in.answer, provider, pending, visit(call, has_agreed=True, relay_state=form.relay_state)
    )
    if isinstance(outcome, ResponseToPost):
        return await answered(call, outcome)
    return await send_to_sign_in(
        call,
        # The sign-in that follows is the agreement.
        return_to=address(provider, "authenticate", form.saml_state) if pending is not None else "/app",
        organization=org_slug,
        service=service_slug,
        request_key=pending.key if pending is not None else None,
    )


@routes.post("/saml/:org_slug/:service_slug/authenticate/cancel", limits=LIMITS, refuses=REFUSES)
@on_custom_hosts
@in_browser_or_not
async def cancel(call: Call, org_slug: str, service_slug: str, form: CancelForm) -> Page:
    """Cancel the sign-in to a service provider, which is told that its request was denied."""
    state = form.saml_state
    if form.return_id:
        kept = await call.transact(browser_returns.use, form.return_id)
        state = dict(parse_qsl(kept.answering.partition("?")[2])).get("saml_state", "") if kept is not None else ""
    found = await call.read(requests.find, org_slug, service_slug, state, messages.browser_key(call))
    return await answered(call, await call.transact(sign_in.deny, found.provider, found.pending, visit(call)))
