"""Messages about a logout between the identity provider of a connection and us, by its present metadata.

Its requests are signed, and end sessions in whichever browser they come; the redirect after a POST needs no cookie.
Only an answer to our own request must come in the browser that has carried that request.
"""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlencode
from uuid import UUID

from core.saml import provider_logouts
from core.saml.logout_steps import ProviderMessage, ProviderSignOut
from core.saml.logouts import TakenLogout
from core.saml.messages import (
    EncodedMessage,
    LogoutResponse,
    MessageRefused,
    OutgoingLogoutRequest,
    OutgoingMessage,
    ReceivedMessage,
    SamlBinding,
    SamlLogoutRequest,
)
from core.sign_in.upstream import by_connection
from core.sign_in.upstream.by_connection import ConnectionClosed, OpenConnection
from core.sign_in.upstream.connections import changes, connection_fields
from core.sign_in.upstream.provider_answers import UpstreamFailed
from core.sign_in.upstream.saml import ServiceProvider
from entrypoints.pages.saml import messages
from entrypoints.shared.sign_in.upstream.own_addresses import signed_out_address
from entrypoints.shared.sign_in.upstream.saml_connections import current_description, ensure_key
from entrypoints.web.serving.calls import Call


class ProviderMessageRefused(MessageRefused):
    """A message of the identity provider of a connection that is not answered."""

    default_message = (
        "Your organization's identity provider sent a message about signing out that cannot be used. Sign out there and"
        " here by yourself, and show this page to your administrator."
    )


async def take(call: Call, connection_id: UUID, encoded: EncodedMessage) -> TakenLogout | None:
    """Return the logout that an identity provider asks for; None when it has answered a request of ours.

    Raise `ProviderMessageRefused`, or `ConnectionClosed` without such a connection by SAML.
    """
    target = await call.read(by_connection.find, connection_id)
    if not target.connection.is_saml:
        raise ConnectionClosed
    try:
        return await _take(call, target, encoded)
    except MessageRefused as refused:
        raise ProviderMessageRefused(refused.problem) from None


async def to_provider(call: Call, step: ProviderMessage) -> OutgoingMessage | None:
    """Return a signed message for a browser to carry; None when the identity provider takes none, or is not there.

    The sessions here have ended before, whatever becomes of it.
    """
    connection_id = step.connection.id
    try:
        endpoint = (await current_description(call, step.organization_id, step.connection)).logout
        if endpoint is None or not all(map(connection_fields.is_protected, (endpoint.url, endpoint.response_url))):
            return None
        key = await ensure_key(call, step.organization_id, connection_id)
    except (UpstreamFailed, ConnectionClosed):
        return None
    issuer = ServiceProvider.of(call.installation.settings.base_url, connection_id).entity_id
    binding = SamlBinding.POST if endpoint.is_post else SamlBinding.REDIRECT
    destination = endpoint.url if isinstance(step.content, OutgoingLogoutRequest) else endpoint.response_url
    content = replace(step.content, issuer=issuer, destination=destination)
    return await call.installation.saml.logout_message(content, key, binding, step.relay_state)


async def to_openid_provider(call: Call, step: ProviderSignOut, *, return_id: str | None) -> OutgoingMessage | None:
    """Return where a browser signs out at an OpenID provider (OpenID Connect RP-Initiated Logout 1.0).

    None when the provider has no such address, or is not there. `return_id` comes back with the browser.
    """
    connection, base_url = step.connection, call.installation.settings.base_url
    assert connection.issuer is not None, "an OpenID connection has no issuer"
    assert connection.client_id is not None, "an OpenID connection has no client id"
    try:
        found = await call.installation.upstream_connections.discover(step.organization_id, connection.issuer)
    except UpstreamFailed:
        return None
    if found.end_session_url is None:
        return None
    parameters = {
        "client_id": connection.client_id,
        "post_logout_redirect_uri": signed_out_address(base_url),
        **({"id_token_hint": step.id_token.reveal()} if step.id_token is not None else {}),
        **({"state": return_id} if return_id is not None else {}),
    }
    separator = "&" if "?" in found.end_session_url else "?"
    return OutgoingMessage(
        binding=SamlBinding.REDIRECT, url=f"{found.end_session_url}{separator}{urlencode(parameters)}"
    )


async def _take(call: Call, target: OpenConnection, encoded: EncodedMessage) -> TakenLogout | None:
    own = ServiceProvider.of(call.installation.settings.base_url, target.connection.id)
    match await _read(call, encoded, await _certificates(call, target)):
        case SamlLogoutRequest() as request:
            return await call.transact(
                provider_logouts.take,
                target,
                request,
                own=own,
                relay_state=encoded.relay_state,
                browser_key=messages.browser_key(call),
            )
        case LogoutResponse() as response:
            await call.transact(provider_logouts.receive, target, response, own=own, state=encoded.relay_state)
            return None
        case _:
            raise MessageRefused("It is of a kind that is not taken here.")


async def _certificates(call: Call, target: OpenConnection) -> Sequence[str]:
    """Return the certificates of the metadata by which assertions of the connection are verified already."""
    described = await current_description(call, target.organization_id, target.connection)
    known = await call.read(changes.certificates_of, target.organization_id, target.connection.id)
    return [one for one in described.certificates if known is None or changes.fingerprints((one,)) <= known]


async def _read(call: Call, encoded: EncodedMessage, certificates: Sequence[str]) -> ReceivedMessage:
    """Return a message that one of the certificates verifies, or that has no signature."""
    refusal = MessageRefused("The identity provider has replaced its certificates.")
    for certificate in certificates:
        try:
            return await call.installation.saml.read(encoded, certificate)
        except MessageRefused as refused:
            refusal = refused
    raise refusal
