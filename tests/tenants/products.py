"""Who may come in to a service for which of its customers: the rules once more, in plain Python.

They are about values alone (`customers.py`). The histories of tenants judge by them what requests did: their vendor is
a third organization beside A and B, which both may become customers of its service, the *desk* (`desk.py`), what the
two sides have set is kept as the steps set it, and what a person is in each organization is read from its rows. Core
and statements are compared with them in a small scope (`small_scope.py`, `scope_states.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.tenants.customers import ALONE, Assignment, Choice, Coming, Customer, Facts, Membership, Rights, Standing, V
from tests.tenants.words import speaks_for

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


@dataclass(kw_only=True)
class Product:
    """A service with customers: what its vendor and they have set."""

    role_ids: dict[str, str]
    vendor: str = V
    individuals: str = "others"
    # Who may come without a customer at all, and whom the vendor assigns of its own people.
    access: str = "everyone"
    assignments: list[Assignment] = field(default_factory=list[Assignment])
    is_suspended: bool = False
    serves_customers: bool = True
    customers: list[Customer] = field(default_factory=list[Customer])

    def present(self, of: str) -> Customer | None:
        """Return the customer that an organization is, paused or not; None when it is none."""
        return next((one for one in self.customers if one.of == of and not one.is_ended), None)

    def comes(self, facts: Facts, coming: Coming) -> Choice:
        """Return for which customer a person comes whose identity is proved."""
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

    def rights(
        self, facts: Facts, customer_id: str, limits: str | None = None, *, is_former: bool = False
    ) -> Rights | None:
        """Return what a session for a customer, or for none, opens; None when it opens nothing.

        What is unconfirmed counts in none that is older than the last proof of the address: another person may hold it.
        """
        if not customer_id:
            is_open = self.keeps(facts) and self._takes_individual(facts, counts=not is_former)
            return Rights(service_roles=self.own_roles(facts)) if is_open else None
        [customer] = [one for one in self.customers if one.id == customer_id]
        if customer not in self.open_to(facts) or self.is_suspended:
            return None
        if self._requires_other(facts, customer.of, limits):
            return None
        membership = facts.memberships[customer.of]
        if is_former and not membership.is_confirmed:
            return None
        return Rights(membership.role, self.roles(customer, membership))

    def roles(self, customer: Customer, membership: Membership) -> tuple[str, ...]:
        """Return the names of the roles of the service that a customer and the vendor give one of its members."""
        given = {role_id for one in self._fitting(customer.assignments, membership) for role_id in one.role_ids}
        return self.names(given | customer.own_roles.get(membership.id, frozenset()))

    def own_roles(self, facts: Facts) -> tuple[str, ...]:
        """Return the names of the roles of the service that the vendor gives one of its own people."""
        at = facts.memberships.get(self.vendor)
        if at is None or at.is_suspended or not at.is_confirmed:
            return ()
        return self.names({role_id for one in self._fitting(self.assignments, at) for role_id in one.role_ids})

    def admits(self, facts: Facts, *, confirms: bool = False) -> bool:
        """Return whether the vendor lets a person in for no customer, who confirms their membership or has done so."""
        at = facts.memberships.get(self.vendor)
        if self.access == "everyone" or (facts.is_given and at is None):
            return True
        if at is None or at.is_suspended or not (at.is_confirmed or confirms):
            return False
        return self.access == "members" or self.assigns_here(at)

    def keeps(self, facts: Facts) -> bool:
        """Return whether a session of a person for no customer goes on: what a key gave counts until they come anew."""
        return facts.is_given or self.admits(facts)

    def assigns_here(self, membership: Membership) -> bool:
        """Return whether some assignment of the vendor fits one of its own members, confirmed or not."""
        return bool(self._fitting(self.assignments, membership))

    def names(self, role_ids: Collection[str]) -> tuple[str, ...]:
        """Return the names of the roles of the service that have these ids."""
        return tuple(sorted(name for name, role_id in self.role_ids.items() if role_id in role_ids))

    def lets_in(self, customer: Customer, membership: Membership) -> bool:
        """Return whether a customer lets in this member, while it is active itself."""
        return not membership.is_suspended and self.assigns(customer, membership)

    def assigns(self, customer: Customer, membership: Membership) -> bool:
        """Return whether the customer's setting of who may come in names this member."""
        return customer.access == "members" or bool(self._fitting(customer.assignments, membership))

    def shows(self, customer: Customer, membership: Membership, *, has_come: bool) -> bool:
        """Return whether the vendor sees this member, whose account is active, among the people of a customer."""
        is_told = has_come or customer.shares_directory
        return is_told and membership.is_confirmed and self.lets_in(customer, membership)

    def open_to(self, facts: Facts) -> list[Customer]:
        """Return the customers for which a person may come in: their active members, or those that are assigned."""
        return [one for one in self.customers if self.standing(one, facts).is_open]

    def tiles(self, facts: Facts) -> set[str]:
        """Return for which customers the service is among the applications of a person, and whether as themselves."""
        at_vendor = facts.memberships.get(self.vendor)
        if self.is_suspended or (at_vendor is not None and at_vendor.is_suspended):
            return set()
        is_linked = self.vendor in facts.used and (facts.has_come_alone or facts.domain_of == self.vendor)
        is_own = (
            (is_linked or facts.has_settled_in(self.vendor)) and self.keeps(facts) and self._takes_individual(facts)
        )
        return {one.id for one in self.open_to(facts) if facts.has_settled_in(one.of)} | ({ALONE} if is_own else set())

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

    def may_come_alone(self, facts: Facts, *, on_page: bool = False) -> bool:
        """Return whether a person may come without a customer; a page asks them to confirm a membership.

        A service that is open to everyone asks whom it lets in anyway, so what is unconfirmed does not count there.
        """
        counts = on_page and self.access != "everyone"
        return self.admits(facts, confirms=on_page) and self._takes_individual(facts, counts=counts)

    def _takes_individual(self, facts: Facts, *, counts: bool = False) -> bool:
        """Return whether the service takes a person without a customer; `counts` says so of what is unconfirmed."""
        at_vendor = facts.memberships.get(self.vendor)
        if at_vendor is not None and not at_vendor.is_suspended and (at_vendor.is_confirmed or counts):
            return True
        excluding = (self.standing(one, facts).excludes for one in self.customers)
        return self.individuals == "all" or (self.individuals == "others" and not any(excluding))

    def choose(self, facts: Facts, coming: Coming) -> Choice:
        """Return for which customer a person comes, as far as the customers say."""
        if not self.serves_customers:
            is_admitted = self.admits(facts, confirms=coming.on_page)
            return Choice(is_alone=is_admitted and coming.limits in {None, self.vendor})
        standings = [(one, self.standing(one, facts)) for one in self.customers]
        is_alone = self.may_come_alone(facts, on_page=coming.on_page) and coming.limits in {None, self.vendor}
        return chosen(standings, coming, is_alone=is_alone, has_come_alone=facts.has_come_alone)

    def _requires_other(self, facts: Facts, of: str, limits: str | None) -> bool:
        """Return whether an organization signs the person in by its own connection alone, and this is another way."""
        return facts.is_enforced and facts.domain_of == of and limits != of

    def _fitting(self, assignments: Sequence[Assignment], membership: Membership) -> list[Assignment]:
        known = frozenset(self.role_ids.values())
        subjects = {"everyone", f"role:{membership.role}", f"membership:{membership.id}"}
        subjects |= {f"group:{group}" for group in membership.groups}
        return [one for one in assignments if one.subject in subjects and (not one.role_ids or one.role_ids & known)]


def chosen(
    standings: Sequence[tuple[Customer, Standing]], coming: Coming, *, is_alone: bool, has_come_alone: bool
) -> Choice:
    """Return for which customer a person comes, where the customers of a service have these standings.

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
    if coming.asks_again and offered:
        return asked
    is_individual = is_alone and has_come_alone
    if not offered or (is_individual and not counting):
        return Choice(is_alone=is_alone)
    is_only = len(counting) == 1 and known[counting[0]].is_confirmed and not is_individual
    if is_only and (coming.on_page or known[counting[0]].is_visited):
        return Choice(is_open[counting[0]])
    return asked
