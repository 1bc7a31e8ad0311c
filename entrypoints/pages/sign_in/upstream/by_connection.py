"""Signing in by an organization's own connection in a browser."""

from typing import Annotated
from uuid import UUID

import msgspec
from quart import Response

from core.accounts.providers import Provider
from core.errors import on_the_way_to
from core.sign_in.upstream import answers, beginning, by_connection, flows, refused, trials
from core.sign_in.upstream.answers import UpstreamFailed
from core.sign_in.upstream.by_connection import ConnectionClosed, OpenConnection
from core.sign_in.upstream.flows import Departure, ProviderClient, ReturnAddress
from core.sign_in.upstream.saml import MetadataExpired
from entrypoints.pages.frame.refusals import protocol_refusal_page
from entrypoints.pages.frame.rendering import PageOrRedirect
from entrypoints.pages.sign_in import conclusion
from entrypoints.pages.sign_in.upstream import answers as assertions
from entrypoints.pages.sign_in.upstream import trial_judgements
from entrypoints.pages.sign_in.upstream.answers import OpenIdCallbackQuery, callback_address, claims_of_answer
from entrypoints.pages.sign_in.upstream.failures import recording_failures
from entrypoints.pages.sign_in.upstream.providers import (
    BEGINNING,
    RETURNING,
    DestinationQuery,
    bind,
    complete,
    on_the_way_of,
    repeatable,
)
from entrypoints.shared.sign_in.upstream.saml_connections import current_description
from entrypoints.shared.sign_in.upstream.upstream_providers import CALLBACK
from entrypoints.web.serving.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_browser_or_not
from entrypoints.web.serving.routes import Routes

routes = Routes("upstream sign-in", "Signing in by an organization's own identity provider.", protocol_refusal_page)


class ConnectionQuery(DestinationQuery, kw_only=True):
    """The connection, and where the sign-in leads."""

    connection_id: Annotated[str, msgspec.Meta(description="The id of the connection.")] = ""


@routes.get("/auth/upstream", refuses=(*BEGINNING, ConnectionClosed, UpstreamFailed, MetadataExpired))
@in_browser_or_not
async def begin_upstream(call: Call, query: ConnectionQuery) -> PageOrRedirect:
    """Sign in by a connection: redirect to its provider, and back to the service or page.

    A page posts the request to an identity provider of SAML that takes no redirects.
    """
    call.repeats_at = query.sign_in_page
    target = await call.read(by_connection.find, _id(query.connection_id))
    with on_the_way_to(target.organization_id):
        return await _begin(call, query, target)


async def _begin(call: Call, query: ConnectionQuery, target: OpenConnection) -> Response:
    way = await call.read(beginning.way_to, target.organization_slug, query.wanted)
    connection = target.connection
    # Asked first: a sign-in at a provider that does not answer is none.
    if connection.is_saml:
        async with recording_failures(call, target.context):
            described = await current_description(call, target.organization_id, connection)
        return await assertions.send_request(call, target, await _depart(call, target, way), described)
    assert connection.issuer is not None, "an OpenID connection has no issuer"
    async with recording_failures(call, target.context):
        found = await call.installation.upstream_connections.discover(target.organization_id, connection.issuer)
    departure = await _depart(call, target, way)
    return see_other(
        departure.address(found.authorize_url, redirect_uri=callback_address(call), scopes=connection.scopes)
    )


@routes.get(CALLBACK, refuses=(*RETURNING, ConnectionClosed), takes_answer=True)
@in_browser_or_not
async def return_from_upstream(call: Call, query: OpenIdCallbackQuery) -> PageOrRedirect:
    """Complete a sign-in that the provider of a connection has answered."""
    if trials.is_trial(query.state):
        return await trial_judgements.conclude(call, query)
    departure = await call.transact(
        flows.arrive, Provider.UPSTREAM, query.state, browser=conclusion.upstream_binding(call)
    )
    with on_the_way_of(call, departure.sign_in):
        async with repeatable(call, departure.sign_in):
            return await _arrived(call, query, departure)


async def _arrived(call: Call, query: OpenIdCallbackQuery, departure: Departure) -> Response:
    target, client = await call.read(by_connection.of_sign_in, departure.sign_in)
    async with recording_failures(call, target.context):
        return await _return(call, query, departure, target, client)


async def _return(
    call: Call, query: OpenIdCallbackQuery, departure: Departure, target: OpenConnection, client: ProviderClient
) -> Response:
    mapping = target.connection.attribute_mapping
    try:
        claims = await claims_of_answer(call, query, departure, target, client)
    except UpstreamFailed as failed:
        await call.transact(refused.note_claims, target.context, mapping, failed)
        raise
    proven = answers.connection_identity(claims, mapping)
    return await complete(call, departure.sign_in, proven)


async def _depart(call: Call, target: OpenConnection, way: ReturnAddress) -> Departure:
    return await call.transact(
        flows.depart,
        Provider.UPSTREAM,
        browser=bind(call),
        client_id=target.connection.client_id,
        way=way,
        context=target.context,
    )


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise ConnectionClosed from None
