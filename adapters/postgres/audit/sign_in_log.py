"""The log of sign-ins behind plots, as ports/audit/audit_log.py says; each list reads a part of an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.affiliations import OF_ROW, OF_ROW_COLUMNS, Affiliations
from adapters.postgres.audit.sign_in_counts import (
    DAY,
    NEWER_OF_PLATFORM,
    REASON,
    ZERO,
    counted_values,
)
from adapters.postgres.driver.columns import values
from adapters.postgres.log_times import first_kept_id
from adapters.postgres.transaction import Aggregate
from core.audit.analytics import Period
from core.audit.sign_in_counts import SignInFilter
from core.audit.sign_in_log import ActiveUser, LoggedSignIn, SignInPerson
from core.ids import LAST_ID, end_id_until, first_id_since, ids_of_days
from core.positions import Position

_PERIOD: Final = """
    AND    (%(start)s::date IS NULL OR e.created_at >= %(start)s::date::timestamp AT TIME ZONE 'UTC')
    AND    (%(end)s::date IS NULL OR e.created_at < (%(end)s::date + 1)::timestamp AT TIME ZONE 'UTC')
"""
_FILTERS: Final = f"""
    AND    (%(reason)s::text IS NULL OR {REASON} = %(reason)s)
    AND    (%(provider)s::text IS NULL OR e.provider = %(provider)s)
    AND    (%(service_id)s::uuid IS NULL OR coalesce(e.service_id, {ZERO}) = %(service_id)s)
    AND    (%(address)s::text IS NULL OR e.ip_address = %(address)s)
"""
# The counts name the days, so that matching sign-ins are found without reading other days. Each day is a range of ids,
# and no two overlap; a sign-in that was finished after the day belongs to the next one. All lists are in the order of
# the ids, which is also the order of the months.
_FITTING: Final = f"""
    AND    e.id >= days.from_id AND e.id < days.to_id
    AND    e.created_at < (days.day + 1)::timestamp AT TIME ZONE 'UTC'
    {_PERIOD}
    {_FILTERS}
"""
_IN_PERIOD: Final = f"""
    AND    e.id >= %(from_id)s AND e.id < %(end_id)s
    {_PERIOD}
    {_FILTERS}
"""
_COLUMNS: Final = """
    e.id, e.created_at, e.provider, e.mailed_proof, e.success, e.reason, e.organization_id, e.service_id,
    e.connection_id, e.user_id, e.ip_address, e.user_agent, e.request_id
"""
_NEWEST: Final = "ORDER BY id DESC LIMIT %(limit)s"
_IN_ORDER: Final = "ORDER BY e.id DESC"
_DAYS: Final = "unnest(%(days)s::date[], %(from_ids)s::uuid[], %(to_ids)s::uuid[]) AS days (day, from_id, to_id)"
# Not EXISTS, for which the planner reads all members of the organization to look up a page of them.
_IS_MEMBER: Final = """
    coalesce((SELECT true FROM memberships m WHERE m.organization_id = %(organization_id)s AND m.user_id = e.user_id),
             false) AS is_member
"""
_TO_ORGANIZATION: Final = f"""
    SELECT   e.id, e.created_at, e.provider, e.mailed_proof, e.success, e.reason,
             NULL AS organization_id, NULL AS organization_name,
             e.service_id, s.name AS service_name, c.name AS connection_name, u.id AS user_id, u.email,
             coalesce(u.is_platform_owner, false) AS is_platform_owner, {_IS_MEMBER}, e.ip_address, e.user_agent,
             e.request_id, {OF_ROW_COLUMNS}
    FROM     page e
    LEFT     JOIN services s ON s.id = e.service_id AND s.organization_id = %(organization_id)s
    LEFT     JOIN upstream_connections c ON c.id = e.connection_id AND c.organization_id = %(organization_id)s
    {OF_ROW}
    LEFT     JOIN users u ON u.id = standing.user_id
"""
_TO_PLATFORM: Final = """
    SELECT   e.id, e.created_at, e.provider, e.mailed_proof, e.success, e.reason,
             o.id AS organization_id, o.name AS organization_name,
             e.service_id, s.name AS service_name, c.name AS connection_name, e.user_id, u.email,
             u.is_platform_owner, false AS is_member, e.ip_address, e.user_agent, e.request_id
    FROM     page e
    JOIN     users u ON u.id = e.user_id
    LEFT     JOIN organizations o ON o.id = e.organization_id
    LEFT     JOIN services s ON s.id = e.service_id AND s.organization_id = e.organization_id
    LEFT     JOIN upstream_connections c ON c.id = e.connection_id
