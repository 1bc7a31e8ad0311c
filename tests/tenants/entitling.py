"""Comparing what core decides with the model, state by state: who may come in for which customer, and as what.

Core is given values, as its statements are to read them (`small_scope.py`), and judges by its rules of signing in
(`core/sign_in/rules.py`) and by those of a caller (`core/sessions/callers.py`). Each difference is a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

from core.sessions.caller_limits import Confinement
from core.sign_in import admission, customer_choices
from core.sign_in.customer_choices import ForCustomer, NotOpen, Undecided
from core.sign_in.places import Place
from core.sign_in.rules import Rule
from tests.caller_values import changed
from tests.tenants import small_scope as scope
from tests.tenants.customers import ALONE, Choice, Coming, Rights, V
from tests.tenants.given_values import (
    DEPUTY,
    OWNER,
    State,
    caller_of,
    facts_of,
    is_refused_by,
    required_of,
    standing_of,
)
from tests.tenants.small_scope import A, B, MembershipState
from tests.tenants.words import Account, Belonging, Word

POWERFUL: Final = frozenset({OWNER, "admin", DEPUTY})
ACCOUNT_RULES: Final = frozenset({Rule.ACTIVATED, Rule.REOPENING, Rule.ADDRESS_VERIFIED})
CONNECTION_RULES: Final = frozenset({Rule.CONNECTION_KEPT, Rule.AFFILIATION, Rule.ADDRESS_CONFIRMED})
AT_VENDOR: Final = (
    None,
    MembershipState(),
    MembershipState(is_confirmed=False),
    MembershipState(is_suspended=True),
    MembershipState(role=OWNER),
)


# How a person comes by JSON.
COMINGS: Final = [
    Coming(named, of, is_named_by_other=is_by_other)
    for (named, is_by_other), of in product(
        ((None, False), (ALONE, False), (A, False), (A, True), (B, False), ("unknown", False)),
        (None, V, A, B, scope.W),
    )
]
# At a service that is closed, the customers of most ways are compared elsewhere.
ADMITTED_COMINGS: Final = [Coming(named, of) for named, of in product((None, ALONE, A), (None, V))]
# The id of a customer, `ALONE`, or among which the person has to choose; None for one who cannot come in.
Outcome = str | frozenset[str] | None


@dataclass(frozen=True)
class Share:
    """One of so many shares of all cases, in each of which every so-many-th case is."""

    number: int = 0
    of: int = 1

    def has(self, case: int) -> bool:
        """Return whether a case is in it."""
        return case % self.of == self.number


def choices(share: Share) -> Iterator[str]:
    """Yield where core's choice of a customer, among all states and ways, is another one than the model's."""
    comings = scope.comings()
    states = product(
        [(domain_of, one) for domain_of in (None, A) for one in scope.combinations(domain_of, has_connection=False)],
        scope.INDIVIDUALS,
        (None, MembershipState()),
        (False, True),
    )
    for number, ((domain_of, customers), individuals, at_vendor, has_come_alone) in enumerate(states):
        cases = [one for case, one in enumerate(comings) if share.has(number * len(comings) + case)]
        if not cases:
            continue
        state = State.of(
            customers, individuals, domain_of=domain_of, at_vendor=at_vendor, has_come_alone=has_come_alone
        )
        for coming, limits in cases:
            found = customer_choices.choose(
                state.service,
                state.found,
                coming.named,
                limits,
                on_page=coming.on_page,
                must_ask=coming.asks_again,
                must_know=coming.is_named_by_other,
            )
            right = state.desk.choose(state.facts, coming)
            if decided(found) != expected(right):
                yield f"{coming} with {limits}: core says {found}, and they are to come {right}; {state}"


def sign_ins(share: Share) -> Iterator[str]:
    """Yield where all rules of a sign-in, among all states and ways of JSON, say something else than the model."""
    domains = [(None, False), *product((A, V, scope.W), (False, True))]
    states = product(
        [
            (domain_of, is_enforced, one)
            for domain_of, is_enforced in domains
            for one in scope.combinations(domain_of, has_connection=True)
        ],
        scope.INDIVIDUALS,
        AT_VENDOR,
        (False, True),
    )
    for number, ((domain_of, is_enforced, customers), individuals, at_vendor, has_come_alone) in enumerate(states):
        cases = [one for case, one in enumerate(COMINGS) if share.has(number * len(COMINGS) + case)]
        if not cases:
            continue
        state = State.of(
            customers,
            individuals,
            domain_of=domain_of,
            is_enforced=is_enforced,
            at_vendor=at_vendor,
            has_come_alone=has_come_alone,
        )
        yield from _compared(state, cases)


def exceptions() -> Iterator[str]:
    """Yield where they differ at a vendor that is suspended, and at a service without customers."""
    services: tuple[dict[str, Any], ...] = ({"is_suspended": True}, {"serves_customers": False})
    for customers, at_vendor, of_service in product(
        scope.combinations(None, has_connection=False), AT_VENDOR, services
    ):
        yield from _compared(State.of(customers, "all", at_vendor=at_vendor, **of_service), COMINGS)


def admissions(share: Share) -> Iterator[str]:
    """Yield where they differ at a service that is closed to strangers, with customers or without, also on a page."""
    combined = [*scope.combinations(None, has_connection=False)]
    states = product(combined, scope.INDIVIDUALS, (None, *scope.MEMBERSHIPS), scope.ADMISSIONS, (False, True))
    for number, (customers, individuals, at_vendor, (access, assigned, is_given), serves_customers) in enumerate(
        states
    ):
        if not share.has(number):
            continue
        state = State.of(
            customers,
            individuals,
            at_vendor=at_vendor,
            access=access,
            assigned=assigned,
            is_given=is_given,
            serves_customers=serves_customers,
        )
        yield from _compared(state, ADMITTED_COMINGS)
        if serves_customers:
            yield from _asked(state)
        for confirms in (False, True):
            found = admission.refusal_of(state.place, confirms=confirms) is None
            if found != state.desk.admits(state.facts, confirms=confirms):
                yield f"a person who confirms a membership {confirms} is admitted {found}; {state}"


def _asked(state: State) -> Iterator[str]:
    """Yield where a page, which asks a person to confirm their membership, chooses another customer than the model."""
    for coming in ADMITTED_COMINGS:
        limits = _limits_of(coming)
        customers = admission.customers_of(state.place, confirms=True)
        found = customer_choices.choose(state.service, customers, coming.named, limits, on_page=True)
        right = state.desk.choose(state.facts, replace(coming, on_page=True))
        if decided(found) != expected(right):
            yield f"{coming} on a page: core says {found}, and they are to come {right}; {state}"


def _limits_of(coming: Coming) -> Confinement | None:
    if coming.limits is None:
        return None
    return Confinement(
        organization_id=scope.ORGANIZATIONS[coming.limits], connection_id=scope.CONNECTIONS[coming.limits]
    )


def _compared(state: State, comings: Sequence[Coming]) -> Iterator[str]:
    for coming in comings:
        found, right = sign_in(state, coming), state.desk.comes(state.facts, coming)
        if found != expected(right):
            yield f"{coming}: core says {found}, and they are to come {right}; {state}"


def sign_in(state: State, coming: Coming) -> Outcome:
    """Return what all rules of a sign-in say of a person whose identity is proved, by a connection or without one."""
    limits = _limits_of(coming)
    belonging = state.facts.belonging(coming.limits or V)
    facts = facts_of(standing_of(belonging, Word()), limits, state.place, coming, required=required_of(state.facts))
    return None if is_refused_by(facts) else decided(facts.here.choice)


def connections() -> Iterator[str]:
    """Yield where core and the model differ in which people a connection signs in, and which roles its word opens."""
    roles = (None, "member", scope.TECHNICIAN, DEPUTY, "admin", OWNER)
    belongings = [
        Belonging(role, is_suspended, is_end_user, is_in_mail_domain, is_role_by_groups)
        for role, (is_suspended, is_end_user, is_in_mail_domain, is_role_by_groups) in product(
            roles, product((False, True), repeat=4)
        )
        if role is not None or not (is_suspended or is_role_by_groups)
    ]
    words = [
        Word(is_open, joins_as, is_confirmed, POWERFUL)
        for is_open, joins_as, is_confirmed in product(
            (False, True), (None, "member", scope.TECHNICIAN, DEPUTY), (False, True)
        )
    ]
    for belonging, word in product(belongings, words):
        standing = standing_of(belonging, word)
        limits = Confinement(
            organization_id=scope.ORGANIZATIONS[A],
            connection_id=scope.CONNECTIONS[A],
            role=standing.confined_to_role,
        )
        is_refused = is_refused_by(facts_of(standing, limits, Place(), Coming()), *CONNECTION_RULES)
        if is_refused == word.signs_in(belonging):
            yield f"{word} and {belonging}: core refuses {is_refused}"
        # The role may be another one by now, which no rule has given.
        for role in roles:
            if limits.opens_role(role) != word.opens(role, belonging):
                yield f"{word} and {belonging} opens {role}: core says {limits.opens_role(role)}"


def sessions() -> Iterator[str]:
    """Yield where core and the model differ in what a session goes on to open, after its sign-in."""
    roles = ("member", scope.TECHNICIAN, DEPUTY)
    rights = [None, *(Rights(role, ("editor",)) for role in roles)]
    words = [
        Word(joins_as=joins_as, is_confirmed=is_confirmed)
        for joins_as, is_confirmed in product((None, scope.TECHNICIAN), (False, True))
    ]
    for right, word, (is_end_user, is_alone, is_admitted) in product(rights, words, product((False, True), repeat=3)):
        standing = standing_of(Belonging(role="member"), word)
        caller = caller_of(right, standing.confined_to_role, is_end_user=is_end_user)
        expected = right is not None and word.opens(right.customer_role, Belonging(role="member"))
        if caller.belongs_to_context != expected:
            yield f"{word} with {right}: core says {caller.belongs_to_context}"
        alone = changed(
            caller,
            place={"customer": None, "customer_id": None},
            service={"is_open_to_individuals": is_alone, "is_admitted": is_admitted},
        )
        if alone.belongs_to_context != (is_end_user and is_alone and is_admitted):
            yield f"an individual who is one of the service {is_end_user}, may come {is_alone}, admitted {is_admitted}"


def accounts() -> Iterator[str]:
    """Yield where core and the model differ in which accounts sign in, by a connection or without one."""
    limits = Confinement(organization_id=scope.ORGANIZATIONS[A], connection_id=scope.CONNECTIONS[A])
    for states, by in product(product((False, True), repeat=3), (None, limits)):
        account = Account(*states)
        is_refused = is_refused_by(facts_of(None, by, Place(), Coming(), account=account), *ACCOUNT_RULES)
        if is_refused == account.signs_in(is_by_provider=by is not None):
            yield f"{account} by {by}: core refuses {is_refused}"


def differences(share: Share) -> Iterator[str]:
    """Yield where core and the model differ, in a share of what has many cases, and in all of what has few."""
    yield from choices(share)
    yield from sign_ins(share)
    yield from exceptions()
    yield from admissions(share)
    yield from connections()
    yield from sessions()
    yield from accounts()


def expected(choice: Choice) -> Outcome:
    """Return the outcome that the model has chosen."""
    if choice.customer is not None:
        return choice.customer.id
    return choice.offered or (ALONE if choice.is_alone else None)


def decided(choice: customer_choices.Choice) -> Outcome:
    """Return the outcome that core has chosen."""
    match choice:
        case ForCustomer():
            return str(choice.customer.id)
        case Undecided():
            alone = {ALONE} if choice.may_come_alone else set[str]()
            return frozenset({*(str(one.id) for one in choice.customers), *alone})
        case NotOpen():
            return None
        case _:
            return ALONE
