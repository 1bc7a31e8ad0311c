"""Single logout with the identity provider of a connection: its requests and its answers, by redirect or by POST.

Its requests are signed, and end sessions in whatever browser they come; what the browser carries on after a POST needs
no cookie. Only an answer to our own request goes on in the browser that has brought that request.
"""

from collections.abc import Sequence
from urllib.parse import urlencode
from uuid import UUID

from core.limits import LARGE_BODY_BYTES_MAX
from core.saml import provider_logouts
from core.saml.logouts import LogoutStateUnknown
from core.saml.messages import EncodedMessage, LogoutResponse, MessageRefused, SamlBinding, SamlLogoutRequest
from core.sign_in.upstream import by_connection, changes
from core.sign_in.upstream.answers import UpstreamFailed
from core.sign_in.upstream.by_connection import ConnectionClosed, OpenConnection
from core.sign_in.upstream.saml import ServiceProvider
from entrypoints.pages.refusals import protocol_refusal_page
from entrypoints.pages.rendering import Page
from entrypoints.pages.saml import carriers, sso
from entrypoints.pages.saml.slo import SloForm, SloQuery, go_on
from entrypoints.web.serving.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_browser_or_not, public
from entrypoints.web.serving.routes import Routes

routes = Routes("upstream sign-in", "Signing in by an organization's own identity provider.", protocol_refusal_page)

_REFUSES = (MessageRefused, LogoutStateUnknown, ConnectionClosed, UpstreamFailed)


class ProviderMessageRefused(MessageRefused):
    """A message of the identity provider of a connection that is not answered."""

    default_message = (
        "Your organization's identity provider sent a message about signing out that cannot be used. Sign out there and"
        " here by yourself, and show this page to your administrator."
    )


@routes.get("/auth/upstream/:connection_id/slo", limits=sso.LIMITS, refuses=_REFUSES)
@in_browser_or_not
async def log_out_upstream_by_redirect(call: Call, connection_id: UUID, query: SloQuery) -> Page | sso.Redirect:
    """Take a message about a logout from a SAML identity provider, and send the next one.

    Its request has to be signed. It ends the sessions which the name and the index have begun by this connection.
    """
    if query.saml_state:
        return await go_on(call, query.saml_state, carriers.browser_key(call))
    encoded = carriers.encoded(
        SamlBinding.REDIRECT, query.saml_request, query.saml_response, query.relay_state, call.request.query_string
    )
    return await _take(call, connection_id, encoded)


@routes.post(
    "/auth/upstream/:connection_id/slo", limits=sso.LIMITS, body_bytes_max=LARGE_BODY_BYTES_MAX, refuses=_REFUSES
)
@public
async def log_out_upstream_by_post(call: Call, connection_id: UUID, form: SloForm) -> Page | sso.Redirect:
    """Do what the same address does by GET, for a message by POST."""
    encoded = carriers.encoded(SamlBinding.POST, form.saml_request, form.saml_response, form.relay_state)
    return await _take(call, connection_id, encoded)


async def _take(call: Call, connection_id: UUID, encoded: EncodedMessage) -> Page | sso.Redirect:
    target = await call.read(by_connection.find, connection_id)
    if not target.connection.is_saml:
        raise ConnectionClosed
    try:
        return await _answer(call, target, encoded)
    except MessageRefused as refused:
        raise ProviderMessageRefused(refused.problem) from None


async def _answer(call: Call, target: OpenConnection, encoded: EncodedMessage) -> Page | sso.Redirect:
    own = ServiceProvider.of(call.installation.settings.base_url, target.connection.id)
    match await _read(call, encoded, await _certificates(call, target)):
        case SamlLogoutRequest() as request:
            taken = await call.transact(
                provider_logouts.take,
                target,
                request,
                own=own,
                relay_state=encoded.relay_state,
                browser_key=carriers.browser_key(call),
            )
            carriers.keep_browser_key(call, taken.browser_key)
            return await go_on(call, taken.state.reveal(), taken.browser_key)
        case LogoutResponse() as response:
            await call.transact(provider_logouts.receive, target, response, own=own, state=encoded.relay_state)
            state = urlencode({"saml_state": encoded.relay_state or ""})
            return see_other(f"/auth/upstream/{target.connection.id}/slo?{state}")
        case _:
            raise MessageRefused("It is of a kind that is not taken here.")


async def _certificates(call: Call, target: OpenConnection) -> Sequence[str]:
    """Return the certificates of the metadata by which assertions of the connection are verified already."""
    described = await call.installation.saml_connections.describe(target.organization_id, target.connection.metadata)
    known = await call.read(changes.certificates_of, target.organization_id, target.connection.id)
    return [one for one in described.certificates if known is None or changes.fingerprints((one,)) <= known]


async def _read(call: Call, encoded: EncodedMessage, certificates: Sequence[str]) -> object:
    """Return a message that one of the certificates verifies, or that has no signature."""
    refusal = MessageRefused("The identity provider has replaced its certificates.")
    for certificate in certificates:
        try:
            return await call.installation.saml.read(encoded, certificate)
        except MessageRefused as refused:
            refusal = refused
    raise refusal
