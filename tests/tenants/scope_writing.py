"""Writing states of the small scope into the tables (`scope_states.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.accounts.sign_in_methods import Provider
from tests.tenants.scope_rows import ScopeRows, SessionRow, Written
from tests.tenants.scope_states import (
    CUSTOMERS,
    ORGANIZATIONS,
    PEOPLE,
    TECHNICIAN,
    VENDORS,
    VIEWER,
    ScopeState,
    record,
)
from tests.tenants.small_scope import ENDED, GROUP, OFFERED, PAUSED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from adapters.postgres.driver.connection import Connection

_SESSION: Final = """
    INSERT INTO sessions (id, user_id, organization_id, service_id, customer_id, provider, amr, authenticated_at,
                          refresh_hash, refreshed_at, expires_at, created_at, confined_to, connection_id)
    VALUES (%(id)s, %(user_id)s, %(organization_id)s, %(service_id)s, %(customer_id)s, 'password', '{}', %(now)s,
            %(hash)s, %(now)s, %(expires_at)s, %(created_at)s, %(confined_to)s, %(connection_id)s)
"""


def write(rows: ScopeRows, state: ScopeState) -> Written:
    """Write a state in the present transaction, and sessions for every customer and for none."""
    return _Writing(rows, state, rows.builder.connection, rows.builder.clock()).write()


@dataclass(frozen=True)
class _Writing:
    """The statements of one state, which go out together."""

    rows: ScopeRows
    state: ScopeState
    connection: Connection
    now: datetime

    def write(self) -> Written:
        """Write the state."""
        for of in ORGANIZATIONS:
            self._organization(of)
        for person in PEOPLE:
            self._person(person)
        for vendor in VENDORS:
            self._service(vendor)
        records = {record(vendor, of): self._relation(vendor, of) for vendor, of in self.state.relations}
        for (person, vendor, of), visit in self.state.visits.items():
            own = [self.rows.roles[vendor, VIEWER]] if visit.has_own_role else []
            self._add(
                """
                INSERT INTO customer_users (customer_id, organization_id, user_id, first_sign_in_at, last_sign_in_at,
                                            own_role_ids)
                VALUES (%s, %s, %s, %s, %s, %s)
                """,
                *(records[record(vendor, of)], self.rows.organizations[of], self.rows.people[person]),
                *(self.now, self.now, own),
            )
        sessions = list(self._sessions(records))
        for one in sessions:
            self._session(one, records)
        self.connection.flush()
        return Written(records, sessions)

    def _organization(self, of: str) -> None:
        organization_id, route = self.rows.organizations[of], self.state.routes[of]
        connection = self.state.connections[of]
        status = "suspended" if of in self.state.closed else "active"
        self._add("UPDATE organizations SET status = %s WHERE id = %s", status, organization_id)
        self._add(
            """
            INSERT INTO upstream_connections (id, organization_id, type, name, issuer, scopes, attribute_mapping,
                                              joins_as, trust_mfa, enabled, created_at, updated_at)
            VALUES (%s, %s, 'saml', 'Directory', 'https://directory.example', '{}', '{}', %s, false, %s, %s, %s)
            """,
            *(self.rows.connections[of], organization_id, connection.joins_as, connection.is_open, self.now, self.now),
        )
        is_proved = route.status != "pending"
        lost_at = {"failing": self.now - timedelta(days=1), "failed": self.now - timedelta(days=8)}.get(route.status)
        self._add(
            """
            INSERT INTO domain_routes (id, organization_id, domain, connection_id, enforced, value, status, verified_at,
                                       proved_at, failing_since)
            VALUES (%s, %s, %s, %s, %s, 'value', %s, %s, %s, %s)
            """,
            *(self._new_id(), organization_id, f"{of}.example", self.rows.connections[of], route.is_enforced),
            "failing" if lost_at is not None else route.status,
            *([self.now if is_proved else None] * 2),
            lost_at,
        )

    def _service(self, vendor: str) -> None:
        admission, service_id = self.state.admissions[vendor], self.rows.services[vendor].id
        self._add(
            "UPDATE services SET individuals = %s, access = %s WHERE id = %s",
            *(self.state.individuals[vendor], admission.access, service_id),
        )
        for position, (subject, roles) in enumerate(admission.assigned):
            self._add(
                """
                INSERT INTO service_assignments (service_id, organization_id, position, subject, role, custom_role,
                                                 group_id, user_id, role_ids)
                VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
                """,
                service_id,
                *self._assignment(vendor, vendor, position, subject, roles),
            )

    def _assignment(self, vendor: str, of: str, position: int, subject: str, roles: tuple[str, ...]) -> tuple[Any, ...]:
        """Return the values of an assignment of an organization, but for what it belongs to."""
        kind, _, named = subject.partition(":")
        role = named if kind == "role" else None
        return (
            *(self.rows.organizations[of], position, "user" if kind in PEOPLE else kind, role),
            role if role == TECHNICIAN else None,
            self.rows.groups[of] if kind == "group" else None,
            self.rows.people.get(kind),
            [self.rows.roles[vendor, name] for name in roles],
        )

    def _person(self, person: str) -> None:
        user_id, state = self.rows.people[person], self.state
        account = state.accounts[person]
        self._add(
            "UPDATE users SET email = %s, deactivated_at = %s, locked_at = %s WHERE id = %s",
            f"{person}@{state.addresses[person]}.example",
            *(self.now if is_set else None for is_set in (account.is_deactivated, account.is_locked)),
            user_id,
        )
        for (who, of), at in state.memberships.items():
            if who != person:
                continue
            organization_id = self.rows.organizations[of]
            by_groups = str(self.rows.connections[of]) if (who, of) in state.by_groups else None
            self._add(
                """
                INSERT INTO memberships (id, organization_id, user_id, role, created_at, confirmed_at, suspended_at,
                                         role_source, role_group)
                VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
                """,
                *(self._new_id(), organization_id, user_id, at.role, self.now),
                self.now if at.is_confirmed else None,
                self.now if at.is_suspended else None,
                *(by_groups, by_groups and GROUP),
            )
            if at.is_in_group:
                self._add(
                    """
                    INSERT INTO directory_group_members (organization_id, group_id, user_id, authority_id)
                    VALUES (%s, %s, %s, %s)
                    """,
                    *(organization_id, self.rows.groups[of], user_id, self.rows.authorities[of]),
                )
        for of, connection in state.connections.items():
            if person in connection.people:
                self._identity(person, of, is_confirmed=connection.people[person])
        for (who, vendor), has_come in state.links.items():
            if who == person:
                self._add(
                    """
                    INSERT INTO service_users (service_id, organization_id, user_id, first_login_at, last_login_at,
                                               origin)
                    VALUES (%s, %s, %s, %s, %s, %s)
                    """,
                    *(self.rows.services[vendor].id, self.rows.organizations[vendor], user_id, self.now),
                    self.now if has_come else None,
                    "key" if (who, vendor) in state.given else "self",
                )

    def _identity(self, person: str, of: str, *, is_confirmed: bool) -> None:
        self._add(
            """
            INSERT INTO identities (id, user_id, provider, subject, connection_id, organization_id, linked_at, used_at,
                                    confirmed_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
            """,
            *(self._new_id(), self.rows.people[person], Provider.UPSTREAM, person, self.rows.connections[of]),
            *(self.rows.organizations[of], self.now, self.now, self.now if is_confirmed else None),
        )

    def _relation(self, vendor: str, of: str) -> UUID:
        """Write a record, unless it has ended; return its id."""
        relation, organization_id = self.state.relations[vendor, of], self.rows.organizations[of]
        service, record_id = self.rows.services[vendor], self._new_id()
        if relation.kind == ENDED:
            return record_id
        is_offered, pauses = relation.kind == OFFERED, PAUSED.get(relation.kind, set[str]())
        self._add(
            """
            INSERT INTO service_customers (id, vendor_id, service_id, offered_slug, offered_to, offer_expires_at,
                                           organization_id, accepted_at, vendor_paused_at, customer_paused_at, access,
                                           shares_directory, created_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
            """,
            *(record_id, self.rows.organizations[vendor], service.id),
            *((of, organization_id, self.now + timedelta(days=1)) if is_offered else (None, None, None)),
            *((None, None) if is_offered else (organization_id, self.now)),
            *(self.now if side in pauses else None for side in ("vendor", "customer")),
            *(relation.access, relation.shares_directory, self.now),
        )
        for position, (subject, roles) in enumerate(() if is_offered else relation.assigned):
            self._add(
                """
                INSERT INTO customer_assignments (customer_id, organization_id, position, subject, role, custom_role,
                                                  group_id, user_id, role_ids)
                VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
                """,
                record_id,
                *self._assignment(vendor, of, position, subject, roles),
            )
        return record_id

    def _sessions(self, records: dict[str, UUID]) -> Iterator[SessionRow]:
        for person, vendor in product(PEOPLE, VENDORS):
            yield SessionRow(self._new_id(), person, vendor, None, None)
            for of in CUSTOMERS:
                if record(vendor, of) in records and self.state.relations[vendor, of].kind not in {ENDED, OFFERED}:
                    yield SessionRow(self._new_id(), person, vendor, of, None)
                    yield SessionRow(self._new_id(), person, vendor, of, of)

    def _session(self, session: SessionRow, records: dict[str, UUID]) -> None:
        limits = self.rows.limits(session.limits)
        self.connection.execute_later(
            _SESSION,
            {
                "id": session.id,
                "user_id": self.rows.people[session.person],
                "organization_id": self.rows.organizations[session.vendor],
                "service_id": self.rows.services[session.vendor].id,
                "customer_id": records[record(session.vendor, session.of)] if session.of is not None else None,
                "now": self.now,
                "hash": session.id.bytes,
                "created_at": self.now - timedelta(hours=(session.person, session.vendor) in self.state.former),
                "expires_at": self.now + timedelta(days=1),
                "confined_to": limits.organization_id if limits is not None else None,
                "connection_id": limits.connection_id if limits is not None else None,
            },
        )

    def _new_id(self) -> UUID:
        return self.rows.builder.new_id()

    def _add(self, statement: str, *values: Any) -> None:
        self.connection.execute_later(statement.encode(), values)
