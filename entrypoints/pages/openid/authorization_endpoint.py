"""The authorization endpoint: where services send browsers, and from where those return with a code."""

from contextlib import suppress
from typing import Annotated, Final
from urllib.parse import parse_qsl, unquote_plus, urlencode
from uuid import UUID

import msgspec
from quart import Response

from core.accounts import return_targets
from core.errors import ErrorCode, Forbidden, OrganizationNotActive, Refusal
from core.openid import authorization_endpoint, requests
from core.openid.answers import (
    Answer,
    CustomerQuestion,
    LeadBack,
    NameQuestion,
    NoAccess,
    Question,
    SetupNeeded,
    SignInNeeded,
    Visitor,
)
from core.openid.client_troubles import RedirectUriRefused, RequestOver, RequestRefused
from core.organizations.access import Operation
from core.secrets import Secret
from core.services import service_access
from core.services.problems import printable
from core.services.redirect_uris import URI_CHARACTERS_MAX
from core.sessions.refresh import SessionOver
from core.sign_in import browser_returns
from core.sign_in.browser_returns import BrowserReturn
from core.sign_in.reasons import SignInRefused
from entrypoints.pages.frame.brands import brand_of
from entrypoints.pages.frame.interrupted_sign_ins import over_page
from entrypoints.pages.frame.redirects import leading_page, open_to_other_sites
from entrypoints.pages.frame.refusals import prefers_json, protocol_refusal_page
from entrypoints.pages.frame.rendering import Page, PageOrRedirect, form_page, page
from entrypoints.pages.frame.returns import WayForm
from entrypoints.pages.frame.routes import shows_again
from entrypoints.pages.services.standing import page_of_service
from entrypoints.pages.sign_in.conclusion import send_to_connection, send_to_set_up, send_to_sign_in
from entrypoints.shared.openid.authorization_fields import AuthorizationFields
from entrypoints.shared.sessions import token_answers
from entrypoints.web.input.cookies import cookie_of
from entrypoints.web.input.decoding import Query
from entrypoints.web.input.languages import asked_for, offered
from entrypoints.web.serving.admission.browsers import SIGN_OUT, ProtectedForm, cookie_name, keep_way, sign_in_address
from entrypoints.web.serving.admission.credentials import in_browser_or_not, public
from entrypoints.web.serving.admission.hosts import issuer_of, on_custom_hosts
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("OpenID Connect", "Signing in to services, in the browser.", protocol_refusal_page)

AUTHORIZE: Final = "/auth/authorize"
# Knows the browser again that was asked to sign in.
KEY_COOKIE: Final = "gatehouse_authorize"
KEY_CHARACTERS_MAX: Final = 100
RESUME: Final = "/auth/authorize/resume"
CONTINUE: Final = "/auth/authorize/continue"
_TEMPLATES: Final[dict[type[Answer], str]] = {
    Question: "openid/authorization_endpoint.html",
    NameQuestion: "openid/authorization_endpoint_name.html",
    CustomerQuestion: "openid/authorization_endpoint_customers.html",
    NoAccess: "openid/authorization_endpoint_no_access.html",
}
REFUSALS: Final = (RequestRefused, RequestOver, SessionOver, SignInRefused, Forbidden, OrganizationNotActive)


class AuthorizationQuery(AuthorizationFields, kw_only=True):
    """The parameters of an authorization request, or the client and the reference of a pushed one."""


class PostedAuthorization(AuthorizationFields, kw_only=True):
    """The same parameters in a form of a service."""


class ResumeQuery(Query, kw_only=True):
    """The id of a request that has waited for its user to sign in."""

    request_id: Annotated[str, msgspec.Meta(description="The id of the request, valid once.")] = ""


class AnswerForm(ProtectedForm, kw_only=True):
    """The user's answer: the id of the request that it is for, the chosen customer, empty for none, and a name.

    `joins` is `yes` on a page that says that the organization has added the user, and `may_enter` is `no` on the page
    of a user who cannot come in.
    """

    request_id: str = ""
    customer: str | None = None
    name: str | None = None
    joins: str = ""
    may_enter: str = ""


async def _over_page(call: Call, *, refusal: RequestOver) -> Response:
    """Return the page that leads back to the service; raise the refusal where no service is known, and for programs."""
    client = refusal.client
    if client is None or prefers_json(call):
        raise refusal
    slugs = {"org_slug": client.organization_slug, "service_slug": client.service.slug}
    place = await call.read(return_targets.recall, slugs)
    if place.service is None:
        raise refusal
    call.language = call.language or offered(refusal.locales)
    return await over_page(call, place, is_signed_in=call.browser is not None, status=refusal.code.status)


