"""States of the whole small scope, drawn by a seed: two vendors, two customers, two people, two services.

Of each state the model has the service of either vendor and what holds for either person; `scope_rows.py` writes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import Final

from tests.tenants.customers import Assignment, Customer, Facts, Membership, V
from tests.tenants.products import Product
from tests.tenants.small_scope import (
    ACTIVE,
    ENDED,
    GROUP,
    NO_RELATION,
    OFFERED,
    PAUSED,
    RELATIONS,
    SUSPENDED,
    A,
    B,
    MembershipState,
    W,
)
from tests.tenants.words import Account, Belonging, Word

MEMBER, TECHNICIAN, OWNER = "member", "technician", "owner"
VENDORS, CUSTOMERS, PEOPLE = (V, W), (A, B), ("p", "q")
ORGANIZATIONS: Final = (*VENDORS, *CUSTOMERS)
EDITOR, VIEWER, FORMER = "editor", "viewer", "former"
INDIVIDUALS: Final = ("none", "others", "all")


@dataclass(frozen=True)
class Visit:
    """A person has come for a customer, and the vendor may have given them a role."""

    has_own_role: bool


@dataclass(frozen=True)
class Relation:
    """What a vendor and a customer have set: the subjects of assignments, with the names of their roles."""

    kind: str
    access: str
    assigned: tuple[tuple[str, tuple[str, ...]], ...]
    shares_directory: bool


@dataclass(frozen=True)
class VendorAdmission:
    """Whom a vendor lets in to its service for no customer, and whom of its own people it assigns."""

    access: str
    assigned: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Route:
    """How far an organization has got with its mail domain, and whether it signs its people in alone."""

    status: str
    is_enforced: bool

    @property
    def is_in_force(self) -> bool:
        """Whether the domain counts as proved."""
        return self.status in {"verified", "failing"}


@dataclass(frozen=True)
class Connection:
    """The connection of an organization, and of which people it has signed in: whether they once typed a code."""

    is_open: bool
    joins_as: str | None
    people: dict[str, bool]


@dataclass(frozen=True)
class ScopeState:
    """A state: what organizations have set, and what people are, by the names of organizations and people."""

    closed: frozenset[str]
    individuals: dict[str, str]
    relations: dict[tuple[str, str], Relation]
    routes: dict[str, Route]
    connections: dict[str, Connection]
    addresses: dict[str, str]
    memberships: dict[tuple[str, str], MembershipState]
    by_groups: frozenset[tuple[str, str]]
    visits: dict[tuple[str, str, str], Visit]
    accounts: dict[str, Account]
    # Whose sessions at the service of a vendor are older than the last proof of their address.
    former: frozenset[tuple[str, str]]
    # Whether a person has signed in to the service of a vendor alone, or was made an end user by a key.
    links: dict[tuple[str, str], bool]
    # Whom a key has linked, among these.
    given: frozenset[tuple[str, str]]
    admissions: dict[str, VendorAdmission]

    def desk(self, vendor: str) -> Product:
        """Return the service of a vendor as the model has it."""
        customers = [self._customer(vendor, of) for of in CUSTOMERS if (vendor, of) in self.relations]
        return Product(
            role_ids={name: role_id(vendor, name) for name in (EDITOR, VIEWER)},
            vendor=vendor,
            individuals=self.individuals[vendor],
            access=self.admissions[vendor].access,
            assignments=self._assignments(vendor, vendor, self.admissions[vendor].assigned),
            is_suspended=vendor in self.closed,
            customers=customers,
        )

    def facts(self, person: str, vendor: str) -> Facts:
        """Return what holds for a person at the service of a vendor."""
        of = self.addresses[person]
        domain_of = of if of in self.routes and self.routes[of].is_in_force else None
        return Facts(
            memberships={
                of: Membership(
                    membership_id(person, of),
                    at.role,
                    at.is_suspended,
                    at.is_confirmed,
                    frozenset({GROUP} if at.is_in_group else ()),
                )
                for (member, of), at in self.memberships.items()
                if member == person
            },
            domain_of=domain_of,
            visited=frozenset(record(vendor, of) for who, at, of in self.visits if (who, at) == (person, vendor)),
            has_come_alone=self.links.get((person, vendor), False),
            used=frozenset(of for who, of in self.links if who == person),
            is_given=(person, vendor) in self.given,
            is_enforced=domain_of is not None and self.enforces(domain_of),
        )

    def enforces(self, of: str) -> bool:
        """Return whether an organization with a mail domain signs its people in by its connection alone."""
        return self.routes[of].is_enforced and self.connections[of].is_open and of not in self.closed

    def belonging(self, person: str, of: str) -> Belonging:
        """Return what a person is to the connection of an organization."""
        found = self.facts(person, V).belonging(of)
        return replace(found, is_role_by_groups=(person, of) in self.by_groups)

    def word(self, person: str, of: str) -> Word:
        """Return what the connection of an organization is to a person."""
        connection = self.connections[of]
        return Word(connection.is_open, connection.joins_as, connection.people.get(person, False))

    def _customer(self, vendor: str, of: str) -> Customer:
        relation = self.relations[vendor, of]
        return Customer(
            record(vendor, of),
            of,
            of,
            of,
            pauses=set(PAUSED.get(relation.kind, ())),
            access=relation.access,
            assignments=self._assignments(vendor, of, relation.assigned),
            is_suspended=of in self.closed,
            is_ended=relation.kind == ENDED,
            is_offered=relation.kind == OFFERED,
            shares_directory=relation.shares_directory,
            own_roles={
                membership_id(person, of): frozenset({role_id(vendor, VIEWER)})
                for (person, at, customer), visit in self.visits.items()
                if (at, customer) == (vendor, of) and visit.has_own_role
            },
        )

    def _assignments(self, vendor: str, of: str, assigned: tuple[tuple[str, tuple[str, ...]], ...]) -> list[Assignment]:
        return [
            Assignment(
                f"membership:{membership_id(subject, of)}" if subject in PEOPLE else subject,
                frozenset(role_id(vendor, name) for name in roles),
            )
            for subject, roles in assigned
        ]


def record(vendor: str, of: str) -> str:
    """Return the name of the record between a vendor and a customer."""
    return f"{of} at {vendor}"


def membership_id(person: str, of: str) -> str:
    """Return the name of a membership."""
    return f"{person} in {of}"


def role_id(vendor: str, name: str) -> str:
    """Return the name of a role of a service, which another service has as well."""
    return f"{name} of {vendor}"


def draw(seed: int) -> ScopeState:
    """Draw a state, in which most customers are active and most people members, so that most of the rules matter."""
    random = Random(seed)
    memberships = {
        (person, of): _membership(random, person, of)
        for person, of in product(PEOPLE, ORGANIZATIONS)
        if random.random() < (0.8 if of in CUSTOMERS else 0.4)
    }
    relations = {
        key: _relation(random, key[1], memberships) for key in product(VENDORS, CUSTOMERS) if random.random() < 0.95
    }
    links = {key: random.random() < 0.6 for key in product(PEOPLE, VENDORS) if random.random() < 0.6}
    return ScopeState(
        closed=frozenset(of for of in ORGANIZATIONS if random.random() < 0.06),
        individuals={vendor: random.choice(INDIVIDUALS) for vendor in VENDORS},
        relations=relations,
        routes={
            of: Route(random.choice(("pending", "verified", "verified", "failing", "failed")), random.random() < 0.4)
            for of in ORGANIZATIONS
        },
        connections={
            of: Connection(
                random.random() < 0.8,
                random.choice((None, MEMBER, TECHNICIAN)),
                {person: random.random() < 0.5 for person in PEOPLE if random.random() < 0.8},
            )
            for of in ORGANIZATIONS
        },
        addresses={person: random.choice((*ORGANIZATIONS, A, B, "elsewhere")) for person in PEOPLE},
        memberships=memberships,
        by_groups=frozenset(key for key, at in memberships.items() if at.role == TECHNICIAN and random.random() < 0.4),
        visits={
            (person, vendor, of): Visit(random.random() < 0.5)
            for (vendor, of), relation in relations.items()
            for person in PEOPLE
            if (person, of) in memberships and relation.kind not in {ENDED, OFFERED} and random.random() < 0.6
        },
        accounts={person: Account(random.random() < 0.05, random.random() < 0.05) for person in PEOPLE},
        former=frozenset(key for key in product(PEOPLE, VENDORS) if random.random() < 0.2),
        links=links,
        # Who has not come was linked by a key.
        given=frozenset(key for key, has_come in links.items() if not has_come or random.random() < 0.5),
        admissions={
            vendor: VendorAdmission(
                random.choice(("everyone", "everyone", "members", "assigned", "assigned")),
                _assigned(random, vendor, memberships),
            )
            for vendor in VENDORS
        },
    )


def _membership(random: Random, person: str, of: str) -> MembershipState:
    # An organization has one owner at most.
    at_vendor = (MEMBER, OWNER) if person == PEOPLE[0] else (MEMBER,)
    roles = (MEMBER, TECHNICIAN) if of in CUSTOMERS else at_vendor
    return MembershipState(
        is_confirmed=random.random() < 0.7,
        is_suspended=random.random() < 0.2,
        role=random.choice(roles),
        is_in_group=random.random() < 0.5,
    )


def _relation(random: Random, of: str, memberships: dict[tuple[str, str], MembershipState]) -> Relation:
    kinds = [kind for kind in RELATIONS if kind not in {NO_RELATION, SUSPENDED}]
    return Relation(
        kind=random.choice((ACTIVE,) * 12 + tuple(kinds)),
        access=random.choice(("members", "assigned", "assigned")),
        assigned=_assigned(random, of, memberships),
        shares_directory=random.random() < 0.5,
    )


def _assigned(
    random: Random, of: str, memberships: dict[tuple[str, str], MembershipState]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    subjects = ["everyone", f"role:{MEMBER}", f"role:{TECHNICIAN if of in CUSTOMERS else OWNER}", f"group:{GROUP}"]
    # An organization assigns its members only.
    subjects += [person for person in PEOPLE if (person, of) in memberships]
    return tuple(
        (subject, random.choice(((), (EDITOR,), (VIEWER,), (EDITOR, FORMER), (FORMER,))))
        for subject in random.sample(subjects, random.choice((0, 1, 1, 2)))
    )
