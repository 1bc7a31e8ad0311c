"""Explaining to an organization why a user cannot sign in, on the console and for programs, with one limit for both.

The limit keeps an organization from following the state of its users' accounts question by question.
"""

from __future__ import annotations

from core.organizations import standing
from core.organizations.access import Operation
from core.organizations.standing import Standing
from core.platform import why_answers
from core.platform.sign_in_questions import SignInQuestion
from core.platform.why import SignInExplanation
from core.rate_limits import RateLimit
from entrypoints.web.serving.calls import Call


async def explained_to_organization(
    call: Call, slug: str, question: SignInQuestion
) -> tuple[Standing, SignInExplanation]:
    """Return the standing of the caller and the explanation; raise `RateLimitExceeded` after too many questions."""
    reader, explanation = await call.read(
        standing.read,
        slug,
        Operation.SIGN_INS_EXPLAIN,
        why_answers.explain_to_organization,
        question,
        are_limits_on=call.installation.settings.rate_limits,
    )
    # The organization is known by now, and nothing of the answer has left.
    call.limit_organization(reader.organization.id, RateLimit.EXPLANATION)
    return reader, explanation
