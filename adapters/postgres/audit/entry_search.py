"""Searching audit logs: each condition is a range of an index, and the one with the fewest entries leads.

The leading range is read up to a number of entries, however many of them the other conditions admit;
`core/audit/entry_search.py` says why. A range of times becomes three: between its ends the ids alone decide, so that
counting reads no entries; around both ends the entries themselves are compared.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, LiteralString, NamedTuple
from uuid import UUID

from adapters.postgres.audit.audit_log import sealed_ids, with_actors
from adapters.postgres.driver.columns import values
from adapters.postgres.driver.connection import Connection
from adapters.postgres.log_times import IN_TIMES, values_of
from adapters.postgres.transaction import Aggregate
from adapters.postgres.webhooks.events import OF_USERS, PostgresKnownAddresses
from core.audit.audit_log import SYSTEM_ID, FoundEntry, SearchedEntries
from core.audit.entry_search import LOOKED_AT_MAX, EntrySearch
from core.ids import LAST_ID
from core.limits import COUNTED_MAX

# An actor without an account, as it is shown; word for word the expression of the index.
_ACTOR_WITHOUT_USER: Final = """coalesce('setup_link:' || (details ->> 'setup_link_id'),
                                 'api_key:' || (details ->> 'organization_key_id'), 'system')"""
_ACTION: Final = "action = %(action)s"
_TARGET_TYPE: Final = "target_type = %(target_type)s"
_TARGET: Final = f"{_TARGET_TYPE} AND target_id = %(target_id)s"
_USER: Final = "actor_user_id = %(actor)s::uuid"
_WITHOUT_USER: Final = f"actor_user_id IS NULL AND {_ACTOR_WITHOUT_USER} = %(actor)s"
_IP_ADDRESS: Final = "ip_address = %(ip_address)s"
_REQUEST: Final = "request_id = %(request_id)s"
_EVERY: Final = "true"
_IDS: Final = "id >= %(first_id)s AND id < %(before_id)s"
# The newest first; no two overlap.
_PARTS_OF_TIMES: Final[Sequence[LiteralString]] = (
    f"id >= %(sure_end_id)s AND {_IDS} AND {IN_TIMES}",
    f"id >= %(sure_first_id)s AND id < %(sure_end_id)s AND {_IDS}",
    f"id < %(sure_first_id)s AND {_IDS} AND {IN_TIMES}",
)


class StoredLog(NamedTuple):
    """A table of entries, the condition for the rows of the log, and the columns that only this table has."""

    table: LiteralString
    rows: LiteralString
    position: LiteralString


OF_ORGANIZATION: Final = StoredLog("audit_entries", "organization_id = %(organization_id)s", "position")
OF_PLATFORM: Final = StoredLog("platform_audit_entries", "true", "NULL::bigint")


def ranges_of(search: EntrySearch) -> list[LiteralString]:
    """Return the conditions of a search, each of which is a range of an index."""
    given: list[LiteralString | None] = [
        _REQUEST if search.request_id is not None else None,
        _target_of(search),
        _actor_of(search),
        _IP_ADDRESS if search.ip_address is not None else None,
        _ACTION if search.action is not None else None,
    ]
    return [condition for condition in given if condition is not None]


def _target_of(search: EntrySearch) -> LiteralString | None:
    if search.target_type is None:
        return None
    return _TARGET_TYPE if search.target_id is None else _TARGET


def _actor_of(search: EntrySearch) -> LiteralString | None:
    match search.actor:
        case None:
            return None
        case actor if actor == SYSTEM_ID or ":" in actor:
            return _WITHOUT_USER
        case _:
            return _USER


class Range(NamedTuple):
    """The entries of a log that one condition finds, of some times or of any."""

    log: StoredLog
    condition: LiteralString
    is_of_times: bool = False


def _led(led: Range, columns: LiteralString, limit: LiteralString) -> LiteralString:
    """Return the statement of the newest entries of a range, up to a limit."""
    if not led.is_of_times:
        return _part_of(led, columns, _IDS, limit)
    union: LiteralString = " UNION ALL "
    parts = union.join([f"({_part_of(led, columns, ids, limit)})" for ids in _PARTS_OF_TIMES])
    return f"SELECT * FROM ({parts}) AS parts ORDER BY id DESC {limit}"


def _part_of(led: Range, columns: LiteralString, ids: LiteralString, limit: LiteralString) -> LiteralString:
    of_log = f"{led.log.rows} AND {led.condition}"
    return f"SELECT {columns} FROM {led.log.table} WHERE {of_log} AND {ids} ORDER BY id DESC {limit}"


def count_of(led: Range) -> LiteralString:
    """Return the statement that counts a range, up to one more than a search looks at."""
    return f"SELECT count(*) FROM ({_led(led, 'id', 'LIMIT %(counted)s')}) AS led"


def matches_of(led: Range, others: LiteralString) -> LiteralString:
    """Return the statement that counts the matches among the newest entries of a range."""
    return f"SELECT count(*) FROM ({_led(led, '*', 'LIMIT %(looked_at)s')}) AS led WHERE {others}"


def bound_of(led: Range) -> LiteralString:
    """Return the statement that finds the last entry to look at, and one after it."""
    newest = _led(led, "id", "LIMIT %(looked_at)s + 1")
    return f"SELECT id FROM ({newest}) AS led ORDER BY id DESC OFFSET %(looked_at)s - 1"


def page_of(led: Range, others: LiteralString) -> LiteralString:
    """Return the statement of a page."""
    log = led.log
    newest = _led(led, "*", "LIMIT %(looked_at)s")
    page = f"SELECT * FROM ({newest}) AS led WHERE {others} ORDER BY id DESC LIMIT %(limit)s OFFSET %(offset)s"
    return shown_of(log, page, "DESC")


def shown_of(log: StoredLog, entries: LiteralString, direction: LiteralString) -> LiteralString:
    """Return the statement that reads entries, for `found_entries`."""
    return f"""
        SELECT e.id, e.organization_id, e.action, e.target_type, e.target_id, e.ip_address, e.user_agent, e.request_id,
               e.success, e.details, e.created_at, {log.position} AS position, e.actor_user_id
        FROM   ({entries}) AS e
        ORDER  BY e.id {direction}
    """


# The chain gives positions to committed entries alone, so nothing comes before a position later.
def sealed_of(others: LiteralString) -> LiteralString:
    """Return the statement of the matches in a part of a chain."""
    return shown_of(
        OF_ORGANIZATION,
        f"""SELECT * FROM audit_entries
            WHERE  organization_id = %(organization_id)s AND position > %(after)s AND position <= %(through)s
              AND  id >= %(first_sealed_id)s AND id <= %(last_sealed_id)s AND {others}
            ORDER  BY position LIMIT %(limit)s""",
        "ASC",
    )


_NAMES: Final = f"""
    {OF_USERS}
    UNION ALL
    -- People of its customers that the vendor knows.
    SELECT u.id, u.email, NULL
    FROM   users u
    WHERE  u.id = ANY (%(ids)s)
      AND  EXISTS (SELECT FROM customer_users_told t
                   JOIN   service_customers c ON c.id = t.customer_id
                   WHERE  c.vendor_id = %(organization_id)s AND t.user_id = u.id AND t.told <> '')
    UNION ALL
    SELECT id, name, NULL FROM organizations WHERE id = ANY (%(ids)s) AND id = %(organization_id)s
    UNION ALL
    SELECT id, name, NULL FROM services WHERE id = ANY (%(ids)s) AND organization_id = %(organization_id)s
    UNION ALL
    SELECT id, name, NULL FROM plans WHERE id = ANY (%(ids)s) AND organization_id = %(organization_id)s
    UNION ALL
    SELECT id, email, NULL FROM invitations WHERE id = ANY (%(ids)s) AND organization_id = %(organization_id)s
    UNION ALL
    SELECT id, name, NULL FROM api_keys WHERE id = ANY (%(ids)s) AND organization_id = %(organization_id)s
    UNION ALL
    SELECT id, name, NULL FROM organization_keys WHERE id = ANY (%(ids)s) AND organization_id = %(organization_id)s
    UNION ALL
    SELECT id, name, NULL FROM scim_tokens WHERE id = ANY (%(ids)s) AND organization_id = %(organization_id)s
    UNION ALL
    SELECT id, name, NULL FROM upstream_connections WHERE id = ANY (%(ids)s) AND organization_id = %(organization_id)s
    UNION ALL
    SELECT id, domain, NULL FROM domain_routes WHERE id = ANY (%(ids)s) AND organization_id = %(organization_id)s
    UNION ALL
    SELECT id, name, NULL FROM webhooks WHERE id = ANY (%(ids)s) AND organization_id = %(organization_id)s
    UNION ALL
    SELECT c.id, coalesce(o.name, c.offered_slug), NULL
    FROM   service_customers c
    LEFT JOIN organizations o ON o.id = c.organization_id
    WHERE  c.id = ANY (%(ids)s) AND c.vendor_id = %(organization_id)s
    UNION ALL
    SELECT id, display_name, NULL FROM tiers WHERE id = ANY (%(ids)s)
