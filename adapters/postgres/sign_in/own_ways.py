"""The connections by which a user signs in, in the tables of connections and domain routes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from adapters.postgres.domains_in_force import in_force_at
from adapters.postgres.sign_in.upstream.domains.domain_routes import IS_ENFORCED, IS_OF_OWNER, OF_USER
from adapters.postgres.transaction import Aggregate
from core.organizations.organizations import OWNER
from core.sign_in.own_ways import NamedConnection

if TYPE_CHECKING:
    from core.deferred import Deferred

_NAMED: Final = "c.id, c.organization_id, c.name, o.name AS organization_name"
_REQUIRED: Final = f"SELECT {_NAMED} {OF_USER} AND {IS_ENFORCED} AND (%(of_owners)s OR NOT {IS_OF_OWNER})"
_OF_SESSION: Final = f"""
    SELECT {_NAMED}
    FROM   sessions s
    JOIN   upstream_connections c ON c.id = s.connection_id AND c.organization_id = s.confined_to
    JOIN   organizations o ON o.id = c.organization_id
    WHERE  s.id = %s
"""


class PostgresWaysOfUser(Aggregate):
    """The port `WaysOfUser`."""

    def defer_required(self, user_id: UUID, *, of_owners: bool = False) -> Deferred[NamedConnection | None]:
        values = {"user_id": user_id, "owner": OWNER, "of_owners": of_owners}
        return self._defer_one(NamedConnection, _REQUIRED, values | in_force_at(self._transaction.now))

    def defer_connection_of(self, session_id: UUID) -> Deferred[NamedConnection | None]:
        return self._defer_one(NamedConnection, _OF_SESSION, (session_id,))
