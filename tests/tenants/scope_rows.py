"""The rows that all states of the small scope have in common, and what is written of one (`scope_writing.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.sessions.caller_limits import Confinement
from tests.tenants.scope_states import (
    CUSTOMERS,
    EDITOR,
    FORMER,
    ORGANIZATIONS,
    PEOPLE,
    TECHNICIAN,
    VENDORS,
    VIEWER,
)

if TYPE_CHECKING:
    from tests.world.builder import Builder, Service

DESK: Final = "desk"


@dataclass(frozen=True)
class SessionRow:
    """A session at the service of a vendor, for a customer or for none, by the connection of an organization or not."""

    id: UUID
    person: str
    vendor: str
    of: str | None
    limits: str | None


@dataclass(frozen=True)
class ScopeRows:
    """What all states have in common, with the ids of its rows by the names that the states have for them."""

    builder: Builder
    organizations: dict[str, UUID]
    services: dict[str, Service]
    people: dict[str, UUID]
    connections: dict[str, UUID]
    groups: dict[str, UUID]
    authorities: dict[str, UUID]
    roles: dict[tuple[str, str], UUID]

    @classmethod
    def insert(cls, builder: Builder) -> ScopeRows:
        """Insert what all states have in common."""
        organizations = {of: builder.organization(of) for of in ORGANIZATIONS}
        for of in CUSTOMERS:
            builder.custom_role(organizations[of], TECHNICIAN)
        services = {of: builder.service(organizations[of], DESK) for of in VENDORS}
        roles = dict[tuple[str, str], UUID]()
        for of, service in services.items():
            known = builder.serve_customers(service, EDITOR, VIEWER)
            roles |= {(of, name): role_id for name, role_id in known.items()} | {(of, FORMER): builder.new_id()}
        groups, authorities = ({of: builder.new_id() for of in ORGANIZATIONS} for _ in range(2))
        for of in ORGANIZATIONS:
            builder.connection.execute(
                "INSERT INTO directory_authorities (id, organization_id) VALUES (%s, %s)",
                (authorities[of], organizations[of]),
            )
            builder.connection.execute(
                """
                INSERT INTO directory_groups (id, organization_id, display_name, created_at, updated_at)
                VALUES (%s, %s, 'Group', %s, %s)
                """,
                (groups[of], organizations[of], builder.clock(), builder.clock()),
            )
        people = {person: builder.user(f"{person}@nowhere.example", password_hash=None) for person in PEOPLE}
        connections = {of: builder.new_id() for of in ORGANIZATIONS}
        return cls(builder, organizations, services, people, connections, groups, authorities, roles)

    def limits(self, of: str | None) -> Confinement | None:
        """Return the limits of a session by the connection of an organization."""
        if of is None:
            return None
        return Confinement(organization_id=self.organizations[of], connection_id=self.connections[of])


@dataclass(frozen=True)
class Written:
    """What was written of a state: the ids of its records by name, and its sessions."""

    records: dict[str, UUID]
    sessions: list[SessionRow]
