"""What the provider of a connection answers: the assertion that a SAML request brings, or the claims for a code.

Sign-ins and trial sign-ins ask and read here, so that a trial meets every rule that a sign-in meets.
"""

from collections.abc import Sequence

from quart import Response

from core.saml.messages import SamlBinding
from core.sign_in.upstream import discovery, flows, saml
from core.sign_in.upstream.by_connection import OpenConnection
from core.sign_in.upstream.connections import changes, connection_keys
from core.sign_in.upstream.connections.connections import ConnectionRecord
from core.sign_in.upstream.discovery import Discovered
from core.sign_in.upstream.flows import Departure, ProviderClient
from core.sign_in.upstream.providers import OpenIdAnswer
from core.sign_in.upstream.saml import (
    Expected,
    SamlAnswer,
    SamlAssertion,
    SamlDescription,
    SamlRecipient,
    ServiceProvider,
)
from entrypoints.pages.frame.redirects import leading_page, posting_page
from entrypoints.pages.sign_in.upstream.providers import OpenIdCallbackQuery, SignInDeclined, code_of, exchange_of
from entrypoints.shared.sign_in.upstream.saml_connections import current_description, request_to
from entrypoints.shared.sign_in.upstream.upstream_providers import CALLBACK
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call


async def described(call: Call, target: OpenConnection, *, is_fresh: bool = False) -> SamlDescription | Discovered:
    """Return what the provider of a connection says of itself; raise `UpstreamFailed`."""
    connection, organization_id = target.connection, target.organization_id
    if connection.is_saml:
        return await current_description(call, organization_id, connection)
    assert connection.issuer is not None, "an OpenID connection has no issuer"
    return await call.installation.upstream_connections.discover(organization_id, connection.issuer, is_fresh=is_fresh)


async def send(
    call: Call,
    target: OpenConnection,
    departure: Departure,
    described: SamlDescription | Discovered,
    *,
    after_form: str = "",
) -> Response:
    """Lead a browser to the provider of a connection. After a form, a page with a text replaces the redirect."""
    if isinstance(described, SamlDescription):
        return await _send_request(call, target, departure, described, after_form=after_form)
    scopes = target.connection.scopes
    address = departure.address(described.authorize_url, redirect_uri=callback_address(call), scopes=scopes)
    return leading_page(call, address, text=after_form) if after_form else see_other(address)


async def read_answer(call: Call, target: OpenConnection, response: str) -> SamlAnswer:
    """Return what a response says that the identity provider of a connection has signed.

    Raise `AnswerUnusable` for another one, and `SignInDeclined`.
    """
    answer = await call.installation.saml_connections.read_answer(
        target.organization_id, target.connection.metadata, response, await _recipient(call, target)
    )
    if answer.is_declined:
        raise SignInDeclined
    return answer


async def expected_of(call: Call, target: OpenConnection, relay_state: str) -> Expected:
    """Return whose answer is expected, to the request that has left with a state."""
    connection = target.connection
    assert connection.issuer is not None, "a connection without metadata was asked"
    return Expected(
        issuer=connection.issuer,
        provider=service_provider(call, connection),
        request_id=await call.read(flows.request_id_of, relay_state),
    )


async def require_for_us(call: Call, target: OpenConnection, answer: SamlAnswer, expected: Expected) -> SamlAssertion:
    """Return the assertion of an answer to our request, whose metadata have not ended; raise `UpstreamFailed`."""
    await current_description(call, target.organization_id, target.connection)
    return saml.require_for_us(answer, expected, at=call.installation.clock())


async def replaced_certificates(call: Call, target: OpenConnection, used: Sequence[str]) -> frozenset[str] | None:
    """Return what the metadata of a connection name now; None where an answer was verified by what it has had so far.

    What was remembered of the metadata may be older than what the organization has set since, so those are read again
    before anything follows from a difference.
    """
    connection, organization_id = target.connection, target.organization_id
    known = await call.read(changes.certificates_of, organization_id, connection.id)
    if known == changes.fingerprints(used):
        return None
    now = await call.installation.saml_connections.describe(organization_id, connection.metadata, is_fresh=True)
    return changes.fingerprints(now.certificates)


async def _recipient(call: Call, target: OpenConnection) -> SamlRecipient:
    """Return the recipient for which the identity provider of a connection encrypts."""
    connection = target.connection
    keys = await call.read(connection_keys.usable, target.organization_id, connection.id)
    return SamlRecipient(
        entity_id=service_provider(call, connection).entity_id, private_pems=[key.private_pem for key in keys]
    )


async def _send_request(
    call: Call, target: OpenConnection, departure: Departure, described: SamlDescription, *, after_form: str
) -> Response:
    """Return the redirect or the page by which a browser takes a request to the identity provider.

    It is signed with the key of the connection if the identity provider wants that.
    """
    message = await request_to(
        call,
        target.organization_id,
        target.connection,
        described,
        request_id=departure.request_id,
        relay_state=departure.state.reveal(),
    )
    if message.binding is SamlBinding.POST:
        return posting_page(call, message, target.connection.name)
    return leading_page(call, message.url, text=after_form) if after_form else see_other(message.url)


def service_provider(call: Call, connection: ConnectionRecord) -> ServiceProvider:
    """Return what Gatehouse is for the identity provider of a connection."""
    return ServiceProvider.of(call.installation.settings.base_url, connection.id)


def callback_address(call: Call) -> str:
    """Return the address to which the providers of connections send browsers back."""
    return f"{call.installation.settings.base_url}{CALLBACK}"


async def claims_of_answer(
    call: Call,
    query: OpenIdCallbackQuery,
    departure: Departure,
    target: OpenConnection,
    client: ProviderClient,
) -> OpenIdAnswer:
    """Return what an answer was exchanged for: the claims of a verified ID token, and what the provider says of its
    user besides.

    Raise `SignInDeclined`, and `UpstreamFailed` for every answer that counts for nothing.
    """
    gateway, issuer = call.installation.upstream_connections, target.connection.issuer
    assert issuer is not None, "an OpenID connection has no issuer"
    discovery.require_own_answer(await gateway.discover(target.organization_id, issuer), query.iss)
    exchange = exchange_of(code_of(query), departure, client, callback_address(call))
    return await gateway.identify(target.organization_id, issuer, exchange)
