"""How the pages for those who help show an explanation of sign-ins (`core/platform/why.py`), each rule in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from core.customers.relation_log import CustomerSide
from core.lazy_dataclasses import dataclass
from core.organizations.explained_roles import RuleOutcome
from core.organizations.link_callers import Part
from core.organizations.organizations import OrganizationStatus
from core.platform.explained_customers import (
    AdmittedBy,
    CustomerMembership,
    ExplainedCustomer,
    ExplainedSetup,
    MadeRoute,
)
from core.platform.sign_in_checks import RuleCheck, RuleVerdict, SignInWalk, SignInWay
from core.platform.why import AwaitedStep, NextStep, SignInExplanation
from core.sign_in.own_account import NamedConnection
from core.sign_in.rules import Rule
from core.sign_in.upstream.connections.failures import UpstreamFailure
from core.tables import PartialTable
from core.wording import Wording
from entrypoints.pages.console.sign_in_lists import OUTCOMES
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.sign_in import rules as rule_texts

# What stands in the first sentence of the page, and has a reason in its row.
_TELLING: Final = frozenset({RuleVerdict.REFUSES, RuleVerdict.ASKS, RuleVerdict.DEPENDS})


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingPlace:
    """Where a setting is: a page with its name, or the path of the interface where there is no page."""

    href: str = ""
    text: str = ""
    call: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCheck:
    """One rule with what it answers; `because` and `next_step` are empty where it needs nothing."""

    rule: Rule
    verdict: RuleVerdict
    title: str
    badge: tuple[str, str]
    because: str
    next_step: str
    until: datetime | None
    networks: tuple[str, ...]
    required: NamedConnection | None
    place: SettingPlace | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownWalk:
    """A way with its rules; `way` is its name in words, and `connection` is the name of the one by which it goes.

    `refusal` is the rule that refuses, None when none does, and `besides` are the rules that ask or depend before it. A
    way that `depends` is refused in some attempts and not in others.
    """

    kind: SignInWay
    way: str
    connection: str | None
    checks: tuple[ShownCheck, ...]
    refusal: ShownCheck | None
    besides: tuple[ShownCheck, ...]
    depends: bool

    @property
    def telling(self) -> tuple[ShownCheck, ...]:
        """The rule that refuses, and the rules that ask or depend."""
        return (self.refusal, *self.besides) if self.refusal is not None else self.besides

    @property
    def passed(self) -> tuple[ShownCheck, ...]:
        """The rules that pass, in their order."""
        return self._with(RuleVerdict.PASSES)

    @property
    def untold(self) -> tuple[ShownCheck, ...]:
        """The rules that concern the account alone, and are not shown to the reader."""
        return self._with(RuleVerdict.NOT_TOLD)

    @property
    def after(self) -> tuple[ShownCheck, ...]:
        """The rules after the one that refuses, which are not reached."""
        return self._with(RuleVerdict.NOT_REACHED)

    def _with(self, verdict: RuleVerdict) -> tuple[ShownCheck, ...]:
        return tuple(check for check in self.checks if check.verdict is verdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSetting:
    """What a rule depends on, and where that is changed; None where there is no such place."""

    title: str
    text: str
    place: SettingPlace | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownProblems:
    """Why sign-ins by a connection failed lately, each failure with its problem in words."""

    name: str
    failures: tuple[tuple[UpstreamFailure, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCustomer:
    """A customer of a service, and what counts for a person there, in sentences."""

    name: str
    facts: tuple[str, ...]


STEPS: Final = {
    AwaitedStep.CONNECTION: marked("The person signs in by it, and nothing more is asked for."),
    AwaitedStep.MAILED_CODE: marked(
        "The person signs in by it, and types a code that is mailed to the address then. This happens once."
    ),
}
NOT_PAUSED: Final = marked("Neither side has paused it.")
PAUSES: Final = {
    CustomerSide.VENDOR: marked("The vendor has paused it: the vendor lifts that."),
    CustomerSide.CUSTOMER: marked("The customer has paused it: the customer lifts that."),
}
SIGNED_IN: Final = marked("The person has signed in for it before.")
NEVER_SIGNED_IN: Final = marked("The person has never signed in for it.")
MEMBERSHIPS: Final = {
    CustomerMembership.NONE: marked("The person is not a member of the customer. Invite them there."),
    CustomerMembership.UNCONFIRMED: marked("The person has not confirmed that they are a member of the customer."),
    CustomerMembership.CONFIRMED: marked("The person is a member of the customer."),
    CustomerMembership.ADMITTED: marked(
        "The person is no member of the customer. What the vendor has made for it lets them in."
    ),
    CustomerMembership.SUSPENDED: marked(
        "The membership of the person in the customer is deactivated. Activate them in its directory."
    ),
}
ASSIGNED: Final = marked("The customer lets the person use the product.")
NOT_ASSIGNED: Final = marked(
    "No assignment of the product fits the person. Assign them, their role or one of their groups."
)
# What becomes of a rule of groups that fits a member.
RULE_OUTCOMES: Final = {
    RuleOutcome.GIVES: marked("This rule gives the role."),
    RuleOutcome.EARLIER_RULE: marked("An earlier rule that fits counts."),
    RuleOutcome.MAKER_LOST_RIGHT: marked(
        "The person who made this rule may not give the role any more. Save the rules as someone who may."
    ),
    RuleOutcome.TOKEN_MAY_NOT: marked(
        "The person who made the SCIM token that put this member into the group may not give the role. Let a token of"
        " an owner or admin send the group."
    ),
    RuleOutcome.WAITS: marked(
        "This rule fits. It gives the role with the next change by a person or a token that may take the present one."
    ),
    RuleOutcome.STAYS: marked(
        "No rule gives this role any longer. The token that took the group away could not take it. Save the rules as an"
        " owner or admin, or change the role by hand."
    ),
}


# What of the setup of a customer counts for a sign-in.
ORGANIZATIONS: Final = PartialTable(
    {
        OrganizationStatus.PENDING: marked(
            "The organization that you have made waits for approval. Its people can use the service meanwhile."
        ),
        OrganizationStatus.REJECTED: marked(
            "The organization that you have made was rejected, so nothing works for it. Ask the platform."
        ),
        OrganizationStatus.SUSPENDED: marked(
            "The organization that you have made is suspended, so nothing works for it meanwhile. Ask the platform."
        ),
    }
)
ADMITTED: Final = {
    AdmittedBy.CONNECTION: marked("The person comes in by a connection that you have made."),
    AdmittedBy.DIRECTORY: marked("The directory that you have connected for it lets the person in."),
}
DEACTIVATED: Final = marked("The directory of the customer has deactivated the person, and activates them again.")
ROUTES: Final = {
    MadeRoute.LEADS: marked("Addresses in %(domain)s lead to the connection %(connection)s."),
    MadeRoute.UNPROVED: marked("The mail domain %(domain)s is not proved, so its addresses lead to no connection."),
    MadeRoute.FAILING: marked(
        "The TXT record of %(domain)s is gone. Seven days after it went, its addresses lead to no connection."
    ),
    MadeRoute.TAKEN: marked(
        "An organization has proved %(domain)s for itself, so its addresses lead to no connection of yours."
    ),
}
NO_ROUTE: Final = marked("You have made no mail domain %(domain)s for this customer.")
NO_CONNECTION: Final = marked("You have made no connection for this customer.")
CONNECTION_OFF: Final = marked("The connection %(name)s is switched off.")
CONNECTION_FAILING: Final = marked("The connection %(name)s fails. What failed is below.")
TAKES_CODE: Final = marked(
    "The first sign-in of a person by it takes a code that is mailed to the address, once. Until it is typed, the"
    " person is not signed in."
)
TAKES_NO_CODE: Final = marked("The person has typed the mailed code: nothing more is asked for.")


def shown(
    explanation: SignInExplanation, places: Mapping[Rule, SettingPlace], *, is_platform: bool = False
) -> dict[str, Any]:
    """Return the values of a page that shows an explanation; `places` says where the settings of the rules are."""
    walks = [_walk(walk, places, is_platform=is_platform) for walk in explanation.walks]
    if explanation.mail_domain is not None:
        walks = [_of_address_alone(walk) for walk in walks]
    rules = {check.rule for walk in explanation.walks for check in walk.checks}
    return {
        "account": explanation.account,
        "mail_domain": explanation.mail_domain,
        "walks": walks,
        "refusals": _refusals(walks),
        "awaited": _awaited(explanation.next_step),
        "settings": [
            ShownSetting(title=rule_texts.TITLES[rule], text=rule_texts.SETTINGS[rule], place=places.get(rule))
            for rule in Rule
            if rule in rules
        ],
        "attempts": explanation.attempts,
        "outcomes": OUTCOMES,
        "problems": [
            ShownProblems(
                name=one.name,
                failures=tuple((failure, rule_texts.problem_text(failure.problem)) for failure in one.failures),
            )
            for one in explanation.problems
        ],
        "explained_role": explanation.role,
        "rule_outcomes": RULE_OUTCOMES,
        "customer": _customer(explanation.customer),
        "setup": _setup(explanation.setup) if explanation.setup is not None else [],
    }


def _awaited(step: NextStep | None) -> tuple[NamedConnection, str] | None:
    """Return the connection by which a user signs in next, and what that takes; None where no step is known."""
    return (step.connection, STEPS[step.step]) if step is not None else None


def _customer(customer: ExplainedCustomer | None) -> ShownCustomer | None:
    """Return what counts for the customer that was named; None where none is known."""
    if customer is None:
        return None
    facts = [PAUSES[side] for side in customer.paused_by] or [NOT_PAUSED]
    facts.append(SIGNED_IN if customer.has_signed_in else NEVER_SIGNED_IN)
    if customer.membership is not None:
        facts.append(MEMBERSHIPS[customer.membership])
    if customer.membership not in {None, CustomerMembership.NONE}:
        facts.append(ASSIGNED if customer.is_assigned else NOT_ASSIGNED)
    return ShownCustomer(name=customer.name, facts=tuple(facts))


def _setup(setup: ExplainedSetup) -> list[str | Wording]:
    """Return what counts of what a vendor has made for a customer, in sentences."""
    facts = list[str | Wording]()
    about = ORGANIZATIONS.get(setup.organization) if setup.organization is not None else None
    if about is not None:
        facts.append(about)
    if setup.admitted_by is not None:
        facts.append(ADMITTED[setup.admitted_by])
    if setup.is_deactivated:
        facts.append(DEACTIVATED)
    if not setup.connections and Part.UPSTREAM.value in setup.parts:
        return [*facts, NO_CONNECTION]
    if Part.MAIL_DOMAIN.value in setup.parts:
        leads_to = next((one.name for one in setup.connections if one.id == setup.leads_to), "")
        text = ROUTES[setup.route] if setup.route is not None else NO_ROUTE
        facts.append(Wording(text, domain=setup.domain, connection=leads_to))
    facts += [Wording(CONNECTION_OFF, name=one.name) for one in setup.connections if not one.is_enabled]
    facts += [Wording(CONNECTION_FAILING, name=one.name) for one in setup.connections if one.failing_since is not None]
    if setup.takes_code is not None:
        facts.append(TAKES_CODE if setup.takes_code else TAKES_NO_CODE)
    return facts


def tells_of(explanation: SignInExplanation, *rules: Rule) -> bool:
    """Return whether one of these rules refuses, asks or depends in one of the walks."""
    checks = (check for walk in explanation.walks for check in walk.checks)
    return any(check.rule in rules and check.verdict in _TELLING for check in checks)


def _refusals(walks: Sequence[ShownWalk]) -> list[tuple[list[ShownWalk], ShownCheck]]:
    """Return what refuses, each once, with the walks that it refuses."""
    found = dict[str, tuple[list[ShownWalk], ShownCheck]]()
    for walk in walks:
        if walk.refusal is not None:
            found.setdefault(walk.refusal.because, ([], walk.refusal))[0].append(walk)
    return list(found.values())


def _walk(walk: SignInWalk, places: Mapping[Rule, SettingPlace], *, is_platform: bool) -> ShownWalk:
    shown = [(check.verdict, _check(walk, check, places, is_platform=is_platform)) for check in walk.checks]
    return ShownWalk(
        kind=walk.way,
        way=rule_texts.WAYS[walk.way],
        connection=walk.connection.name if walk.connection is not None else None,
        checks=tuple(check for _, check in shown),
        refusal=next((check for verdict, check in shown if verdict is RuleVerdict.REFUSES), None),
        besides=tuple(check for verdict, check in shown if verdict in {RuleVerdict.ASKS, RuleVerdict.DEPENDS}),
        depends=walk.refusal is None and any(verdict is RuleVerdict.DEPENDS for verdict, _ in shown),
    )


def _of_address_alone(walk: ShownWalk) -> ShownWalk:
    """Return a walk for an address of which it is not said whether an account has it."""
    if walk.refusal is None or walk.refusal.rule is not Rule.ACCOUNT:
        return walk
    unknown = replace(walk.refusal, because=rule_texts.UNKNOWN_HERE, next_step=rule_texts.AFTER_UNKNOWN_HERE)
    return replace(walk, checks=(unknown,), refusal=unknown)


def _check(walk: SignInWalk, check: RuleCheck, places: Mapping[Rule, SettingPlace], *, is_platform: bool) -> ShownCheck:
    is_telling = check.verdict in _TELLING
    return ShownCheck(
        rule=check.rule,
        verdict=check.verdict,
        title=rule_texts.title_of(check.rule, walk.way),
        badge=rule_texts.VERDICTS[check.verdict],
        because=rule_texts.because(check.rule, check.reason) if is_telling else "",
        next_step=rule_texts.next_step(check.rule, check.reason, is_platform=is_platform) if is_telling else "",
        until=check.until,
        networks=check.networks,
        required=check.required,
        place=places.get(check.rule) if is_telling else None,
    )
