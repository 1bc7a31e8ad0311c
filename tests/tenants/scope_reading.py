"""Comparing what statements read of a written state of the small scope with the model.

Every person, every service, every customer: what belongs to the other ones must change nothing. What is read of a
sign-in is what core judges then, by all of its rules.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.customers.customers import ServiceCustomer
from core.customers.people import PeopleSought
from core.sessions.customer_endings import BATCH_SESSIONS_MAX
from core.sign_in import admission
from tests.tenants.customers import ALONE, Coming, Rights
from tests.tenants.entitling import decided, expected
from tests.tenants.given_values import facts_of, is_refused_by, service_of, standing_of
from tests.tenants.scope_states import CUSTOMERS, ORGANIZATIONS, PEOPLE, VENDORS, ScopeState, record
from tests.tenants.small_scope import ENDED, OFFERED, is_of_customer, is_suspended_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adapters.postgres.unit_of_work import PostgresUnitOfWork
    from core.sessions.callers import Caller
    from core.sign_in.entitlement import ConnectionStanding
    from core.sign_in.places import Place
    from tests.tenants.entitling import Outcome
    from tests.tenants.scope_rows import ScopeRows, SessionRow, Written

NAMED: Final = ((None, False), (ALONE, False), ("a", False), ("a", True), ("b", False), ("unknown", False))
PEOPLE_MAX: Final = 100
_ALL_PEOPLE: Final = PeopleSought(search="", role=None, after=None, limit=PEOPLE_MAX, offset=0)
_CLEAR: Final = b"DELETE FROM customer_rechecks"
_RECHECK: Final = b"""
    INSERT INTO customer_rechecks (id, service_id, customer_id, reason, created_at)
    SELECT gen_random_uuid(), service_id, id, 'paused', clock_timestamp() FROM service_customers
    UNION ALL
    SELECT gen_random_uuid(), id, NULL, 'individuals', clock_timestamp() FROM services
