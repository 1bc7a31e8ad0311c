"""Explaining why a user cannot sign in, to platform owners and support."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.errors import Forbidden
from core.limits import EMAIL_CHARACTERS_MAX
from core.platform import why_answers
from core.platform.sign_in_checks import SignInWay
from core.platform.sign_in_questions import SignInQuestion
from entrypoints.http.sign_in.why import ExplainedSignIn
from entrypoints.shared.sessions.token_answers import CustomerName
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import platform_support
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("platform users", "The users of the whole platform, for platform owners and support.")


class AnySignInToExplain(Query, kw_only=True):
    """Whose sign-in is explained, by an address or an id, and which.

    Without an organization it is that to the account itself, and without a way every way.
    """

    email: Annotated[str, msgspec.Meta(max_length=EMAIL_CHARACTERS_MAX)] = ""
    user_id: UUID | None = None
    organization: str | None = None
    service: str | None = None
    customer: CustomerName | None = None
    way: SignInWay | None = None
    connection_id: UUID | None = None
    network: str | None = None


@routes.get("/api/platform/why", refuses=(Forbidden,))
@platform_support
async def explain_any_sign_in(call: Call, query: AnySignInToExplain) -> ExplainedSignIn:
    """Explain why any user cannot sign in to their account, to an organization or to one of its services.

    For each way every rule is named, in the order in which signing in applies it. Failed sign-ins may be refused from
    some networks alone; `network` is an address, or a network, from which the user tries. That support has asked about
    an account is recorded in the platform's audit log. Support is answered as if platform owners had no account.
    `customer` is one of the service, by its id or slug; the answer says what the user is to it, and which side has
    paused it.
    """
    question = SignInQuestion(
        email=query.email,
        user_id=query.user_id,
        service_slug=query.service,
        customer=query.customer,
        way=query.way,
        connection_id=query.connection_id,
        network=query.network,
    )
    explanation = await call.transact(
        why_answers.explain_to_platform,
        query.organization,
        question,
        are_limits_on=call.installation.settings.rate_limits,
    )
    return ExplainedSignIn.of(explanation)
