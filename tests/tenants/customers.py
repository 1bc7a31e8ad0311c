"""Who may come in to a service for which of its customers: the rules once more, in plain Python (decisions 15).

They are about values alone. The histories of tenants judge by them what requests did: their vendor is a third
organization beside A and B, which both may become customers of its service, the *desk* (`desk.py`), what the two sides
have set is kept as the steps set it, and what a person is in each organization is read from its rows. A small scope is
compared with them as a whole (`small_scope.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tests.tenants.words import Belonging, speaks_for

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

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
    is_offered: bool = False
    shares_directory: bool = False
    # The roles that the vendor gives, by their ids, to memberships whose people have signed in.
    own_roles: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    @property
    def is_accepted(self) -> bool:
        """Whether the organization uses the service, paused or not."""
        return not (self.is_ended or self.is_offered)

    @property
    def is_active(self) -> bool:
        """Whether anybody may come in for it."""
        return self.is_accepted and not (self.is_suspended or self.pauses)


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
    # The organizations of whose services the account is an end user.
    used: frozenset[str] = frozenset()
    # Whether the organization of the mail domain signs its people in by its own connection alone.
    is_enforced: bool = False

    def belonging(self, of: str) -> Belonging:
        """Return what the person is to the connection of an organization."""
        at = self.memberships.get(of)
        return Belonging(
            role=at.role if at is not None else None,
            is_suspended=at is not None and at.is_suspended,
            is_end_user=of in self.used,
            is_in_mail_domain=self.domain_of == of,
        )


@dataclass(frozen=True)
class Standing:
    """What a customer is to a person, as far as it matters for whom they come.

    `excludes` says that its people are no individuals; of a customer that is closed nothing else matters.
    """

    excludes: bool
    is_open: bool = False
    is_confirmed: bool = False
    is_in_mail_domain: bool = False
    is_visited: bool = False

    @property
    def counts(self) -> bool:
        """Whether it counts where nobody names it."""
        return self.is_confirmed or self.is_in_mail_domain


@dataclass(frozen=True)
class Coming:
    """How a person comes: what they name, by whose connection, and whether a page can ask them.

    With `asks_again` they want to choose anew; `is_named_by_other` means that another person may have named it.
    """

    named: str | None = None
    limits: str | None = None
    on_page: bool = False
    asks_again: bool = False
    is_named_by_other: bool = False


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


@dataclass(kw_only=True)
class Product:
    """A service with customers: what its vendor and they have set."""

    role_ids: dict[str, str]
    vendor: str = V
    individuals: str = "others"
    is_suspended: bool = False
    customers: list[Customer] = field(default_factory=list[Customer])

    def present(self, of: str) -> Customer | None:
        """Return the customer that an organization is, paused or not; None when it is none."""
        return next((one for one in self.customers if one.of == of and not one.is_ended), None)

    def comes(self, facts: Facts, coming: Coming) -> Choice:
        """Return for whom a person comes whose identity is proved, and who has no other factor to show."""
        at_vendor = facts.memberships.get(self.vendor)
        if self.is_suspended or (at_vendor is not None and at_vendor.is_suspended):
            return Choice()
        if coming.limits is not None and not speaks_for(facts.belonging(coming.limits)):
            return Choice()
        choice = self.choose(facts, coming)
        place = choice.customer.of if choice.customer is not None else self.vendor
        is_owner = at_vendor is not None and at_vendor.role == "owner" and place == self.vendor
        if self._requires_other(facts, place, coming.limits) and not is_owner:
            return Choice()
        return choice

    def rights(self, facts: Facts, customer_id: str, limits: str | None = None) -> Rights | None:
        """Return what a session for a customer, or for none, opens; None when it opens nothing."""
        if not customer_id:
            return Rights() if self.may_come_alone(facts, in_session=True) else None
        [customer] = [one for one in self.customers if one.id == customer_id]
        if customer not in self.open_to(facts) or self.is_suspended:
            return None
        if self._requires_other(facts, customer.of, limits):
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

    def shows(self, customer: Customer, membership: Membership, *, has_come: bool) -> bool:
        """Return whether the vendor sees this member, whose account is active, among the people of a customer."""
        is_told = has_come or customer.shares_directory
        return is_told and membership.is_confirmed and self.lets_in(customer, membership)

    def open_to(self, facts: Facts) -> list[Customer]:
        """Return the customers for which a person may come in: their active members, or those that are assigned."""
        return [one for one in self.customers if self.standing(one, facts).is_open]

    def standing(self, customer: Customer, facts: Facts) -> Standing:
        """Return what a customer is to a person."""
        at, is_in_mail_domain = facts.memberships.get(customer.of), facts.domain_of == customer.of
        is_confirmed = at is not None and at.is_confirmed
        excludes = customer.is_accepted and (is_confirmed or is_in_mail_domain)
        if at is None or not customer.is_active or not self.lets_in(customer, at):
            return Standing(excludes=excludes)
        return Standing(
            excludes=excludes,
            is_open=True,
            is_confirmed=is_confirmed,
            is_in_mail_domain=is_in_mail_domain,
            is_visited=customer.id in facts.visited,
        )

    def may_come_alone(self, facts: Facts, *, in_session: bool = False) -> bool:
        """Return whether a person may use the service without a customer."""
        at_vendor = facts.memberships.get(self.vendor)
        # A session that began already does not ask for a confirmation anew.
        if at_vendor is not None and not at_vendor.is_suspended and (at_vendor.is_confirmed or in_session):
            return True
        excluding = (self.standing(one, facts).excludes for one in self.customers)
        return self.individuals == "all" or (self.individuals == "others" and not any(excluding))

    def choose(self, facts: Facts, coming: Coming) -> Choice:
        """Return for whom a person comes, as far as the customers say."""
        standings = [(one, self.standing(one, facts)) for one in self.customers]
        is_alone = self.may_come_alone(facts) and coming.limits in {None, self.vendor}
        return chosen(standings, coming, is_alone=is_alone, has_come_alone=facts.has_come_alone)

    def _requires_other(self, facts: Facts, of: str, limits: str | None) -> bool:
        """Return whether an organization signs the person in by its own connection alone, and this is another way."""
        return facts.is_enforced and facts.domain_of == of and limits != of

    def _fitting(self, customer: Customer, membership: Membership) -> list[Assignment]:
        known = frozenset(self.role_ids.values())
        subjects = {"everyone", f"role:{membership.role}", f"membership:{membership.id}"}
        subjects |= {f"group:{group}" for group in membership.groups}
        return [
            one
            for one in customer.assignments
            if one.subject in subjects and (not one.role_ids or one.role_ids & known)
        ]


def chosen(
    standings: Sequence[tuple[Customer, Standing]], coming: Coming, *, is_alone: bool, has_come_alone: bool
) -> Choice:
    """Return for whom a person comes to whom the customers of a service have these standings.

    `is_alone` says that the person may come without a customer, and `has_come_alone` that they have.
    """
    is_open = {one.id: one for one, at in standings if at.is_open and coming.limits in {None, one.of}}
    known = {one.id: at for one, at in standings if one.id in is_open}
    if coming.named == ALONE:
        return Choice(is_alone=is_alone)
    if coming.named is not None:
        named = next((one for one in is_open.values() if coming.named in {one.id, one.slug}), None)
        if named is None or not coming.is_named_by_other:
            return Choice(named)
        is_known = known[named.id].is_confirmed and known[named.id].is_visited
        return Choice(named) if is_known else Choice(offered=frozenset({named.id}))
    counting = [of for of, at in known.items() if at.counts]
    offered = frozenset(is_open if coming.on_page else counting)
    asked = Choice(offered=offered | ({ALONE} if is_alone else set()))
    if coming.asks_again and len(asked.offered) > 1:
        return asked
    is_individual = is_alone and has_come_alone
    if not offered or (is_individual and not counting):
        return Choice(is_alone=is_alone)
    is_only = len(counting) == 1 and known[counting[0]].is_confirmed and not is_individual
    if is_only and (coming.on_page or known[counting[0]].is_visited):
        return Choice(is_open[counting[0]])
    return asked
