"""Recording why sign-ins by a connection fail, for the people who set it up."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from core.errors import Refusal
from core.sign_in.identities import IdentityContext
from core.sign_in.reasons import SignInReason
from core.sign_in.upstream.by_connection import OrganizationFull
from core.sign_in.upstream.connections import failures
from core.sign_in.upstream.provider_answers import UpstreamFailed
from core.sign_in.upstream.provider_problems import ProviderProblem, problem_of
from core.sign_in.upstream.sign_in import NoVerifiedAddress
from entrypoints.pages.sign_in.upstream.provider_problems import TO_PEOPLE
from entrypoints.pages.sign_in.upstream.providers import SignInDeclined
from entrypoints.web.serving.calls import Call

# Other refusals that the people who configure a connection can repair.
_RECORDED = frozenset({SignInReason.NOT_OF_ORGANIZATION, SignInReason.CERTIFICATES_REPLACED, "certificates_outdated"})


@asynccontextmanager
async def recording_failures(call: Call, context: IdentityContext) -> AsyncGenerator[None]:
    """Record why a sign-in by a connection fails within the block, and raise the refusal again.

    If the provider is at fault, the person sees the reason, and who can repair it.
    """
    try:
        yield
    except Refusal as refusal:
        problem = _problem_of(refusal)
        if isinstance(refusal, UpstreamFailed) and refusal.message == UpstreamFailed.default_message:
            refusal.message = TO_PEOPLE[problem_of_refusal(refusal)]
        if problem is not None:
            organization_id, connection_id = context.organization_id, context.connection_id
            assert organization_id is not None, "a sign-in by a connection names no organization"
            assert connection_id is not None, "a sign-in by a connection names none"
            await call.transact(failures.note, organization_id, connection_id, problem, request_id=call.request_id)
        raise


def _problem_of(refusal: Refusal) -> ProviderProblem | None:
    """Return the problem to record; None for a refusal that is a matter of the person who signs in."""
    match refusal:
        case SignInDeclined():
            return ProviderProblem.DECLINED
        case OrganizationFull():
            return ProviderProblem.ORGANIZATION_FULL
        case NoVerifiedAddress() | UpstreamFailed():
            return problem_of_refusal(refusal)
        case _:
            return problem_of(refusal.reason) if refusal.reason in _RECORDED else None


def problem_of_refusal(refusal: Refusal) -> ProviderProblem:
    """Return the problem because of which an answer was refused, also where the reason is a sentence."""
    word = refusal.word if isinstance(refusal, UpstreamFailed) else ""
    return problem_of(word or refusal.reason)