"""
LISTED_OF_ORGANIZATION: Final = f"""
    WITH page AS MATERIALIZED (
        SELECT e.*
        FROM   {_DAYS}
        CROSS  JOIN unnest(%(outcomes)s::boolean[]) AS outcomes (success)
        CROSS  JOIN LATERAL (
            SELECT {_COLUMNS}
            FROM   login_events e
            WHERE  e.organization_id = %(organization_id)s AND e.success = outcomes.success {_FITTING}
            {_NEWEST}) AS e
        {_NEWEST})
    {_TO_ORGANIZATION}
    {_IN_ORDER}
"""
# Of one day, because each part of the log gives its own newest. The ids are ordered by the time when they were made,
# which is at most an hour before the time of the sign-in.
LISTED_OF_PLATFORM: Final = f"""
    WITH page AS MATERIALIZED (
        SELECT {_COLUMNS}
        FROM   login_events e
        WHERE  e.success = ANY (%(outcomes)s) AND e.id >= %(from_id)s AND e.id < %(to_id)s
        AND    e.created_at < (%(day)s::date + 1)::timestamp AT TIME ZONE 'UTC'
        {_PERIOD}
        {_FILTERS}
        {_NEWEST})
    {_TO_PLATFORM}
    {_IN_ORDER}
"""
OF_PERSON_IN_ORGANIZATION: Final = f"""
    WITH page AS MATERIALIZED (
        SELECT {_COLUMNS}
        FROM   login_events e
        WHERE  e.organization_id = %(organization_id)s AND e.user_id = %(user_id)s AND e.organization_id <> e.user_id
        AND    e.created_at >= %(since)s AND e.success = ANY (%(outcomes)s) {_IN_PERIOD}
        {_NEWEST})
    {_TO_ORGANIZATION}
    {_IN_ORDER}
"""
OF_PERSON: Final = f"""
    WITH page AS MATERIALIZED (
        SELECT e.*
        FROM   ((SELECT {_COLUMNS} FROM login_events e
                 WHERE  e.user_id = %(user_id)s AND e.success AND true = ANY (%(outcomes)s) {_IN_PERIOD} {_NEWEST})
                UNION ALL
                (SELECT {_COLUMNS} FROM login_events e
                 WHERE  e.user_id = %(user_id)s AND NOT e.success AND false = ANY (%(outcomes)s) {_IN_PERIOD}
                 {_NEWEST})) AS e
        {_NEWEST})
    {_TO_PLATFORM}
    {_IN_ORDER}
"""
# The newest sign-ins from an address, and the ones among them that fit.
_LOOKED_AT: Final = f"""
    SELECT   {_COLUMNS}
    FROM     login_events e
    WHERE    e.ip_address = %(address)s AND e.id >= %(from_id)s AND e.id < %(end_id)s {_PERIOD}
"""
_OF_ORGANIZATION: Final = "AND e.organization_id = %(organization_id)s"
_LOOKED_AT_MAX: Final = "ORDER BY e.id DESC LIMIT %(looked_at_max)s"
_FITTING_OF_ADDRESS: Final = f"WHERE e.success = ANY (%(outcomes)s) {_FILTERS} {_NEWEST}"
OF_ADDRESS_IN_ORGANIZATION: Final = f"""
    WITH looked_at AS MATERIALIZED ({_LOOKED_AT} {_OF_ORGANIZATION} {_LOOKED_AT_MAX}),
    page AS MATERIALIZED (SELECT * FROM looked_at e {_FITTING_OF_ADDRESS})
    {_TO_ORGANIZATION}
    {_IN_ORDER}
"""
OF_ADDRESS: Final = f"""
    WITH looked_at AS MATERIALIZED ({_LOOKED_AT} {_LOOKED_AT_MAX}),
    page AS MATERIALIZED (SELECT * FROM looked_at e {_FITTING_OF_ADDRESS})
    {_TO_PLATFORM}
    {_IN_ORDER}
