"""Why a person cannot sign in, for the platform: everything, but support sees nothing of platform owners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.accounts import helped_accounts
from core.accounts.helped_accounts import NarrowedList, RecordPart
from core.accounts.users import User
from core.events.platform_actions import PlatformAction
from core.organizations.access import authorize_support
from core.platform.sign_in_questions import SignInQuestion
from core.platform.why import ATTEMPTS_MAX, ExplainedAccount, SignInExplanation
from core.platform.why_asked import AskedSignIn, SignInView, named

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def explain_to_platform(
    uow: UnitOfWork, slug: str | None, question: SignInQuestion, *, are_limits_on: bool = True
) -> SignInExplanation:
    """Explain any sign-in: to the platform, or to an organization or one of its services.

    Questions of support are recorded in the platform's audit log. Raise `BadRequest` for a question without an account,
    or with an invalid network.
    """
    authorize_support(uow)
    question = question.checked()
    caller = helped_accounts.open_list(uow, NarrowedList.SIGN_IN_RULES, question)
    found = named(uow, question)
    is_hidden = found is not None and not helped_accounts.sees(caller, found)
    user = None if is_hidden else found
    if user is not None and not caller.acts_as_platform_owner:
        uow.audit_platform(PlatformAction.USER_OPENED, user.id, part=RecordPart.SIGN_IN_RULES.value)
    return to_platform(uow, slug, user, question, are_limits_on=are_limits_on and not is_hidden)


def explain_to_platform_if_asked(
    uow: UnitOfWork, slug: str | None, question: SignInQuestion, *, are_limits_on: bool
) -> SignInExplanation | None:
    """Explain as `explain_to_platform` does; None for a question that names no account yet."""
    return explain_to_platform(uow, slug, question, are_limits_on=are_limits_on) if question.names_user else None


def to_platform(
    uow: UnitOfWork, slug: str | None, user: User | None, question: SignInQuestion, *, are_limits_on: bool
) -> SignInExplanation:
    """Explain as `explain_to_platform` does, to an authorized caller, with the account of the question."""
    asked = AskedSignIn(uow, slug, user, question, SignInView())
    return SignInExplanation(
        account=ExplainedAccount(id=user.id, email=user.email, is_told=True) if user is not None else None,
        walks=asked.walks(are_limits_on=are_limits_on),
        attempts=uow.sign_ins.page(user.id, None, limit=ATTEMPTS_MAX, offset=0) if user is not None else (),
        problems=asked.problems(),
        role=asked.role(),
        customer=asked.customer(),
    )