"""
_ENDED: Final = b"SELECT id FROM sessions WHERE revoked_at IS NOT NULL"


@dataclass(frozen=True)
class Reading:
    """What a unit of work reads of a state that was written in its transaction."""

    uow: PostgresUnitOfWork
    rows: ScopeRows
    state: ScopeState
    written: Written

    def differences(self) -> Iterator[str]:
        """Yield where what is read is another thing than the model says."""
        for person, vendor in product(PEOPLE, VENDORS):
            yield from self._sign_ins(person, vendor)
            yield from self._own_customers(person, vendor)
        for person in PEOPLE:
            yield from self._tiles(person)
        for session in self.written.sessions:
            yield from self._session(session)
        for vendor, of in self.state.relations:
            yield from self._people(vendor, of)
        yield from self._endings()

    def _sign_ins(self, person: str, vendor: str) -> Iterator[str]:
        user_id, facts = self.rows.people[person], self.state.facts(person, vendor)
        place = self.uow.sign_in_places.defer(user_id, vendor, "desk")()
        yield from self._place(person, vendor, place)
        yield from self._admission(person, vendor, place)
        required = self.uow.domain_routes.defer_enforced_on(user_id)()
        standings = {of: self._standing(person, of) for of in ORGANIZATIONS}
        yield from self._connections(person, standings)
        for (named, is_by_other), of in product(NAMED, (None, *ORGANIZATIONS)):
            coming = Coming(named, of, is_named_by_other=is_by_other)
            standing, limits = standings.get(of or ""), self.rows.limits(of)
            if limits is not None and standing is not None:
                limits = replace(limits, role=standing.confined_to_role)
            judged = facts_of(standing, limits, place, coming, required=required)
            found: Outcome = None if is_refused_by(judged) else self._named(decided(judged.here.choice))
            word = self.state.word(person, of) if of is not None else None
            is_signed_in = word is None or word.signs_in(self.state.belonging(person, of or ""))
            right = expected(self.state.desk(vendor).comes(facts, coming)) if is_signed_in else None
            if found != right:
                yield f"{person} at {vendor} by {coming} is {found}, and was to be {right}"

    def _standing(self, person: str, of: str) -> ConnectionStanding | None:
        organization_id, connection_id = self.rows.organizations[of], self.rows.connections[of]
        return self.uow.identities.standing(self.rows.people[person], organization_id, connection_id)

    def _connections(self, person: str, standings: dict[str, ConnectionStanding | None]) -> Iterator[str]:
        for of, found in standings.items():
            right = standing_of(self.state.belonging(person, of), self.state.word(person, of))
            # The scope has no role that allows anything.
            if found is None or replace(found, role_permissions=[]) != right:
                yield f"{person} by the connection of {of} is {found}, and was to be {right}"

    def _place(self, person: str, vendor: str, place: Place) -> Iterator[str]:
        desk, facts = self.state.desk(vendor), self.state.facts(person, vendor)
        found = place.customers
        assert found is not None, "a service with customers was read as one without"
        at_vendor = facts.memberships.get(vendor)
        open_to = {one.id: desk.standing(one, facts) for one in desk.open_to(facts)}
        right = (
            {of: (at.is_confirmed, at.is_in_mail_domain, at.is_visited) for of, at in open_to.items()},
            {one.id for one in desk.customers if is_suspended_at(desk, one, facts)},
            any(is_of_customer(one, facts) for one in desk.customers),
            at_vendor is not None and at_vendor.is_confirmed and not at_vendor.is_suspended,
            facts.has_come_alone,
        )
        shown = (
            {
                self._name(str(one.id)): (one.is_confirmed, one.is_in_mail_domain, one.last_sign_in_at is not None)
                for one in found.standings
            },
            {self._name(str(one.id)) for one in found.suspended},
            found.is_of_customer,
            found.is_of_vendor,
            found.has_come_alone,
        )
        if shown != right:
            yield f"{person} at {vendor}: a sign-in reads {shown}, and was to read {right}"

    def _admission(self, person: str, vendor: str, place: Place) -> Iterator[str]:
        for confirms in (False, True):
            found = admission.refusal_of(place, confirms=confirms) is None
            if found != self.state.desk(vendor).admits(self.state.facts(person, vendor), confirms=confirms):
                yield f"{person} at {vendor}, who confirms a membership {confirms}, is admitted {found}"

    def _own_customers(self, person: str, vendor: str) -> Iterator[str]:
        desk, facts = self.state.desk(vendor), self.state.facts(person, vendor)
        found = self.uow.own_customers.of_user(
            self.rows.organizations[vendor], self.rows.services[vendor].id, self.rows.people[person], limit=10
        )
        shown = {self._name(str(one.id)) for one in found}
        known = {one.id for one in desk.open_to(facts) if facts.memberships[one.of].is_confirmed}
        if shown != known & facts.visited:
            yield f"{person} at {vendor} has come for {shown}, and was to have for {known & facts.visited}"

    def _tiles(self, person: str) -> Iterator[str]:
        tiles = self.uow.my_applications.page(
            self.rows.people[person], has_address=True, limits=None, after=None, limit=PEOPLE_MAX
        )
        for vendor in VENDORS:
            found = [one.customer_id for one in tiles if one.organization_slug == vendor]
            shown = {self._name(str(one)) if one is not None else ALONE for one in found}
            right = self.state.desk(vendor).tiles(self.state.facts(person, vendor))
            if shown != right:
                yield f"{person} opens {vendor} from a page for {shown}, and was to for {right}"

    def _session(self, session: SessionRow) -> Iterator[str]:
        refreshable = self.uow.sessions.find_refreshable(session.id)
        callers = {
            "uses": self.uow.callers.of_session(session.id),
            "refreshes": refreshable.caller if refreshable is not None else None,
        }
        is_usable = self.state.accounts[session.person].is_usable
        for how, caller in callers.items():
            if (caller is not None) != is_usable:
                yield f"{session} {how} {caller}, and its account is {self.state.accounts[session.person]}"
            if caller is not None:
                yield from self._caller(session, caller, how)

    def _caller(self, session: SessionRow, caller: Caller, how: str) -> Iterator[str]:
        at_vendor, right = self.state.memberships.get((session.person, session.vendor)), self._rights(session)
        is_counted = at_vendor is not None and (at_vendor.is_confirmed or not self._is_former(session))
        role = at_vendor.role if at_vendor is not None and is_counted and not at_vendor.is_suspended else None
        if session.of is None:
            service = caller.place.service
            assert service is not None, "the session of a service was read as one without"
            is_open = service.is_admitted and service.is_open_to_individuals
            own = self.state.desk(session.vendor).own_roles(self.state.facts(session.person, session.vendor))
            shown = (caller.place.role, is_open, tuple(service.roles or ()))
            wanted = (role, right is not None, own)
        else:
            found = caller.place.customer
            rights = Rights(found.role, tuple(found.service_roles)) if found is not None else None
            shown, wanted = (caller.place.role, rights), (None, right)
        if shown != wanted:
            yield f"{session} {how} {shown}, and was to {wanted}"

    def _rights(self, session: SessionRow) -> Rights | None:
        desk, facts = self.state.desk(session.vendor), self.state.facts(session.person, session.vendor)
        record_id = record(session.vendor, session.of) if session.of is not None else ""
        return desk.rights(facts, record_id, session.limits, is_former=self._is_former(session))

    def _is_former(self, session: SessionRow) -> bool:
        return (session.person, session.vendor) in self.state.former

    def _people(self, vendor: str, of: str) -> Iterator[str]:
        kind, desk = self.state.relations[vendor, of].kind, self.state.desk(vendor)
        if kind in {ENDED, OFFERED}:
            return
        customer = next(one for one in desk.customers if one.of == of)
        ids = {"id": self.rows.services[vendor].id, "organization_id": self.rows.organizations[vendor]}
        service = replace(service_of(desk.individuals), **ids)
        page = self.uow.customer_people.page(service, self._customer(vendor, of), _ALL_PEOPLE)
        shown = {one.id: (tuple(one.service_roles), tuple(one.own_roles)) for one in page.users}
        right = dict[UUID, tuple[tuple[str, ...], tuple[str, ...]]]()
        for person in PEOPLE:
            facts = self.state.facts(person, vendor)
            at = facts.memberships.get(of)
            is_active = not self.state.accounts[person].is_deactivated
            if at is not None and is_active and desk.shows(customer, at, has_come=customer.id in facts.visited):
                own = desk.names(customer.own_roles.get(at.id, frozenset()))
                right[self.rows.people[person]] = (desk.roles(customer, at), own)
        if shown != right:
            yield f"{vendor} is shown {shown} of {of}, and was to be shown {right}"

    def _customer(self, vendor: str, of: str) -> ServiceCustomer:
        relation = self.state.relations[vendor, of]
        return ServiceCustomer(
            id=self.written.records[record(vendor, of)],
            organization_id=self.rows.organizations[of],
            slug=of,
            name=of,
            external_id=None,
            is_accepted=True,
            is_paused_by_vendor=False,
            is_paused_by_customer=False,
            shares_directory=relation.shares_directory,
            is_unclaimed=False,
            has_internal=False,
            metadata={},
            last_sign_in_at=None,
            created_at=self.uow.now,
        )

    def _endings(self) -> Iterator[str]:
        """Yield which sessions end that go on to be open, or do not end."""
        connection = self.rows.builder.connection
        closed = {one.id for one in self.written.sessions if self._rights(one) is None}
        of_a = {one.id for one in self.written.sessions if one.of == CUSTOMERS[0]}
        self.uow.customer_sessions.end_lost(self.rows.organizations[CUSTOMERS[0]], list(self.rows.people.values()))
        ended = {one for (one,) in connection.execute(_ENDED).fetchall()}
        if ended != closed & of_a:
            yield f"members of {CUSTOMERS[0]}: {self._named_sessions(ended ^ (closed & of_a))} end or stay by mistake"
        lost = closed & of_a | {one.id for one in self.written.sessions if self._is_shut_out(one, VENDORS[0])}
        self.uow.customer_sessions.end_lost(self.rows.organizations[VENDORS[0]], list(self.rows.people.values()))
        ended = {one for (one,) in connection.execute(_ENDED).fetchall()}
        if ended != lost:
            yield f"people of {VENDORS[0]}: {self._named_sessions(ended ^ lost)} end or stay by mistake"
        connection.execute(_CLEAR)
        connection.execute(_RECHECK)
        while self.uow.customer_sessions.recheck(BATCH_SESSIONS_MAX) is not None:
            pass
        ended = {one for (one,) in connection.execute(_ENDED).fetchall()}
        if ended != closed:
            yield f"all: {self._named_sessions(ended ^ closed)} end or stay by mistake"

    def _is_shut_out(self, session: SessionRow, vendor: str) -> bool:
        """Return whether a session is at the service of this vendor for no customer, which does not let its user in."""
        if session.vendor != vendor or session.of is not None:
            return False
        return not self.state.desk(vendor).keeps(self.state.facts(session.person, vendor))

    def _named_sessions(self, ids: set[UUID]) -> list[SessionRow]:
        return [one for one in self.written.sessions if one.id in ids]

    def _named(self, outcome: Outcome) -> Outcome:
        if isinstance(outcome, frozenset):
            return frozenset(self._name(one) for one in outcome)
        return self._name(outcome) if outcome is not None else None

    def _name(self, record_id: str) -> str:
        """Return the name of a record by its id, and the word for none as it is."""
        return next((name for name, one in self.written.records.items() if str(one) == record_id), record_id)
