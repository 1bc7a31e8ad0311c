"""Single logout: messages about the end of a session, from and to other parties, by redirect or by POST.

A posted message is kept and answered with a redirect to a GET, like a request for a sign-in.
"""

from typing import Annotated
from urllib.parse import urlencode
from uuid import UUID

import msgspec
from quart import Response

from core.limits import SAML_BODY_BYTES_MAX
from core.saml import identity_providers, logouts
from core.saml.identity_providers import ProviderUnknown, SamlProvider
from core.saml.logout_steps import LogoutMessage, ProviderMessage, ProviderSignOut
from core.saml.logouts import LogoutStateUnknown
from core.saml.messages import (
    EncodedMessage,
    LogoutResponse,
    MessageRefused,
    OutgoingMessage,
    SamlBinding,
    SamlLogoutRequest,
)
from core.secrets import Secret
from core.sign_in.upstream.by_connection import ConnectionClosed
from core.sign_in.upstream.provider_answers import UpstreamFailed
from entrypoints.pages.frame.redirects import leading_page
from entrypoints.pages.frame.refusals import protocol_refusal_page
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.saml import answering, messages, provider_logouts
from entrypoints.web.input.cookies import cookie_of
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission import hosts
from entrypoints.web.serving.admission.browsers import cookie_name
from entrypoints.web.serving.admission.credentials import in_browser_or_not, public
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("SAML", answering.routes.description, protocol_refusal_page)

SIGNED_OUT = "/app/sign-out"
# The id of the page that follows after all service providers have been visited.
RETURN_COOKIE = "gatehouse_signed_out"
REFUSES = (MessageRefused, LogoutStateUnknown, ProviderUnknown, *answering.REFUSES)


class SloQuery(Query, kw_only=True):
    """A message by redirect, or the state of a logout under way."""

    saml_request: str = msgspec.field(name="SAMLRequest", default="")
    saml_response: str = msgspec.field(name="SAMLResponse", default="")
    relay_state: str | None = msgspec.field(name="RelayState", default=None)
    saml_state: str = ""


class SloForm(msgspec.Struct, kw_only=True):
    """A message by POST."""

    saml_request: str = msgspec.field(name="SAMLRequest", default="")
    saml_response: str = msgspec.field(name="SAMLResponse", default="")
    relay_state: str | None = msgspec.field(name="RelayState", default=None)


@routes.get("/saml/:org_slug/:service_slug/slo", limits=answering.LIMITS, refuses=REFUSES)
@on_custom_hosts
@in_browser_or_not
async def log_out_by_redirect(
    call: Call, org_slug: str, service_slug: str, query: SloQuery
) -> Page | answering.Redirect:
    """Take a message about a logout, and send the next one: to another service provider, or the last answer."""
    if query.saml_state:
        return await go_on(call, query.saml_state, messages.browser_key(call))
    provider = await call.read(identity_providers.find, org_slug, service_slug)
    message = _message(query, call.request.query_string)
    state, key = await _take(call, provider, message)
    return await go_on(call, state, key)


@routes.post(
    "/saml/:org_slug/:service_slug/slo",
    status=303,
    limits=answering.LIMITS,
    body_bytes_max=SAML_BODY_BYTES_MAX,
    is_verified_by_content=True,
    refuses=REFUSES,
)
@on_custom_hosts
@public
async def log_out_by_post(call: Call, org_slug: str, service_slug: str, form: SloForm) -> None:
    """Take a message about a logout; what comes next follows the redirect."""
    provider = await call.read(identity_providers.find, org_slug, service_slug)
    message = _message(form)
    state, _ = await _take(call, provider, message)
    call.headers["Location"] = f"{provider.path}/slo?{urlencode({'saml_state': state})}"


@routes.get(
    "/auth/upstream/:connection_id/slo", limits=answering.LIMITS, refuses=(*REFUSES, ConnectionClosed, UpstreamFailed)
)
@in_browser_or_not
async def log_out_upstream_by_redirect(call: Call, connection_id: UUID, query: SloQuery) -> Page | answering.Redirect:
    """Take a message about a logout from the SAML identity provider of a connection, and send the next one.

    Its request has to be signed. It ends the sessions that the name and the index have begun by this connection.
    """
    if query.saml_state:
        return await go_on(call, query.saml_state, messages.browser_key(call))
    message = _message(query, call.request.query_string)
    return await _go_on_upstream(call, connection_id, message)


