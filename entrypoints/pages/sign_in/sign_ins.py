"""The pages of one's own sign-ins: what succeeded, what was refused and why, and what to do about a stranger's."""

from typing import Annotated, Final, TypeAlias
from uuid import UUID

import msgspec

from core.limits import PAGE_ITEMS_MAX
from core.sign_in import own_account, sign_ins
from core.sign_in.sign_ins import SignIn, SignInOutcome, SignInUnknown
from entrypoints.pages.console.account import ACCOUNT, account_page
from entrypoints.pages.console.sign_in_lists import OUTCOMES
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import account_pages
from entrypoints.pages.sign_in.reasons import REASONS, RISKS
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import in_browser
from entrypoints.web.serving.calls import Call

routes = account_pages()

SIGN_INS: Final = f"{ACCOUNT}/sign-ins"
SHOWN_USUALLY: Final = 25

Shown: TypeAlias = tuple[SignIn, tuple[str, str], str, list[str]]


class SignInsQuery(Query, kw_only=True):
    """After which sign-in the page begins, and how many it shows."""

    after: Annotated[
        UUID | None, msgspec.Meta(description="The sign-in after which the page begins; the newest ones without it.")
    ] = None
    limit: Annotated[int, msgspec.Meta(ge=1)] = SHOWN_USUALLY


@routes.get(SIGN_INS, refuses=(SignInUnknown,))
@in_browser
async def show_sign_ins(call: Call, query: SignInsQuery) -> Page:
    """Show the sign-ins to your account, also those that were refused, the newest first."""
    limit = min(query.limit, PAGE_ITEMS_MAX)
    mine = await call.read(sign_ins.list_mine, after=query.after, limit=limit)
    return account_page(
        call,
        "sign_in/sign_ins.html",
        sign_ins=[_shown(one) for one in mine.sign_ins],
        next_id=mine.next_id,
        # They are no sign-ins, and stand beside the newest ones.
        support=await call.read(own_account.past_support) if query.after is None else [],
        is_later=query.after is not None,
        limit=limit,
        usual_limit=SHOWN_USUALLY,
    )


@routes.get(f"{SIGN_INS}/:sign_in_id", refuses=(SignInUnknown,))
@in_browser
async def show_sign_in(call: Call, sign_in_id: UUID) -> Page:
    """Show one of your sign-ins, and what to do when it was another person."""
    one, state, reason, risks = _shown(await call.read(sign_ins.show_mine, sign_in_id))
    return account_page(
        call,
        "sign_in/sign_ins_one.html",
        one=one,
        state=state,
        reason=reason,
        risks=risks,
        is_success=one.outcome is SignInOutcome.SUCCESS,
        ways=await call.read(own_account.read_ways),
    )


def _shown(one: SignIn) -> Shown:
    """Return a sign-in with what its page says of its outcome, of its reason and of what was unusual."""
    reason = REASONS[one.reason] if one.reason is not None else ""
    risks = [RISKS[risk] for risk in dict.fromkeys(one.risk_factors) if risk in RISKS]
    return one, OUTCOMES[one.outcome], reason, risks
