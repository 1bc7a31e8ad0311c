"""Who may come in to a service for which of its customers: the rules once more, in plain Python (decisions 15).

The vendor is a third organization beside A and B, which both may become customers of its service, the *desk*. A history
has it only when one of its steps uses it. What the two sides have set is kept here as the steps set it; what a person
is in each organization is read from its rows, and judged against what they were given (`model.py`) as ever.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tests.tenants.model import Way

if TYPE_CHECKING:
    from collections.abc import Collection

    from tests.tenants.model import Held, Person
    from tests.world.builder import Service
    from tests.world.relying_party import RelyingParty
    from tests.world.saml import SamlService
    from tests.world.visitor import Visitor

# The name of the vendor beside A and B.
V: Final = "v"
# What a request names to come as an individual.
ALONE: Final = ""


@dataclass(frozen=True)
class Assignment:
    """Whom a customer assigns, with the roles of the service, by their ids.

    The subject is "everyone", "role:<slug>", "group:<id>", or "membership:<id>" for one person while they belong to it.
    """

    subject: str
    role_ids: frozenset[str]


@dataclass(eq=False)
class Customer:
    """An organization that uses the service, from the beginning to the end of one record."""

    id: str
    of: str
    slug: str
    organization_id: str
    pauses: set[str] = field(default_factory=set[str])
    access: str = "members"
    assignments: list[Assignment] = field(default_factory=list[Assignment])
    is_suspended: bool = False
    is_ended: bool = False
    shares_directory: bool = False
    # The roles that the vendor gives, by their ids, to memberships whose people have signed in.
    own_roles: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    @property
    def is_active(self) -> bool:
        """Whether anybody may come in for it."""
        return not (self.is_ended or self.is_suspended or self.pauses)


@dataclass(frozen=True)
class Membership:
    """What a person is in an organization now."""

    id: str
    role: str
    is_suspended: bool
    is_confirmed: bool
    groups: frozenset[str]


@dataclass(frozen=True)
class Facts:
    """What holds for an account: its memberships by the names of the organizations, and how it has used the desk."""

    memberships: dict[str, Membership]
    # The organization of whose mail domain the address is.
    domain_of: str | None
    visited: frozenset[str]
    has_come_alone: bool


@dataclass(frozen=True)
class Choice:
    """For whom a person comes: for a customer, for none of them, or for whom they choose; else they are refused."""

    customer: Customer | None = None
    is_alone: bool = False
    offered: frozenset[str] = frozenset()

    @property
    def is_refused(self) -> bool:
        """Whether nothing is open."""
        return self.customer is None and not self.is_alone and not self.offered

    def __str__(self) -> str:
        if self.offered:
            return f"to choose among {sorted(self.offered)}"
        return f"for {self.customer.slug}" if self.customer else "as an individual" if self.is_alone else "not at all"


@dataclass(frozen=True)
class Rights:
    """What a session at the desk opens now."""

    customer_role: str = ""
    service_roles: tuple[str, ...] = ()


@dataclass(eq=False)
class DeskSession:
    """A session at the desk: by whose connection it began, None without one, and what it was judged to open last."""

    limits: str | None
    is_by_code: bool
    judged: Rights | str | None = "nothing was judged yet"


@dataclass
class Browser:
    """A browser that has signed in, by the password of its account or by a connection."""

    person: Person
    address: str
    visitor: Visitor
    limits: str | None
    way: Way = Way.PERSON


@dataclass
class KeptCode:
    """A code that a client has not redeemed yet, and what it was issued for."""

    browser: Browser
    user_id: str
    code: str
    customer_id: str


@dataclass
class Desk:
    """The service with customers: what its vendor and they have set, and what people hold of it."""

    party: RelyingParty
    service: Service
    owner_token: str
    key: str
    connection_id: str
    role_ids: dict[str, str]
    individuals: str = "others"
    customers: list[Customer] = field(default_factory=list[Customer])
    sessions: dict[Held, DeskSession] = field(default_factory=dict["Held", DeskSession])
    browsers: list[Browser] = field(default_factory=list[Browser])
    codes: list[KeptCode] = field(default_factory=list[KeptCode])
    # The addresses with which anybody tried to sign in, and those that the vendor was shown by a shared directory.
    attempted: set[str] = field(default_factory=set[str])
    shown: set[str] = field(default_factory=set[str])
    # Of which accounts for which customers it may have been told by a shared directory.
    told: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    # Its application by SAML, and the account and the customer of each name there; None while no step has used it.
    saml: SamlService | None = None
    names_by_saml: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    # The session of a platform owner; None while no step has used it.
    platform_token: str | None = None

    @property
    def slug(self) -> str:
        """The slug of the vendor."""
        return self.party.slug

    def present(self, of: str) -> Customer | None:
        """Return the customer that an organization is, paused or not; None when it is none."""
        return next((one for one in self.customers if one.of == of and not one.is_ended), None)

    def rights(self, facts: Facts, customer_id: str) -> Rights | None:
        """Return what a session for a customer, or for none, opens; None when it opens nothing."""
        if not customer_id:
            return Rights() if self.may_come_alone(facts, in_session=True) else None
        [customer] = [one for one in self.customers if one.id == customer_id]
        if customer not in self.open_to(facts):
            return None
        membership = facts.memberships[customer.of]
        return Rights(membership.role, self.roles(customer, membership))

    def roles(self, customer: Customer, membership: Membership) -> tuple[str, ...]:
        """Return the names of the roles of the service that a customer and the vendor give one of its members."""
        given = {role_id for one in self._fitting(customer, membership) for role_id in one.role_ids}
        return self.names(given | customer.own_roles.get(membership.id, frozenset()))

    def names(self, role_ids: Collection[str]) -> tuple[str, ...]:
        """Return the names of the roles of the service that have these ids."""
        return tuple(sorted(name for name, role_id in self.role_ids.items() if role_id in role_ids))

    def lets_in(self, customer: Customer, membership: Membership) -> bool:
        """Return whether a customer lets in this member, while it is active itself."""
        return not membership.is_suspended and self.assigns(customer, membership)

    def assigns(self, customer: Customer, membership: Membership) -> bool:
        """Return whether the customer's setting of who may come in names this member."""
        return customer.access == "members" or bool(self._fitting(customer, membership))

    def open_to(self, facts: Facts) -> list[Customer]:
        """Return the customers for which a person may come in: their active members, or those that are assigned."""
        return [
            one
            for one in self.customers
            if one.is_active
            and (membership := facts.memberships.get(one.of)) is not None
            and self.lets_in(one, membership)
        ]

    def may_come_alone(self, facts: Facts, *, in_session: bool = False) -> bool:
        """Return whether a person may use the desk without a customer."""
        at_vendor = facts.memberships.get(V)
        # A session that began already does not ask for a confirmation anew.
        if at_vendor is not None and not at_vendor.is_suspended and (at_vendor.is_confirmed or in_session):
            return True
        if self.individuals != "others":
            return self.individuals == "all"
        confirmed = {of for of, one in facts.memberships.items() if one.is_confirmed}
        return not any(one.of in confirmed | {facts.domain_of} for one in self.customers if not one.is_ended)

    def choose(self, facts: Facts, named: str | None, limits: str | None, *, on_page: bool) -> Choice:
        """Return for whom a person comes who names a customer, nobody, or none; `limits` is whose connection it was."""
        is_open = [one for one in self.open_to(facts) if limits in {None, one.of}]
        is_alone = self.may_come_alone(facts) and limits in {None, V}
        if named == ALONE:
            return Choice(is_alone=is_alone)
        if named is not None:
            return Choice(next((one for one in is_open if named in {one.id, one.slug}), None))
        confirmed = [one for one in is_open if facts.memberships[one.of].is_confirmed]
        counting = [one for one in is_open if one in confirmed or facts.domain_of == one.of]
        offered = is_open if on_page else counting
        is_individual = is_alone and facts.has_come_alone
        if not offered or (is_individual and not counting):
            return Choice(is_alone=is_alone)
        is_only = len(counting) == 1 and counting[0] in confirmed and not is_individual
        if is_only and (on_page or counting[0].id in facts.visited):
            return Choice(counting[0])
        return Choice(offered=frozenset({*(one.id for one in offered), *([ALONE] if is_alone else [])}))

    def _fitting(self, customer: Customer, membership: Membership) -> list[Assignment]:
        known = frozenset(self.role_ids.values())
        subjects = {"everyone", f"role:{membership.role}", f"membership:{membership.id}"}
        subjects |= {f"group:{group}" for group in membership.groups}
        return [
            one
            for one in customer.assignments
            if one.subject in subjects and (not one.role_ids or one.role_ids & known)
        ]