async def _unregistered_page(call: Call, *, refusal: RedirectUriRefused) -> Response:
    """Return the page that names the redirect URI; raise the refusal where none was named, and for programs."""
    client = refusal.client
    if client is None or refusal.redirect_uri is None or prefers_json(call):
        raise refusal
    service = client.service
    may_register = False
    if call.browser is not None and call.custom_host is None:
        with suppress(Refusal):
            await call.read(service_access.authorize, client.organization_slug, service.slug, Operation.SERVICE_UPDATE)
            may_register = True
    connecting = page_of_service(client.organization_slug, service.slug)
    return form_page(
        call,
        "openid/authorization_endpoint_unregistered.html",
        status=refusal.code.status,
        service_name=service.name,
        redirect_uri=printable(refusal.redirect_uri[:URI_CHARACTERS_MAX]),
        setting=f"{connecting}#redirect-uris" if may_register else "",
        request_id=call.request_id,
    )


@routes.get(AUTHORIZE, refuses=REFUSALS)
@on_custom_hosts
@in_browser_or_not
@shows_again(_unregistered_page, RedirectUriRefused)
@shows_again(_over_page, RequestOver)
async def authorize(call: Call, query: AuthorizationQuery) -> PageOrRedirect:
    """Sign the user in to a service, and send the browser back with a code.

    Only the `redirect_uri` that the service has registered is followed, character by character; a `desktop` service may
    use any port of loopback. The answer has the parameters `code`, `state` and `iss`, or `error`; with the
    `response_mode` `form_post` the browser posts them. On every page of the sign-in the user can cancel it, which
    answers `access_denied`.
    """
    return await _respond(call, await _begin(call, query), is_after_form=False)


@routes.get(CONTINUE, refuses=REFUSALS)
@on_custom_hosts
@in_browser_or_not
@shows_again(_unregistered_page, RedirectUriRefused)
@shows_again(_over_page, RequestOver)
async def continue_after_sign_in(call: Call, query: AuthorizationQuery) -> PageOrRedirect:
    """Do the same after a sign-in that Gatehouse has begun for the service, as with an external provider."""
    return await _respond(call, await _begin(call, query), is_after_form=True)


@routes.post(AUTHORIZE, status=303, refuses=(RequestRefused,))
@on_custom_hosts
@public
async def authorize_by_form(call: Call, form: PostedAuthorization) -> None:
    """Take the same parameters as a form, and redirect to them: a browser sends no cookies with it.

    An ID token is left out of the address. What such a request asks for waits under an id that is good once.
    """
    client_id = _client_id(form.client_id)
    parameters = form.judged(call, client_id)
    if requests.HINTED_USER in parameters and "request_uri" not in parameters:
        request_uri = await call.transact(authorization_endpoint.receive, client_id, parameters)
        parameters = {"request_uri": request_uri}
    parameters.pop(requests.HINTED_USER, None)
    call.headers["Location"] = f"{AUTHORIZE}?{urlencode({**parameters, 'client_id': client_id})}"


@routes.get(RESUME, refuses=REFUSALS)
@on_custom_hosts
@in_browser_or_not
@shows_again(_over_page, RequestOver)
async def resume(call: Call, query: ResumeQuery) -> PageOrRedirect:
    """Go on with a request after the user has signed in."""
    answer = await call.transact(
        authorization_endpoint.resume, query.request_id, _visitor(call), issuer=issuer_of(call)
    )
    return await _respond(call, answer, is_after_form=True)


@routes.post("/auth/authorize/allow", refuses=REFUSALS)
@on_custom_hosts
@in_browser_or_not
@shows_again(_over_page, RequestOver)
async def allow(call: Call, form: AnswerForm) -> PageOrRedirect:
    """Continue to the service."""
    try:
        answer = await call.transact(
            authorization_endpoint.allow,
            form.request_id,
            _visitor(call),
            issuer=issuer_of(call),
            customer=form.customer,
            confirms_membership=form.joins == "yes",
            name=form.name,
        )
    except Forbidden as refusal:
        # The request waits still, because what refuses it rolls its use back.
        await keep_way(call, refusal, BrowserReturn(target=_resumed(Secret(form.request_id))))
        raise
    return await _respond(call, answer, is_after_form=True)


@routes.post("/auth/authorize/deny", refuses=(RequestRefused, RequestOver, Forbidden))
@on_custom_hosts
@in_browser_or_not
@shows_again(_over_page, RequestOver)
async def deny(call: Call, form: AnswerForm) -> Page:
    """Go back to the service without signing in to it."""
    back = await call.transact(
        authorization_endpoint.deny,
        form.request_id,
        _visitor(call),
        issuer=issuer_of(call),
        may_enter=form.may_enter != "no",
    )
    return led_back(call, back, is_after_form=True)


