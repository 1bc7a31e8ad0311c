"""Signing in by an organization's SAML identity provider: the request, and the answer that it posts.

A browser sends no cookie with a POST from another site. So the answer is verified and stored, and the browser is
redirected to a GET, with which it sends the cookie that binds it to its sign-in.
"""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

import msgspec

from core.limits import SAML_BODY_BYTES_MAX
from core.rate_limits import RateLimit
from core.secrets import Secret
from core.sign_in.reasons import SignInReason
from core.sign_in.upstream import by_connection, flows, refused, saml
from core.sign_in.upstream.by_connection import ConnectionClosed, OpenConnection
from core.sign_in.upstream.connections import changes
from core.sign_in.upstream.flows import SignInOver
from core.sign_in.upstream.provider_answers import UpstreamFailed
from core.sign_in.upstream.saml import (
    Expected,
    MetadataExpired,
    SamlAnswer,
)
from core.sign_in.upstream.trials import trials
from entrypoints.pages.frame.refusals import protocol_refusal_page
from entrypoints.pages.frame.rendering import PageOrRedirect
from entrypoints.pages.sign_in.upstream.connections.failures import recording_failures
from entrypoints.pages.sign_in.upstream.provider_answers import (
    expected_of,
    read_answer,
    replaced_certificates,
    require_for_us,
)
from entrypoints.pages.sign_in.upstream.providers import RETURNING, ContinueQuery, SignInDeclined, complete, repeatable
from entrypoints.pages.sign_in.upstream.trials import trial_judgements
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.admission.credentials import in_browser_or_not, public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("upstream sign-in", "Signing in by an organization's own identity provider.", protocol_refusal_page)

LIMITS: Final = (RateLimit.SAML,)


class AcsForm(msgspec.Struct, kw_only=True):
    """The answer of an identity provider."""

    saml_response: str = msgspec.field(name="SAMLResponse", default="")
    relay_state: str = msgspec.field(name="RelayState", default="")


@routes.post(
    "/auth/upstream/:connection_id/acs",
    status=303,
    limits=LIMITS,
    body_bytes_max=SAML_BODY_BYTES_MAX,
    is_verified_by_content=True,
    refuses=(ConnectionClosed, SignInOver, UpstreamFailed, MetadataExpired, SignInDeclined),
)
@public
async def take_assertion(call: Call, connection_id: UUID, form: AcsForm) -> None:
    """Take the answer of a SAML identity provider to our request; its browser goes on after the redirect."""
    if trials.is_trial(form.relay_state):
        await trial_judgements.keep_answer(call, connection_id, form.saml_response, form.relay_state)
        return
    target = await call.read(by_connection.find, connection_id)
    connection = target.connection
    if not connection.is_saml or connection.issuer is None:
        raise ConnectionClosed
    async with recording_failures(call, target.context):
        answer = await read_answer(call, target, form.saml_response)
        expected = await expected_of(call, target, form.relay_state)
        try:
            continue_id = await _keep(call, target, answer, expected, form.relay_state)
        except (UpstreamFailed, SignInOver) as refusal:
            await call.transact(refused.note_answer, target.context, answer, connection.attribute_mapping, refusal)
            raise
    parameters = urlencode({"id": continue_id.reveal()})
    call.headers["Location"] = f"/auth/upstream/{connection.id}/acs?{parameters}"


@routes.get(
    "/auth/upstream/:connection_id/acs", limits=LIMITS, refuses=(*RETURNING, ConnectionClosed), takes_answer=True
)
@in_browser_or_not
async def go_on_with_assertion(call: Call, connection_id: UUID, query: ContinueQuery) -> PageOrRedirect:
    """Complete a sign-in with the answer that was posted, in the browser that began it."""
    if trials.is_trial(query.id):
        return await trial_judgements.conclude_posted(call, connection_id, query.id)
    began, proven = await call.transact(flows.use_proven, query.id, browser=browsers.upstream_binding(call))
    async with repeatable(call, began):
        if began.user_id is not None or began.context.connection_id != connection_id:
            raise SignInOver().because("of_another_connection")
        async with recording_failures(call, began.context):
            return await complete(call, began, proven)


async def _keep(call: Call, target: OpenConnection, answer: SamlAnswer, expected: Expected, relay_state: str) -> Secret:
    """Verify an answer and keep it; return the id under which its browser goes on."""
    connection = target.connection
    assertion = await require_for_us(call, target, answer, expected)
    await _require_known_certificates(call, target, answer.certificates)
    proven = saml.identity(assertion, connection.attribute_mapping)
    return await call.transact(flows.keep_answer, connection.id, relay_state, proven)


async def _require_known_certificates(call: Call, target: OpenConnection, used: Sequence[str]) -> None:
    """Raise unless an answer was verified by certificates that the connection has had all the time."""
    named = await replaced_certificates(call, target, used)
    if named is None:
        return
    organization_id, connection_id = target.organization_id, target.connection.id
    if not await call.transact(changes.follow_metadata, organization_id, connection_id, named):
        raise SignInOver().because(SignInReason.CERTIFICATES_REPLACED)
    if named.isdisjoint(changes.fingerprints(used)):
        raise SignInOver().because("certificates_outdated")
