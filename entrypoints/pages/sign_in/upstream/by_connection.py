"""Signing in by an organization's own connection in a browser."""

from typing import Annotated, Final
from urllib.parse import urlencode
from uuid import UUID

import msgspec
from quart import Response

from core.accounts.sign_in_methods import Provider
from core.errors import on_the_way_to
from core.sign_in.upstream import at_custom_domains, beginning, by_connection, flows, provider_answers, refused
from core.sign_in.upstream.by_connection import ConnectionClosed, OpenConnection
from core.sign_in.upstream.discovery import Discovered
from core.sign_in.upstream.flows import Departure, SignInOver
from core.sign_in.upstream.provider_answers import UpstreamFailed
from core.sign_in.upstream.saml import MetadataExpired, SamlDescription
from core.sign_in.upstream.trials import trials
from entrypoints.pages.frame.refusals import protocol_refusal_page
from entrypoints.pages.frame.rendering import PageOrRedirect
from entrypoints.pages.sign_in.upstream import provider_answers as assertions
from entrypoints.pages.sign_in.upstream.connections.failures import recording_failures
from entrypoints.pages.sign_in.upstream.provider_answers import OpenIdCallbackQuery, claims_of_answer
from entrypoints.pages.sign_in.upstream.providers import (
    BEGINNING,
    RETURN,
    RETURNING,
    ContinueQuery,
    DestinationQuery,
    bind,
    complete,
    on_the_way_of,
    repeatable,
)
from entrypoints.pages.sign_in.upstream.trials import trial_judgements
from entrypoints.shared.sign_in.upstream.upstream_providers import CALLBACK
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.admission.credentials import in_browser_or_not
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("upstream sign-in", "Signing in by an organization's own identity provider.", protocol_refusal_page)


class ConnectionQuery(DestinationQuery, kw_only=True):
    """The connection, and where the sign-in leads."""

    connection_id: Annotated[str, msgspec.Meta(description="The id of the connection.")] = ""


ASKING: Final = (*BEGINNING, ConnectionClosed, UpstreamFailed, MetadataExpired)
ENTER: Final = "/auth/upstream/enter"


@routes.get("/auth/upstream", refuses=ASKING)
@on_custom_hosts
@in_browser_or_not
async def begin_upstream(call: Call, query: ConnectionQuery) -> PageOrRedirect:
    """Sign in by a connection: redirect to its provider, and back to the service or page.

    A page posts the request to an identity provider of SAML that takes no redirects. A custom domain redirects to the
    base URL first, which the provider knows.
    """
    call.repeats_at = query.sign_in_page
    target = await call.read(by_connection.find, _id(query.connection_id))
    with on_the_way_to(target.organization_id):
        if call.custom_host is not None:
            return await _leave_domain(call, query, target)
        way = await call.read(beginning.way_to, target, query.wanted)
        # The provider is asked first: if it does not answer, no sign-in begins.
        described = await _described(call, target)
        departure = await call.transact(beginning.depart_by_connection, target, way, browser=bind(call))
        return await assertions.send(call, target, departure, described)


@routes.get(ENTER, refuses=ASKING, takes_answer=True)
@in_browser_or_not
async def enter_from_domain(call: Call, query: ContinueQuery) -> PageOrRedirect:
    """Go on to the provider of a connection with a sign-in that began at a custom domain."""
    departure = await call.transact(at_custom_domains.enter, query.id, browser=bind(call))
    began = departure.sign_in
    with on_the_way_of(call, began):
        async with repeatable(call, began):
            assert began.context.connection_id is not None, "a sign-in by a connection names none"
            target = await call.read(by_connection.find, began.context.connection_id)
            return await assertions.send(call, target, departure, await _described(call, target))


async def _leave_domain(call: Call, query: ConnectionQuery, target: OpenConnection) -> Response:
    ticket = await call.transact(at_custom_domains.leave, target, query.wanted, browser=bind(call))
    return see_other(f"{call.installation.settings.base_url}{ENTER}?{urlencode({'id': ticket.reveal()})}")


async def _described(call: Call, target: OpenConnection) -> SamlDescription | Discovered:
    """Return what the provider of a connection says of itself."""
    async with recording_failures(call, target.context):
        return await assertions.described(call, target)


@routes.get(CALLBACK, refuses=(*RETURNING, ConnectionClosed), takes_answer=True)
@in_browser_or_not
async def return_from_upstream(call: Call, query: OpenIdCallbackQuery) -> PageOrRedirect:
    """Complete a sign-in that the provider of a connection has answered."""
    if trials.is_trial(query.state):
        return await trial_judgements.conclude(call, query)
    departure = await call.transact(
        flows.arrive, Provider.UPSTREAM, query.state, browser=browsers.upstream_binding(call)
    )
    with on_the_way_of(call, departure.sign_in):
        async with repeatable(call, departure.sign_in):
            return await _arrived(call, query, departure)


@routes.get(RETURN, refuses=(*RETURNING, ConnectionClosed), takes_answer=True)
@on_custom_hosts
@in_browser_or_not
async def return_to_domain(call: Call, query: ContinueQuery) -> PageOrRedirect:
    """Complete a sign-in at the custom domain where it began, with what its provider has answered."""
    began, proven = await call.transact(flows.use_proven, query.id, browser=browsers.upstream_binding(call))
    async with repeatable(call, began):
        if began.user_id is not None or began.domain is None:
            raise SignInOver().because("of_no_domain")
        async with recording_failures(call, began.context):
            return await complete(call, began, proven)


async def _arrived(call: Call, query: OpenIdCallbackQuery, departure: Departure) -> Response:
    target, client = await call.read(by_connection.of_sign_in, departure.sign_in)
    mapping = target.connection.attribute_mapping
    async with recording_failures(call, target.context):
        try:
            answer = await claims_of_answer(call, query, departure, target, client)
        except UpstreamFailed as failed:
            await call.transact(refused.note_claims, target.context, mapping, failed)
            raise
        id_token = answer.id_token if target.connection.signs_out_at_provider else None
        proven = provider_answers.connection_identity(answer.claims, mapping, id_token)
        return await complete(call, departure.sign_in, proven)


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise ConnectionClosed from None