@routes.post("/auth/authorize/cancel", refuses=(RequestRefused, RequestOver))
@on_custom_hosts
@in_browser_or_not
@shows_again(_over_page, RequestOver)
async def cancel(call: Call, form: WayForm) -> Page:
    """Cancel the sign-in to a service, and go back to it with `access_denied`."""
    kept = await call.transact(browser_returns.use, form.return_id)
    path, _, query = kept.answering.partition("?") if kept is not None else ("", "", "")
    parameters = dict(parse_qsl(query))
    if path == RESUME:
        back = await call.transact(
            authorization_endpoint.deny, parameters["request_id"], _visitor(call), issuer=issuer_of(call)
        )
    elif path == CONTINUE:
        back = await call.transact(
            authorization_endpoint.decline,
            _client_id(parameters["client_id"]),
            parameters,
            _visitor(call),
            issuer=issuer_of(call),
        )
    else:
        raise RequestOver
    return led_back(call, back, is_after_form=True)


async def _begin(call: Call, query: AuthorizationQuery) -> Answer:
    # For the page of a request that is refused.
    call.language = asked_for(query.ui_locales)
    _require_distinct(call)
    client_id = _client_id(query.client_id)
    return await call.transact(
        authorization_endpoint.begin, client_id, query.judged(call, client_id), _visitor(call), issuer=issuer_of(call)
    )


async def _respond(call: Call, answer: Answer, *, is_after_form: bool) -> Response:
    if isinstance(answer, LeadBack):
        return led_back(call, answer, is_after_form=is_after_form)
    call.language = offered(answer.locales)
    if isinstance(answer, SignInNeeded):
        call.set_cookie(cookie_name(call, KEY_COOKIE), answer.browser_key.reveal(), lifetime=requests.WAITING_LIFETIME)
        wanted = BrowserReturn(
            target=_resumed(answer.request_id),
            organization_slug=answer.organization_slug,
            service_slug=answer.service_slug,
            email=answer.email,
            request_key=answer.request_key,
            not_in_session=call.in_browser.session_id if answer.is_anew else None,
        )
        if answer.connection_id is not None:
            return await send_to_connection(call, wanted, answer.connection_id)
        return await send_to_sign_in(call, wanted, is_for_new_account=answer.is_for_new_account)
    if isinstance(answer, SetupNeeded):
        return await send_to_set_up(
            call,
            return_to=_resumed(answer.request_id),
            organization=answer.organization_slug,
            service=answer.service_slug,
        )
    brand = await brand_of(call, answer.organization_id)
    if isinstance(answer, NoAccess) and answer.is_closed:
        # The user signs out there, and comes back to the request with another account.
        wanted = BrowserReturn(target=_resumed(answer.request_id), language=call.language)
        return form_page(
            call,
            _TEMPLATES[NoAccess],
            status=ErrorCode.FORBIDDEN.status,
            question=answer,
            brand=brand,
            switches_at=await sign_in_address(call, wanted, page=SIGN_OUT),
        )
    is_invalid = isinstance(answer, NameQuestion) and answer.problem != ""
    return form_page(call, _TEMPLATES[type(answer)], status=400 if is_invalid else 200, question=answer, brand=brand)


def _resumed(request_id: Secret) -> str:
    return f"{RESUME}?{urlencode({'request_id': request_id.reveal()})}"


def _visitor(call: Call) -> Visitor:
    key = cookie_of(call.request, cookie_name(call, KEY_COOKIE))
    return Visitor(
        browser=call.browser,
        device_token=token_answers.destination(call).device_token,
        key=Secret(key) if key and len(key) <= KEY_CHARACTERS_MAX else None,
    )


def _client_id(text: str | None) -> UUID:
    try:
        return UUID(text or "")
    except ValueError:
        raise RequestRefused("The request names no application, or one that is not known.") from None


def _require_distinct(call: Call) -> None:
    """Refuse a parameter that is sent twice (RFC 6749, 3.1): another party may have read the other one."""
    fields = filter(None, call.request.query_string.decode("ascii", "replace").split("&"))
    names = [unquote_plus(field.partition("=")[0]) for field in fields]
    if len(set(names)) < len(names):
        raise RequestRefused("The request of the application has a parameter twice.")


def led_back(call: Call, back: LeadBack, *, is_after_form: bool) -> Response:
    """Return what takes an answer to the service: a redirect, a page after a form, or a form that posts itself."""
    call.language = offered(back.locales)
    if back.posted is not None:
        return open_to_other_sites(
            page(
                call,
                "openid/authorization_endpoint_form_post.html",
                address=back.address,
                fields=back.posted,
                submits_itself=True,
            )
        )
    return leading_page(call, back.address) if is_after_form else see_other(back.address)