"""
_LAST: Final = "ORDER BY id DESC OFFSET %(looked_at_max)s - 1 LIMIT 1"
LAST_OF_ADDRESS_IN_ORGANIZATION: Final = f"""
    SELECT id FROM ({_LOOKED_AT} {_OF_ORGANIZATION} {_LOOKED_AT_MAX}) AS looked_at {_LAST}
"""
LAST_OF_ADDRESS: Final = f"SELECT id FROM ({_LOOKED_AT} {_LOOKED_AT_MAX}) AS looked_at {_LAST}"
ACTIVE_IN_ORGANIZATION: Final = f"""
    WITH page AS MATERIALIZED (
        SELECT   DISTINCT e.user_id
        FROM     login_events e
        WHERE    e.organization_id = %(organization_id)s AND e.success AND e.user_id > %(after)s
        AND      e.id >= %(from_id)s AND e.id < %(end_id)s
        AND      e.created_at >= %(start)s::timestamp AT TIME ZONE 'UTC'
        AND      e.created_at < (%(end)s::date + 1)::timestamp AT TIME ZONE 'UTC'
        ORDER BY e.user_id
        LIMIT    %(limit)s)
    SELECT   e.user_id, u.email, coalesce(u.is_platform_owner, false) AS is_platform_owner, {_IS_MEMBER},
             {OF_ROW_COLUMNS}
    FROM     page e
    {OF_ROW}
    LEFT     JOIN users u ON u.id = standing.user_id
    ORDER BY e.user_id
"""
ACTIVE_IN_PLATFORM: Final = f"""
    WITH newer AS MATERIALIZED (
        SELECT DISTINCT e.user_id, {DAY} AS day {NEWER_OF_PLATFORM} AND e.success),
    page AS MATERIALIZED (
        (SELECT   DISTINCT user_id
         FROM     active_days
         WHERE    scope = {ZERO} AND day BETWEEN %(start)s AND %(end)s AND user_id > %(after)s
         ORDER BY user_id
         LIMIT    %(limit)s)
        UNION
        (SELECT   DISTINCT user_id
         FROM     newer
         WHERE    day BETWEEN %(start)s AND %(end)s AND user_id > %(after)s
         ORDER BY user_id
         LIMIT    %(limit)s))
    SELECT   u.id AS user_id, u.email, u.is_platform_owner, false AS is_member
    FROM     page e
    JOIN     users u ON u.id = e.user_id
    ORDER BY u.id
    LIMIT    %(limit)s