"""
_NAMES_FOR_PLATFORM: Final = """
    SELECT id, email AS name FROM users WHERE id = ANY (%(ids)s)
    UNION ALL
    SELECT id, name FROM organizations WHERE id = ANY (%(ids)s)
    UNION ALL
    SELECT id, recipient FROM mails WHERE id = ANY (%(ids)s)
    UNION ALL
    SELECT id, name FROM services WHERE id = ANY (%(ids)s)
    UNION ALL
    SELECT id, display_name FROM tiers WHERE id = ANY (%(ids)s)
"""


class PostgresAuditSearches(Aggregate):
    """The port `AuditSearches`."""

    def user_of(self, email: str) -> UUID | None:
        return self._value_or_none("SELECT id FROM users WHERE email = %s", (email,))

    def has_request(self, request_id: str) -> bool:
        return self._finds_any("SELECT FROM platform_audit_entries WHERE request_id = %s LIMIT 1", (request_id,))

    def invitation_to(self, organization_id: UUID | None, email: str) -> UUID | None:
        return self._value_or_none(
            """
            SELECT   id
            FROM     invitations
            WHERE    organization_id = %s AND email = %s
            ORDER BY id DESC
            LIMIT    1
            """,
            (organization_id, email),
        )

    def target_type_of(self, organization_id: UUID | None, target_id: str, target_types: Collection[str]) -> str | None:
        log = _log_of(organization_id)
        return self._value_or_none(
            f"""
            SELECT target_type
            FROM   unnest(%(target_types)s::text[]) AS one (target_type)
            WHERE  EXISTS (SELECT FROM {log.table} e
                           WHERE  {log.rows} AND e.target_type = one.target_type AND e.target_id = %(target_id)s)
            LIMIT  1
            """,
            {"organization_id": organization_id, "target_id": target_id, "target_types": list(target_types)},
        )

    def find(
        self,
        organization_id: UUID | None,
        search: EntrySearch,
        *,
        limit: int,
        offset: int = 0,
        before_id: UUID = LAST_ID,
        is_counted: bool = True,
    ) -> SearchedEntries:
        values = _values_of(organization_id, search)
        leading, others, led = self._leading(_log_of(organization_id), search, values)
        looks_at_all = led <= values["looked_at"]
        total: int | None = None
        if is_counted:
            total = led if others == _EVERY else self._counted(matches_of(leading, others), values)
        found = self._part(leading, others, values, limit=limit, offset=offset, before_id=before_id)
        return SearchedEntries(
            entries=found[:limit],
            total=total if total is not None else len(found[:limit]),
            is_exact=is_counted and (looks_at_all or others == _EVERY),
            has_more=len(found) > limit,
            bound_id=None if looks_at_all else self._bound(leading, values, before_id),
        )

    def entry(self, organization_id: UUID | None, entry_id: UUID) -> FoundEntry | None:
        log = _log_of(organization_id)
        entries: LiteralString = f"SELECT * FROM {log.table} WHERE {log.rows} AND id = %(entry_id)s"
        rows = self._rows(shown_of(log, entries, "DESC"), {"organization_id": organization_id, "entry_id": entry_id})
        found = found_entries(self._connection, rows)
        return found[0] if found else None

    def sealed_after(
        self, organization_id: UUID, search: EntrySearch, *, after: int, through: int, limit: int
    ) -> Sequence[FoundEntry]:
        sealed = sealed_ids(self._connection, organization_id, after=after, through=through)
        if sealed is None:
            return []
        values = {
            **_values_of(organization_id, search),
            "after": after,
            "through": through,
            "first_sealed_id": sealed.first_id,
            "last_sealed_id": sealed.last_id,
            "limit": limit,
        }
        others = " AND ".join([*ranges_of(search), _IDS, IN_TIMES])
        return found_entries(self._connection, self._rows(sealed_of(others), values, prepare=False))

    def written_after(self, search: EntrySearch, *, after_id: UUID, limit: int) -> Sequence[FoundEntry]:
        values = {**_values_of(None, search), "after_id": after_id, "limit": limit}
        others = " AND ".join([*ranges_of(search), _IDS, IN_TIMES])
        entries: LiteralString = f"""SELECT * FROM platform_audit_entries
            WHERE  id > %(after_id)s AND {others}
            ORDER  BY id DESC LIMIT %(limit)s"""
        rows = self._rows(shown_of(OF_PLATFORM, entries, "DESC"), values, prepare=False)
        return found_entries(self._connection, rows)

    def names(self, organization_id: UUID | None, ids: Collection[UUID]) -> Mapping[UUID, str]:
        if organization_id is None:
            return {row["id"]: row["name"] for row in self._rows(_NAMES_FOR_PLATFORM, {"ids": list(ids)})}
        values = {"organization_id": organization_id, "ids": list(ids), "has_anonymized": True}
        return PostgresKnownAddresses(self._transaction).known(organization_id, self._rows(_NAMES, values))

    def impersonators(self, ids: Collection[UUID]) -> Mapping[UUID, str]:
        rows = self._rows("SELECT id, email FROM users WHERE id = ANY (%s)", (list(ids),))
        return {row["id"]: row["email"] for row in rows}

    def newest_positions(self, organization_ids: Collection[UUID]) -> Mapping[UUID, int]:
        rows = self._rows(
            "SELECT organization_id, sealed_through FROM audit_chains WHERE organization_id = ANY (%s)",
            (list(organization_ids),),
        )
        return {row["organization_id"]: row["sealed_through"] for row in rows}

    def newest_of_platform(self) -> UUID | None:
        return self._value_or_none("SELECT id FROM platform_audit_entries ORDER BY id DESC LIMIT 1")

    def _leading(self, log: StoredLog, search: EntrySearch, values: dict[str, Any]) -> tuple[Range, LiteralString, int]:
        """Return the range with the fewest entries, the conditions that are left, and its number of entries."""
        ranges = [Range(log, one, search.times.are_given) for one in ranges_of(search) or [_EVERY]]
        counts = ", ".join([f"({count_of(one)})" for one in ranges])
        entries: list[int]
        [entries] = self._values(f"SELECT ARRAY[{counts}]", values, prepare=False)
        leading = ranges[entries.index(min(entries))]
        others = " AND ".join([one.condition for one in ranges if one is not leading]) or _EVERY
        # Conditions that the index alone does not decide are compared in the entries themselves, so fewer are read.
        values["looked_at"] = COUNTED_MAX if others == _EVERY else LOOKED_AT_MAX
        return leading, others, min(entries)

    def _part(
        self,
        leading: Range,
        others: LiteralString,
        values: dict[str, Any],
        *,
        limit: int,
        offset: int,
        before_id: UUID,
    ) -> list[FoundEntry]:
        values = {**values, "before_id": min(before_id, values["before_id"]), "limit": limit + 1, "offset": offset}
        # Planned for this log and these values each time: what is best for the average one may read the logs of all.
        return found_entries(self._connection, self._rows(page_of(leading, others), values, prepare=False))

    def _bound(self, leading: Range, values: dict[str, Any], before_id: UUID) -> UUID | None:
        values = {**values, "before_id": min(before_id, values["before_id"])}
        last = self._values(bound_of(leading), values, prepare=False)
        return last[0] if len(last) > 1 else None

    def _counted(self, statement: LiteralString, values: dict[str, Any]) -> int:
        [counted] = self._values(statement, values, prepare=False)
        return counted


def _log_of(organization_id: UUID | None) -> StoredLog:
    return OF_PLATFORM if organization_id is None else OF_ORGANIZATION


def _values_of(organization_id: UUID | None, search: EntrySearch) -> dict[str, Any]:
    return {
        **values(search),
        "organization_id": organization_id,
        **values_of(search.times),
        "before_id": min(search.before_id, search.times.end_id),
        "sure_first_id": search.times.sure_first_id,
        # No part begins before the one that follows it ends.
        "sure_end_id": max(search.times.sure_first_id, search.times.sure_end_id),
        "counted": COUNTED_MAX + 1,
    }


def found_entries(connection: Connection, rows: Sequence[dict[str, Any]]) -> list[FoundEntry]:
    """Return the entries of these rows with their actors."""
    return [FoundEntry(**row) for row in with_actors(connection, rows)]
