"""Messages about a logout to the identity provider of a connection, by the metadata that it has at this moment."""

from dataclasses import replace

from core.saml.logout_steps import ProviderMessage
from core.saml.messages import OutgoingLogoutRequest, OutgoingMessage, SamlBinding
from core.sign_in.upstream.answers import UpstreamFailed
from core.sign_in.upstream.by_connection import ConnectionClosed
from core.sign_in.upstream.saml import ServiceProvider
from entrypoints.shared.sign_in.upstream.connection_keys import ensure_key
from entrypoints.web.serving.calls import Call


async def to_provider(call: Call, step: ProviderMessage) -> OutgoingMessage | None:
    """Return a signed message for a browser to carry; None when the identity provider takes none, or is not there.

    The sessions here have ended before, whatever becomes of it.
    """
    connection_id, saml = step.connection.id, call.installation.saml
    try:
        described = await call.installation.saml_connections.describe(step.organization_id, step.connection.metadata)
        endpoint = described.logout
        if endpoint is None:
            return None
        key = await ensure_key(call, step.organization_id, connection_id)
    except (UpstreamFailed, ConnectionClosed):
        return None
    issuer = ServiceProvider.of(call.installation.settings.base_url, connection_id).entity_id
    binding = SamlBinding.POST if endpoint.is_post else SamlBinding.REDIRECT
    if isinstance(step.content, OutgoingLogoutRequest):
        request = replace(step.content, issuer=issuer, destination=endpoint.url)
        return await saml.logout_request(request, key, binding, step.relay_state)
    response = replace(step.content, issuer=issuer, destination=endpoint.response_url)
    return await saml.logout_response(response, key, binding, step.relay_state)
