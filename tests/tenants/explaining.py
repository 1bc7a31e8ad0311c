"""Before each sign-in the explanation is asked (`core/platform/why.py`): it names the rule that then refuses, or none.

It is asked as the platform and as the organization, without a transaction, and compared with the reason in the
log of the refused request. What it cannot know is whether the password, the code or the link is the right one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import msgspec

from core.platform import why_answers, why_asked
from core.platform.sign_in_checks import RuleCheck, RuleVerdict, SignInWalk, SignInWay
from core.platform.sign_in_questions import SignInQuestion
from core.platform.why import SignInExplanation
from core.sign_in.reasons import SignInReason
from core.sign_in.rules import Rule
from ports.unit_of_work import UnitOfWork
from tests.secret_watch import WATCH
from tests.tenants.model import Violation
from tests.tenants.neighbourhood import Neighbourhood

SIGNED_IN: Final = "signed in as was explained"
# What a way asks of its user, and no explanation can know.
_OF_SECRETS: Final = {
    SignInWay.PASSWORD: frozenset({SignInReason.WRONG_PASSWORD}),
    SignInWay.LINK: frozenset(
        {
            SignInReason.UNKNOWN_LINK,
            SignInReason.USED_LINK,
            SignInReason.EXPIRED_LINK,
            SignInReason.ADDRESS_CHANGED,
        }
    ),
    SignInWay.CONNECTION: frozenset({SignInReason.WRONG_PASSWORD, SignInReason.LINK_REQUIRED}),
}
# What is judged before the secret is compared.
_BEFORE_SECRET: Final = frozenset({Rule.ORGANIZATION, Rule.FAILURES, Rule.ACCOUNT, Rule.ACTIVATED})


@dataclass(frozen=True)
class Prediction:
    """What the explanation says of a sign-in that follows, and where the log was then."""

    walk: SignInWalk
    lines: int

    def compare(self, hood: Neighbourhood, *, is_signed_in: bool) -> None:
        """Raise `Violation` when the sign-in went otherwise."""
        refusal = self.walk.refusal
        if is_signed_in:
            if refusal is not None:
                raise Violation("another story", f"{self._told(refusal)}, and the sign-in was not refused")
            hood.explained.add(SIGNED_IN)
            return
        reasons = reasons_since(self.lines)
        if refusal is not None and _published(refusal) in reasons:
            hood.explained.add(refusal.rule)
            return
        # A mailed link is judged before the account.
        is_known = refusal is None or refusal.rule not in _BEFORE_SECRET or self.walk.way is SignInWay.LINK
        if reasons & _OF_SECRETS[self.walk.way] and is_known:
            return
        # A sign-in by a connection goes on to the page for the mailed code.
        is_code_asked = refusal is not None and (self.walk.way, refusal.rule) == (
            SignInWay.CONNECTION,
            Rule.ADDRESS_CONFIRMED,
        )
        if not reasons and (is_code_asked or any(check.verdict is RuleVerdict.ASKS for check in self.walk.checks)):
            # The page for what is asked, such as signing in to the account once, was left unanswered.
            return
        raise Violation("another story", f"{self._told(refusal)}, and the reasons were {sorted(reasons)}")

    def _told(self, refusal: RuleCheck | None) -> str:
        rule = f"refused by {refusal.rule} ({refusal.reason})" if refusal is not None else "not refused"
        return f"a sign-in by {self.walk.way} was to be {rule}"


async def predict(hood: Neighbourhood, question: SignInQuestion, at: str = "") -> Prediction:
    """Ask for the explanation of a sign-in that is about to be made, on the platform or at an organization."""
    slug = hood.party(at).slug if at else None
    platform, organization = await hood.world.installation.database.read(_ask, slug, question)
    [walk] = platform.walks
    if organization is not None:
        _compare_contexts(platform, organization, walk)
        _require_affiliated(hood, at, organization)
    return Prediction(walk, len(WATCH.lines))


def _ask(
    uow: UnitOfWork, slug: str | None, question: SignInQuestion
) -> tuple[SignInExplanation, SignInExplanation | None]:
    """Ask as the platform, and as the organization, if there is one."""
    user = why_asked.named(uow, question)
    platform = why_answers.to_platform(uow, slug, user, question, are_limits_on=False)
    organization = uow.organizations.by_slug(slug) if slug is not None else None
    if organization is None:
        return platform, None
    told = why_answers.to_organization(uow, organization, question, are_limits_on=False)
    if told.mail_domain is not None:
        nobody = replace(question, email=f"nobody-has-it@{told.mail_domain}", user_id=None)
        without = why_answers.to_organization(uow, organization, nobody, are_limits_on=False)
        if told != without:
            raise Violation("another story", "an organization was told more of an address that has an account")
    return platform, told


def _compare_contexts(platform: SignInExplanation, organization: SignInExplanation, walk: SignInWalk) -> None:
    """Raise `Violation` when an organization is told another story than the platform, or more than its context."""
    [told] = organization.walks
    account = organization.account
    if account is None:
        is_of_domain = organization.mail_domain is not None
        is_silent = is_of_domain or [check.rule for check in told.checks] == [Rule.ACCOUNT]
        is_silent = is_silent and not organization.attempts
        if not is_silent:
            raise Violation("another story", "an organization was told of an address that it does not know")
    elif account.is_told:
        _compare_told(told, walk)
    elif organization.attempts or {Rule.ACTIVATED, Rule.SECOND_FACTOR} - {
        check.rule for check in told.checks if check.verdict is RuleVerdict.NOT_TOLD
    }:
        raise Violation("another story", f"an organization was told of {account.email}, who has confirmed nothing")


def _compare_told(told: SignInWalk, walk: SignInWalk) -> None:
    """Raise `Violation` when a vendor is told otherwise than the platform, or for which customer a person comes."""
    same = [(check.rule, check.verdict, check.reason) for check in told.checks]
    whole = [(check.rule, check.verdict, check.reason) for check in walk.checks]
    if told.checks and any(
        check.rule is Rule.CUSTOMER and check.verdict is RuleVerdict.NOT_TOLD for check in told.checks
    ):
        # From the first rule on that a customer may have made, the vendor's answer is about the vendor alone.
        before = [rule for rule, *_ in whole].index(Rule.SINGLE_SIGN_ON)
        same, whole = same[:before], whole[:before]
    if same != whole:
        raise Violation("another story", f"an organization was told {same}")


def _require_affiliated(hood: Neighbourhood, at: str, organization: SignInExplanation) -> None:
    """Raise `Violation` when an organization was told of an account that is neither its member nor its end user."""
    account = organization.account
    if account is not None and not hood.world.rows(
        """
        SELECT 'member' FROM memberships WHERE organization_id = %s AND user_id = %s
        UNION ALL
        SELECT 'end user' FROM service_users WHERE organization_id = %s AND user_id = %s
        """,
        *(hood.party(at).organization_id, account.id) * 2,
    ):
        raise Violation("another story", f"an organization was told of {account.email} outside of its context")


def reasons_since(lines: int) -> set[str]:
    """Return the reasons in the log lines of requests since."""
    found = [msgspec.json.decode(line) for line in WATCH.lines[lines:] if '"reason"' in line]
    return {line["reason"] for line in found if line["event"] == "request"}


def _published(refusal: RuleCheck) -> str:
    assert refusal.reason is not None, "a rule refuses for no reason"
    return refusal.reason.published
