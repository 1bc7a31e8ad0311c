"""The sign-ins that a SIEM gets, from the table `login_events`, each statement a range of ids of an index.

Sign-ins to the organization itself are in its part of the log. Sign-ins of its people at products are in the vendors'
parts, and name it as the organization through which they came.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.affiliations import OF_ROW, OF_ROW_COLUMNS, Affiliations
from adapters.postgres.transaction import Aggregate
from core.audit.siem import SignInCursor
from core.audit.siem_sign_ins import StreamedSignIn
from core.ids import end_id_until, first_id_since
from core.sign_in.reasons import WAITING

_WANTED: Final = """
    AND    e.id >= %(first_id)s AND e.id < %(end_id)s
    AND    (e.created_at, e.id) > (%(after_at)s, %(after_id)s) AND e.created_at <= %(until)s
    AND    (e.success OR e.reason IS NULL OR e.reason <> ALL (%(waiting)s))
"""
_OF_ORGANIZATION: Final = f"e.organization_id = %(organization_id)s {_WANTED}"
_THROUGH_ORGANIZATION: Final = f"""
    e.through_organization_id = %(organization_id)s AND e.organization_id <> %(organization_id)s {_WANTED}
"""
FIRST_OF_ORGANIZATION: Final = f"SELECT e.id FROM login_events e WHERE {_OF_ORGANIZATION} ORDER BY e.id LIMIT 1"
FIRST_THROUGH_ORGANIZATION: Final = (
    f"SELECT e.id FROM login_events e WHERE {_THROUGH_ORGANIZATION} ORDER BY e.id LIMIT 1"
)
_COLUMNS: Final = """
    e.id, e.created_at, e.success, e.reason, e.user_id, e.organization_id, e.service_id, e.customer_id,
    e.connection_id, e.ip_address
"""
_FIRST: Final = "ORDER BY e.created_at, e.id LIMIT %(limit)s"
PAGE: Final = f"""
    WITH page AS MATERIALIZED (
        SELECT e.*
        FROM   ((SELECT {_COLUMNS} FROM login_events e WHERE {_OF_ORGANIZATION} {_FIRST})
                UNION ALL
                (SELECT {_COLUMNS} FROM login_events e WHERE {_THROUGH_ORGANIZATION} {_FIRST})) AS e
        {_FIRST})
    SELECT   e.id, e.created_at, e.success, e.reason, u.id AS user_id, u.email, s.slug AS service, co.slug AS customer,
             c.id AS connection_id, e.ip_address, own.first_sign_in_at AS known_at, {OF_ROW_COLUMNS}
    FROM     page e
    LEFT     JOIN services s ON s.id = e.service_id AND s.organization_id = e.organization_id
    LEFT     JOIN service_customers sc ON sc.id = e.customer_id AND sc.vendor_id = e.organization_id
    LEFT     JOIN organizations co ON co.id = sc.organization_id
    LEFT     JOIN upstream_connections c ON c.id = e.connection_id AND c.organization_id = %(organization_id)s
    LEFT     JOIN customer_users own ON own.customer_id = sc.id AND own.user_id = e.user_id
                                    AND e.organization_id = %(organization_id)s
    {OF_ROW}
    LEFT     JOIN users u ON u.id = coalesce(standing.user_id, own.user_id)
    ORDER BY e.created_at, e.id
"""
_OF_STRANGER: Final[dict[str, Any]] = {"user_id": None, "email": None, "ip_address": None}


class PostgresSiemSignIns(Aggregate):
    """The port `SiemSignIns`."""

    def first_after(self, organization_id: UUID, after: SignInCursor, *, until: datetime) -> UUID | None:
        values = _values(organization_id, after, first_id=first_id_since(after.at), until=until)
        own = self._defer_values(FIRST_OF_ORGANIZATION, values)
        through = self._defer_values(FIRST_THROUGH_ORGANIZATION, values)
        return min([*own(), *through()], default=None)

    def page(
        self, organization_id: UUID, after: SignInCursor, *, first_id: UUID, until: datetime, limit: int
    ) -> Sequence[StreamedSignIn]:
        values = _values(organization_id, after, first_id=first_id, until=until) | {"limit": limit}
        # Planned for these months each time, as the pages of the log are.
        rows = self._rows(PAGE, values, prepare=False)
        return [_streamed(row, since) for row, since in Affiliations(self._transaction).of_rows(organization_id, rows)]


def _streamed(row: dict[str, Any], since: datetime | None) -> StreamedSignIn:
    """Return a sign-in; the vendor of a product knows the people of its customers since they first came in to it."""
    known_since = min((one for one in (since, row.pop("known_at")) if one is not None), default=None)
    is_known = known_since is not None and known_since <= row["created_at"]
    return StreamedSignIn(**(row if is_known else row | _OF_STRANGER))


def _values(organization_id: UUID, after: SignInCursor, *, first_id: UUID, until: datetime) -> dict[str, Any]:
    return {
        "organization_id": organization_id,
        "first_id": first_id,
        "end_id": end_id_until(until),
        "after_at": after.at,
        "after_id": after.id,
        "until": until,
        "waiting": [reason.value for reason in WAITING],
    }