@routes.post(
    "/auth/upstream/:connection_id/slo",
    limits=answering.LIMITS,
    body_bytes_max=SAML_BODY_BYTES_MAX,
    is_verified_by_content=True,
    refuses=(*REFUSES, ConnectionClosed, UpstreamFailed),
)
@public
async def log_out_upstream_by_post(call: Call, connection_id: UUID, form: SloForm) -> Page | answering.Redirect:
    """Do what the same address does by GET, for a message by POST."""
    return await _go_on_upstream(call, connection_id, _message(form))


def _message(sent: SloQuery | SloForm, query: bytes = b"") -> EncodedMessage:
    binding = SamlBinding.REDIRECT if isinstance(sent, SloQuery) else SamlBinding.POST
    return messages.encoded(binding, sent.saml_request, sent.saml_response, sent.relay_state, query)


async def _go_on_upstream(call: Call, connection_id: UUID, message: EncodedMessage) -> Response:
    taken = await provider_logouts.take(call, connection_id, message)
    if taken is None:
        # The answer has to come to the browser that has brought the request, which shows by its cookie.
        return see_other(f"/auth/upstream/{connection_id}/slo?{urlencode({'saml_state': message.relay_state or ''})}")
    messages.keep_browser_key(call, taken.browser_key)
    return await go_on(call, taken.state.reveal(), taken.browser_key)


async def go_on(call: Call, state: str, key: Secret | None) -> Response:
    """Send the next message of a logout."""
    message = await next_message(call, state, key)
    return messages.carry(call, message) if message is not None else see_other(SIGNED_OUT)


async def next_message(call: Call, state: str, key: Secret | None) -> OutgoingMessage | None:
    """Return the next message of a logout; None when it is over and no service provider waits."""
    base_url = hosts.issuer_of(call)
    session_id = call.browser.session_id if call.browser is not None else None
    step = await call.transact(logouts.go_on, state, key, session_id, base_url=base_url)
    match step:
        case LogoutMessage():
            return await call.installation.saml.logout_message(step.content, step.key, step.binding, step.relay_state)
        case ProviderMessage():
            return await provider_logouts.to_provider(call, step)
        case ProviderSignOut():
            return await provider_logouts.to_openid_provider(call, step, return_id=_return_id(call))
        case _:
            return None


async def _take(call: Call, provider: SamlProvider, message: EncodedMessage) -> tuple[str, Secret | None]:
    """Take a message, and return the state of its logout and the key of the browser."""
    base_url = hosts.issuer_of(call)
    received = await call.installation.saml.read(message, provider.configuration.sp_certificate)
    match received:
        case SamlLogoutRequest():
            taken = await call.transact(
                logouts.take,
                provider,
                received,
                relay_state=message.relay_state,
                browser_key=messages.browser_key(call),
                base_url=base_url,
            )
            messages.keep_browser_key(call, taken.browser_key)
            return taken.state.reveal(), taken.browser_key
        case LogoutResponse():
            await call.transact(logouts.receive, provider, received, state=message.relay_state, base_url=base_url)
            return message.relay_state or "", messages.browser_key(call)
        case _:
            raise MessageRefused("It is of a kind that is not taken here.")


class SamlLogoutQuery(Query, kw_only=True):
    """The state of a logout that began here."""

    saml_state: Annotated[str, msgspec.Meta(description="The state of a logout under way.", examples=["$SAML_STATE"])]


@routes.get("/saml/logout", limits=answering.LIMITS, refuses=REFUSES)
@on_custom_hosts
@in_browser_or_not
async def log_out_everywhere(call: Call, query: SamlLogoutQuery) -> Page | answering.Redirect:
    """Tell service providers that the user of this browser has signed out at Gatehouse."""
    message = await next_message(call, query.saml_state, messages.browser_key(call))
    if message is not None:
        return messages.begin_to_carry(call, message)
    # What is kept may lead elsewhere, which the policy of a form's page would stop.
    return leading_page(call, SIGNED_OUT) if _return_id(call) is not None else see_other(SIGNED_OUT)


def _return_id(call: Call) -> str | None:
    """Return the id of the page that follows in this browser after all service providers; None without one."""
    return cookie_of(call.request, cookie_name(call, RETURN_COOKIE))
