"""How the answer of a provider to a trial sign-in is read and stored (`core/sign_in/upstream/trials/trials.py`).

The answer comes to the same addresses as the answers of sign-ins, and is verified by the same functions. Then the
browser is redirected to the page that shows the result, in the console or of a setup link.
"""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from quart import Response

from core.errors import Refusal
from core.sign_in.reasons import SignInReason
from core.sign_in.upstream import provider_answers, saml
from core.sign_in.upstream.by_connection import OpenConnection
from core.sign_in.upstream.connections import changes
from core.sign_in.upstream.provider_answers import UpstreamFailed
from core.sign_in.upstream.provider_problems import ProviderProblem
from core.sign_in.upstream.saml import SamlAnswer
from core.sign_in.upstream.trials import trials
from core.sign_in.upstream.trials.trials import TrialAnswer, TrialBrowser, TrialSignIn
from entrypoints.pages.organizations.setup import setup_cookie
from entrypoints.pages.sign_in.upstream.connections.failures import problem_of_refusal
from entrypoints.pages.sign_in.upstream.provider_answers import (
    OpenIdCallbackQuery,
    claims_of_answer,
    expected_of,
    read_answer,
    replaced_certificates,
    require_for_us,
)
from entrypoints.pages.sign_in.upstream.providers import SignInDeclined
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call

# The pages of a setup link for connections.
UPSTREAM: Final = "/app/setup/parts/upstream"


async def conclude(call: Call, query: OpenIdCallbackQuery) -> Response:
    """Read and store the answer of an OpenID provider, in the browser that began the trial.

    Raise `SignInOver` in any other.
    """
    arrived = await call.transact(trials.arrive, query.state, _browser(call))
    target, client = arrived.target, arrived.client
    # What the browser has brought instead of a code.
    brought = [("error", query.error)] if query.error else []
    try:
        claims = (await claims_of_answer(call, query, arrived.departure, target, client)).claims
        proven = provider_answers.connection_identity(claims, target.connection.attribute_mapping)
        answer = trials.answer_of(claims=trials.claims_of_token(claims), proven=proven)
    except SignInDeclined as declined:
        answer = failed(declined, claims=brought)
    except UpstreamFailed as refusal:
        answer = failed(refusal, claims=[*brought, *trials.claims_of_token(refusal.claims)])
    await call.transact(trials.conclude, arrived, answer)
    return see_other(_page_of(arrived.trial))


async def keep_answer(call: Call, connection_id: UUID, response: str, relay_state: str) -> None:
    """Read and store the answer that a SAML identity provider has posted; its browser goes on after the redirect."""
    target = await call.read(trials.find_posted, connection_id, relay_state)
    given: SamlAnswer | None = None
    try:
        given = await read_answer(call, target, response)
        assertion = await require_for_us(call, target, given, await expected_of(call, target, relay_state))
        await _require_known_certificates(call, target, given)
        proven = saml.identity(assertion, target.connection.attribute_mapping)
        answer = trials.answer_of(claims=trials.claims_of_assertion(assertion), proven=proven)
    except (SignInDeclined, UpstreamFailed) as refusal:
        answer = failed(refusal, claims=trials.claims_of_assertion(given.assertion if given is not None else None))
    continue_id = await call.transact(trials.keep_answer, connection_id, relay_state, answer)
    parameters = urlencode({"id": continue_id.reveal()})
    call.headers["Location"] = f"/auth/upstream/{connection_id}/acs?{parameters}"


async def conclude_posted(call: Call, connection_id: UUID, continue_id: str) -> Response:
    """Conclude a trial whose answer was posted, in the browser that began it; raise `SignInOver`."""
    return see_other(_page_of(await call.transact(trials.conclude_posted, connection_id, continue_id, _browser(call))))


def failed(refusal: Refusal, *, claims: Sequence[tuple[str, Any]]) -> TrialAnswer:
    """Return what is kept of an answer that was refused."""
    problem = ProviderProblem.DECLINED if isinstance(refusal, SignInDeclined) else problem_of_refusal(refusal)
    return trials.answer_of(claims=claims, problem=problem, reason=str(refusal.reason or ""))


def page_of_trial(slug: str, connection_id: UUID) -> str:
    """Return the page that shows what the last trial of a connection has brought."""
    return f"/app/organizations/{slug}/sign-in/connections/{connection_id}/trial"


def page_by_link(connection_id: UUID) -> str:
    """Return the same for the holder of a setup link: the test on the page of the connection."""
    return f"{UPSTREAM}/{connection_id}?step=test"


def _page_of(trial: TrialSignIn) -> str:
    if trial.is_by_link:
        return page_by_link(trial.connection_id)
    return page_of_trial(trial.organization_slug, trial.connection_id)


def _browser(call: Call) -> TrialBrowser:
    session_id = call.browser.session_id if call.browser is not None else None
    return TrialBrowser(session_id=session_id, setup_cookie=setup_cookie(call))


async def _require_known_certificates(call: Call, target: OpenConnection, answer: SamlAnswer) -> None:
    """Raise where a sign-in would be refused for its certificates, or would end what began by the ones before.

    A sign-in follows metadata that have changed; a trial changes nothing.
    """
    named = await replaced_certificates(call, target, answer.certificates)
    if named is None:
        return
    if named.isdisjoint(changes.fingerprints(answer.certificates)):
        raise UpstreamFailed().because("certificates_outdated")
    if not await call.read(changes.would_take, target.organization_id, target.connection, named):
        raise UpstreamFailed().because(SignInReason.CERTIFICATES_REPLACED)