"""
# What an organization reads of a sign-in from before it had to do with the user.
_OF_STRANGER: Final[dict[str, Any]] = {
    "user_id": None,
    "email": None,
    "is_platform_owner": False,
    "ip_address": None,
    "user_agent": None,
    "request_id": None,
}
# Of an active user who has confirmed nothing.
_OF_UNKNOWN: Final[dict[str, Any]] = {"email": None, "is_platform_owner": False}
SERVICE_NAMES: Final = "SELECT id, name FROM services WHERE organization_id = %s ORDER BY name, id LIMIT %s"


class PostgresSignInLog(Aggregate):
    """The port `SignInLog`."""

    def listed(
        self,
        organization_id: UUID | None,
        asked: SignInFilter,
        *,
        days: Sequence[date],
        after: Position | None,
        limit: int,
    ) -> Sequence[LoggedSignIn]:
        ranges = self._ranges(days, after)
        if organization_id is None:
            return self._listed_of_platform(asked, dict(zip(days, ranges, strict=True)), limit)
        rows = self._rows(
            LISTED_OF_ORGANIZATION,
            _listed_values(asked, limit)
            | {
                "organization_id": organization_id,
                "days": list(days),
                "from_ids": [first for first, _ in ranges],
                "to_ids": [end for _, end in ranges],
            },
        )
        return self._logged(organization_id, rows)

    def of_person(
        self, person: SignInPerson, asked: SignInFilter, *, after: Position | None, limit: int
    ) -> Sequence[LoggedSignIn]:
        from_id, end_id = self._kept(asked.since, asked.until)
        values = _listed_values(asked, limit) | {
            "organization_id": person.organization_id,
            "user_id": person.user_id,
            "since": person.since,
            "from_id": max(from_id, first_id_since(person.since)) if person.since is not None else from_id,
            "end_id": min(after.id, end_id) if after is not None else end_id,
        }
        if person.organization_id is None:
            return self._all(LoggedSignIn, OF_PERSON, values)
        return self._logged(person.organization_id, self._rows(OF_PERSON_IN_ORGANIZATION, values))

    def of_address(
        self,
        organization_id: UUID | None,
        asked: SignInFilter,
        *,
        after: Position | None,
        limit: int,
        looked_at_max: int,
    ) -> tuple[Sequence[LoggedSignIn], UUID | None]:
        from_id, end_id = self._kept(asked.since, asked.until)
        values = _listed_values(asked, limit) | {
            "organization_id": organization_id,
            "from_id": from_id,
            "end_id": min(after.id, end_id) if after is not None else end_id,
            "looked_at_max": looked_at_max,
        }
        # Planned with the address each time: a plan for any reads all sign-ins in the range of ids.
        if organization_id is None:
            rows = self._all(LoggedSignIn, OF_ADDRESS, values, prepare=False)
        else:
            rows = self._logged(organization_id, self._rows(OF_ADDRESS_IN_ORGANIZATION, values, prepare=False))
        if len(rows) == limit:
            return rows, None
        last = LAST_OF_ADDRESS if organization_id is None else LAST_OF_ADDRESS_IN_ORGANIZATION
        last_ids = self._values(last, values, prepare=False)
        return rows, last_ids[0] if last_ids else None

    def active_in(
        self, organization_id: UUID | None, period: Period, newer_since: datetime | None, *, after: UUID, limit: int
    ) -> Sequence[ActiveUser]:
        from_id, end_id = self._kept(period.start, period.end)
        values = counted_values(organization_id, period.start, period.end, newer_since) | {
            "after": after,
            "limit": limit,
            "from_id": from_id,
            "end_id": end_id,
        }
        if organization_id is None:
            return self._all(ActiveUser, ACTIVE_IN_PLATFORM, values)
        rows = Affiliations(self._transaction).of_rows(organization_id, self._rows(ACTIVE_IN_ORGANIZATION, values))
        return [ActiveUser(**(row if since is not None else row | _OF_UNKNOWN)) for row, since in rows]

    def service_names(self, organization_id: UUID, limit: int) -> Sequence[tuple[UUID, str]]:
        rows = self._rows(SERVICE_NAMES, (organization_id, limit))
        return [(row["id"], row["name"]) for row in rows]

    def _listed_of_platform(
        self, asked: SignInFilter, ranges: Mapping[date, tuple[UUID, UUID]], limit: int
    ) -> Sequence[LoggedSignIn]:
        found: list[LoggedSignIn] = []
        for day, (from_id, to_id) in ranges.items():
            values = _listed_values(asked, limit - len(found)) | {"day": day, "from_id": from_id, "to_id": to_id}
            found += self._all(LoggedSignIn, LISTED_OF_PLATFORM, values)
            if len(found) == limit:
                break
        return found

    def _logged(self, organization_id: UUID, found: Sequence[dict[str, Any]]) -> Sequence[LoggedSignIn]:
        """Return the sign-ins, without the user where the sign-in is from before the user belonged here."""
        rows = Affiliations(self._transaction).of_rows(organization_id, found)
        return [
            LoggedSignIn(**(row if since is not None and since <= row["created_at"] else row | _OF_STRANGER))
            for row, since in rows
        ]

    def _ranges(self, days: Sequence[date], after: Position | None) -> Sequence[tuple[UUID, UUID]]:
        """Return the ranges of ids of these days, the latest first, as far as they come after a place in the list."""
        ranges: list[tuple[UUID, UUID]] = []
        before = after.id if after is not None else LAST_ID
        for day in days:
            first, end = self._kept(day, day)
            ranges.append((first, min(end, before)))
            before = min(first, before)
        return ranges

    def _kept(self, start: date | None, end: date | None) -> tuple[UUID, UUID]:
        """Return the range of ids that kept sign-ins of some days can have."""
        now = self._transaction.now
        first, last = ids_of_days(start or date.min, end or date.max)
        return max(first, first_kept_id(now)), min(last, end_id_until(now))


def _listed_values(asked: SignInFilter, limit: int) -> dict[str, Any]:
    return values(asked) | {
        "outcomes": [True, False] if asked.succeeded is None else [asked.succeeded],
        "start": asked.since,
        "end": asked.until,
        "limit": limit,
    }
