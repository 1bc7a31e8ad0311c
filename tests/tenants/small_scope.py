"""Every state of a small scope: two vendors, two customers, two people, two services; and every way in.

A request concerns one person and one service of one vendor, V; so do the values that core takes, and what the model
reads. The other person, the other vendor W and its service are therefore not in a state here: that what they have
changes nothing is a matter of the statements alone, and is compared there (`scope_reading.py`). A and B differ in their
names only, so of two states that A and B have exchanged one is enough, while every way names either.

A customer has thousands of states. Both sides look at each through one value, the standing that the model computes and
what core is given, so each pair of these two values is tried once, in the first state that has it (`pairs`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import combinations_with_replacement, product
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.sessions.caller_limits import Confinement
from core.sessions.mfa_methods import MfaMethods
from core.sign_in.customer_choices import CustomerStanding, SuspendedCustomer
from tests.tenants.customers import ALONE, Assignment, Coming, Customer, Facts, Membership, Standing, V
from tests.tenants.products import Product

if TYPE_CHECKING:
    from collections.abc import Iterator

A, B, W = "a", "b", "w"
MEMBER, TECHNICIAN = "member", "technician"
GROUP: Final = "group"
ROLES: Final = {"editor": str(UUID(int=71)), "viewer": str(UUID(int=72))}
# A role that the service had once.
FORMER_ROLE: Final = str(UUID(int=73))
OWN_ROLE: Final = "viewer"
ORGANIZATIONS: Final = {of: UUID(int=number) for number, of in enumerate((V, A, B, W), 1)}
CONNECTIONS: Final = {of: UUID(int=number) for number, of in enumerate((V, A, B, W), 11)}
RECORDS: Final = {of: UUID(int=number) for number, of in enumerate((A, B), 21)}
DESK, OTHER_SERVICE = UUID(int=31), UUID(int=32)
PERSON: Final = UUID(int=41)
NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
NO_RELATION, ENDED, OFFERED, ACTIVE, SUSPENDED = "none", "ended", "offered", "active", "suspended"
PAUSED: Final = {"by the vendor": {"vendor"}, "by the customer": {"customer"}, "by both": {"vendor", "customer"}}
RELATIONS: Final = (NO_RELATION, ENDED, OFFERED, ACTIVE, SUSPENDED, *PAUSED)
INDIVIDUALS: Final = ("none", "others", "all")


@dataclass(frozen=True)
class MembershipState:
    """What a person is in an organization, of which they are a member."""

    is_confirmed: bool = True
    is_suspended: bool = False
    role: str = MEMBER
    is_in_group: bool = False

    def membership(self, membership_id: str) -> Membership:
        """Return it as the model has it."""
        groups = frozenset({GROUP} if self.is_in_group else ())
        return Membership(membership_id, self.role, self.is_suspended, self.is_confirmed, groups)


@dataclass(frozen=True)
class AssignmentState:
    """A subject that a customer assigns, with which roles: "person" is the person of the request."""

    kind: str
    role_ids: frozenset[str]

    def assignment(self, membership_id: str) -> Assignment:
        """Return it as the model has it."""
        subject = f"membership:{membership_id}" if self.kind == "person" else self.kind
        return Assignment(subject, self.role_ids)


@dataclass(frozen=True)
class CustomerState:
    """What a customer and a vendor have set, and what a person is to it."""

    relation: str = NO_RELATION
    membership: MembershipState | None = None
    access: str = "members"
    assigned: AssignmentState | None = None
    is_visited: bool = False
    has_own_role: bool = False
    shares_directory: bool = False

    def customer(self, of: str, record_id: str, membership_id: str) -> Customer:
        """Return the customer as the model has it."""
        assigned = [] if self.assigned is None else [self.assigned.assignment(membership_id)]
        own = {membership_id: frozenset({ROLES[OWN_ROLE]})} if self.has_own_role else {}
        return Customer(
            record_id,
            of,
            of,
            str(ORGANIZATIONS[of]),
            pauses=set(PAUSED.get(self.relation, ())),
            access=self.access,
            assignments=assigned,
            is_suspended=self.relation == SUSPENDED,
            is_ended=self.relation in {NO_RELATION, ENDED},
            is_offered=self.relation == OFFERED,
            shares_directory=self.shares_directory,
            own_roles=own,
        )


MEMBERSHIPS: Final = [
    MembershipState(is_confirmed, is_suspended, role, is_in_group)
    for is_confirmed, is_suspended, role, is_in_group in product(
        (False, True), (False, True), (MEMBER, TECHNICIAN), (False, True)
    )
]
SUBJECTS: Final = ("everyone", f"role:{MEMBER}", f"role:{TECHNICIAN}", f"group:{GROUP}", "person", "membership:another")
ASSIGNED: Final = [
    AssignmentState(kind, frozenset(role_ids))
    for kind, role_ids in product(SUBJECTS, ((), (ROLES["editor"],), (FORMER_ROLE,)))
]


# Whom a vendor lets in without a customer, with its assignments, and whether a key has given access to the person.
ADMISSIONS: Final = [
    ("everyone", None, False),
    ("members", None, False),
    ("members", None, True),
    *(("assigned", one, False) for one in (None, *ASSIGNED)),
    ("assigned", None, True),
]


def customer_states() -> Iterator[CustomerState]:
    """Return every state of a customer and a person."""
    for relation, membership, access, assigned in product(
        RELATIONS, (None, *MEMBERSHIPS), ("members", "assigned"), (None, *ASSIGNED)
    ):
        # A visit and own roles are of a member, and of a customer that is one.
        visits = ((False, False),) if membership is None or relation in {NO_RELATION, OFFERED} else _VISITS
        for is_visited, has_own_role in visits:
            yield CustomerState(relation, membership, access, assigned, is_visited, has_own_role)


_VISITS: Final = ((False, False), (True, False), (True, True))


@dataclass(frozen=True)
class Pair:
    """What the model and core see of a customer, in the first state that looks so.

    `read` is what core is told of it, None of one that is closed; `is_of_customer` is told of both customers together.
    `at` is whether the person is an active or a suspended member, where it matters what the connection reads.
    """

    state: CustomerState = field(compare=False)
    standing: Standing
    read: tuple[str, bool, bool, bool] | None
    is_of_customer: bool
    at: bool | None


@cache
def pairs(*, is_in_mail_domain: bool, has_connection: bool) -> tuple[Pair, ...]:
    """Return what the states of a customer look like, each once, in the order in which they come."""
    if not has_connection:
        every = pairs(is_in_mail_domain=is_in_mail_domain, has_connection=True)
        return tuple(dict.fromkeys(replace(one, at=None) for one in every))
    found = dict[Pair, None]()
    for state in customer_states():
        facts = facts_of({A: state}, domain_of=A if is_in_mail_domain else None)
        customer = state.customer(A, str(RECORDS[A]), membership_of(A))
        desk = Product(role_ids=ROLES, customers=[customer])
        pair = Pair(
            state,
            desk.standing(customer, facts),
            _seen(read(desk, customer, facts)),
            is_of_customer(customer, facts),
            state.membership.is_suspended if state.membership is not None else None,
        )
        found.setdefault(pair)
    return tuple(found)


def combinations(domain_of: str | None, *, has_connection: bool) -> Iterator[dict[str, CustomerState]]:
    """Return what A and B look like together; where neither has the mail domain, without what they have exchanged."""
    outside = pairs(is_in_mail_domain=False, has_connection=has_connection)
    if domain_of == A:
        found = product(pairs(is_in_mail_domain=True, has_connection=has_connection), outside)
    else:
        assert domain_of != B, "A and B differ in their names only"
        found = combinations_with_replacement(outside, 2)
    return ({A: one.state, B: other.state} for one, other in found)


def facts_of(
    states: dict[str, CustomerState],
    *,
    at_vendor: MembershipState | None = None,
    domain_of: str | None = None,
    has_come_alone: bool = False,
    is_given: bool = False,
    is_enforced: bool = False,
) -> Facts:
    """Return what holds for the person, with a membership of W."""
    at = {of: one.membership for of, one in states.items()} | {V: at_vendor}
    return Facts(
        memberships={of: one.membership(membership_of(of)) for of, one in at.items() if one is not None},
        domain_of=domain_of,
        visited=frozenset(str(RECORDS[of]) for of, one in states.items() if one.is_visited),
        has_come_alone=has_come_alone,
        used=frozenset({V} if has_come_alone or is_given else ()),
        is_given=is_given,
        is_enforced=is_enforced,
    )


def membership_of(of: str) -> str:
    """Return the id of the membership of the person in an organization."""
    return f"membership at {of}"


def read(desk: Product, customer: Customer, facts: Facts) -> CustomerStanding | SuspendedCustomer | None:
    """Return what a statement is to read of a customer for a person; None for one that it is not to find."""
    record_id, organization_id = UUID(customer.id), UUID(customer.organization_id)
    if is_suspended_at(desk, customer, facts):
        return SuspendedCustomer(id=record_id, organization_id=organization_id, slug=customer.slug)
    at = facts.memberships.get(customer.of)
    if at is None or at.is_suspended or not customer.is_active or not desk.assigns(customer, at):
        return None
    return CustomerStanding(
        id=record_id,
        organization_id=organization_id,
        slug=customer.slug,
        name=customer.slug,
        is_confirmed=at.is_confirmed,
        is_in_mail_domain=facts.domain_of == customer.of,
        last_sign_in_at=NOW if customer.id in facts.visited else None,
        requires_mfa=False,
        mfa_methods=MfaMethods.ANY,
        device_trust=timedelta(days=30),
        connection_id=None,
    )


def is_suspended_at(desk: Product, customer: Customer, facts: Facts) -> bool:
    """Return whether a statement is to say that a customer would let a person in who has settled there."""
    at = facts.memberships.get(customer.of)
    is_told = at is not None and at.is_suspended and at.is_confirmed
    return is_told and customer.is_active and at is not None and desk.assigns(customer, at)


def is_of_customer(customer: Customer, facts: Facts) -> bool:
    """Return whether a statement is to say that a person is of this customer."""
    at = facts.memberships.get(customer.of)
    return customer.is_accepted and ((at is not None and at.is_confirmed) or facts.domain_of == customer.of)


def _seen(value: CustomerStanding | SuspendedCustomer | None) -> tuple[str, bool, bool, bool] | None:
    if value is None or isinstance(value, SuspendedCustomer):
        return None if value is None else (SUSPENDED, True, False, False)
    return ACTIVE, value.is_confirmed, value.is_in_mail_domain, value.last_sign_in_at is not None


# Whose connection limits a session, by the name that the model has for it, and the limits themselves. A session whose
# account a service may have linked opens that service for no customer, as that of a vendor's connection; one that lacks
# the connection which another organization requires opens its service for all.
LIMITS: Final = (
    (None, None),
    *((of, Confinement(organization_id=ORGANIZATIONS[of], connection_id=CONNECTIONS[of])) for of in (V, A, B, W)),
    (V, Confinement(organization_id=ORGANIZATIONS[V], service_id=DESK)),
    (W, Confinement(organization_id=ORGANIZATIONS[V], service_id=OTHER_SERVICE)),
    (None, Confinement(organization_id=ORGANIZATIONS[V], service_id=DESK, lacks_connection=True)),
    (W, Confinement(organization_id=ORGANIZATIONS[V], service_id=OTHER_SERVICE, lacks_connection=True)),
)
NAMED: Final = (None, ALONE, str(RECORDS[A]), A, str(RECORDS[B]), str(UUID(int=99)), "unknown")


def comings() -> list[tuple[Coming, Confinement | None]]:
    """Return every way to come, with the limits that core is given."""
    return [
        (Coming(named, of, on_page=on_page, asks_again=asks_again, is_named_by_other=is_by_other), limits)
        for named, (of, limits), on_page, asks_again, is_by_other in product(
            NAMED, LIMITS, (False, True), (False, True), (False, True)
        )
    ]
