"""The streams to SIEMs in the table `siem_streams`, and the sign-ins that they get. Tokens are sealed.

Sealing entries makes a stream due and locks it for that, and so does `record`: whichever comes second sees the other.

Each statement on `login_events` reads a range of ids of an index. Sign-ins to the organization itself are in its part
of the log. Sign-ins of its people at products are in the vendors' parts, and name it as the organization through which
they came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import structlog
from psycopg.types.json import Jsonb

from adapters.crypto.vault import SealBroken
from adapters.postgres.affiliations import OF_ROW, OF_ROW_COLUMNS, Affiliations
from adapters.postgres.audit.audit_log import sealed_ids, with_actors
from adapters.postgres.driver.columns import values
from adapters.postgres.transaction import Aggregate
from core.audit.audit_log import AuditLogEntry
from core.audit.siem import SiemContent, SiemOptions, SiemProvider, SiemStart, SiemStream, SignInCursor
from core.audit.siem_console import SiemThroughput
from core.audit.siem_stream import (
    BATCH_BYTES_MAX,
    BATCH_EVENTS_MAX,
    LeasedStream,
    Progress,
    SiemEvent,
    SiemTarget,
    StreamedSignIn,
    event_of,
)
from core.ids import end_id_until, first_id_since
from core.secrets import Secret
from core.sign_in.reasons import WAITING

_TOKEN: Final = {"table": "siem_streams", "column": "token_sealed"}
LEASE: Final = """
    WITH due AS MATERIALIZED (
        SELECT   id
        FROM     siem_streams
        WHERE    enabled AND due_at <= %(now)s AND (leased_until IS NULL OR leased_until <= %(now)s)
        -- Not EXISTS, for which the planner reads all organizations to look up a few streams.
        AND      (SELECT o.status = 'active' FROM organizations o WHERE o.id = siem_streams.organization_id)
        ORDER BY due_at
        LIMIT    %(streams_max)s
        FOR      NO KEY UPDATE SKIP LOCKED)
    UPDATE    siem_streams
    SET       leased_until = %(leased_until)s
    FROM      due
    WHERE     siem_streams.id = due.id
    RETURNING siem_streams.id, organization_id, provider, endpoint, token_sealed, options, event_filter, starts_at,
              position, failures, include, sign_ins_at, sign_ins_id
"""
# Entries whose details have more bytes than a batch are not all read into memory; the first one always is.
EVENTS: Final = """
    SELECT   position, hash, id, organization_id, action, target_type, target_id, ip_address, user_agent, success,
             details, created_at, actor_user_id,
             found < %(limit)s AND bytes_of_all <= %(bytes_max)s AS is_last
    FROM     (SELECT *, count(*) OVER () AS found, sum(bytes) OVER () AS bytes_of_all,
                     sum(bytes) OVER (ORDER BY position) - bytes AS bytes_before
              FROM   (SELECT   e.position, e.id, e.organization_id, e.action, e.target_type, e.target_id,
                               e.ip_address, e.user_agent, e.success, e.details, e.created_at, e.actor_user_id,
                               (SELECT s.hash
                                FROM   audit_seals s
                                WHERE  s.organization_id = %(organization_id)s AND s.position = e.position) AS hash,
                               octet_length(e.details::text) AS bytes
                      FROM     audit_entries e
                      WHERE    e.organization_id = %(organization_id)s
                      AND      e.position > %(after)s AND e.position <= %(through)s
                      AND      e.id >= %(first_sealed_id)s AND e.id <= %(last_sealed_id)s
                      AND      (%(starts_at)s::timestamptz IS NULL OR e.created_at >= %(starts_at)s)
                      AND      (%(prefixes)s::text[] IS NULL
                                OR EXISTS (SELECT FROM unnest(%(prefixes)s::text[]) AS wanted (prefix)
                                           WHERE  starts_with(e.action, wanted.prefix)))
                      ORDER BY e.position
                      LIMIT    %(limit)s) AS admitted) AS counted
    WHERE    bytes_before <= %(bytes_max)s
    ORDER BY position
"""
# The seal after the position names the entry, and so its month.
WAITING_SINCE: Final = """
    SELECT   e.created_at
    FROM     audit_seals n
    CROSS    JOIN LATERAL (SELECT entry.created_at
                           FROM   audit_entries entry
                           WHERE  entry.organization_id = %(organization_id)s AND entry.id = n.entry_id
                           OFFSET 0) AS e
    WHERE    n.organization_id = %(organization_id)s AND n.position > %(position)s
    ORDER BY n.position
    LIMIT    1
"""
POSITION_BEFORE: Final = """
    SELECT min(position) - 1
    FROM   (SELECT   position
            FROM     audit_entries
            WHERE    organization_id = %(organization_id)s AND id >= %(first_id)s
            ORDER BY id
            LIMIT    %(looked_at_max)s) AS next
"""
log = structlog.get_logger(__name__)


class PostgresSiemStreams(Aggregate):
    """The port `SiemStreams`."""

    def find(self, organization_id: UUID) -> SiemStream | None:
        row = self._row(
            """
            SELECT s.id, s.provider, s.endpoint, s.token_sealed IS NOT NULL AS has_token, s.options, s.event_filter,
                   s.enabled, s.starts_at, s.position, greatest(c.sealed_through, s.position) AS sealed_through,
                   s.failures, s.last_success_at, s.last_error, s.created_at, s.updated_at, s.include, s.sign_ins_at,
                   s.sign_ins_id
            FROM   siem_streams s
            LEFT   JOIN audit_chains c USING (organization_id)
            WHERE  s.organization_id = %s
            """,
            (organization_id,),
        )
        if row is None:
            return None
        provider, options = SiemProvider(row.pop("provider")), _options(row.pop("options"))
        include, sign_ins = _include(row.pop("include")), _cursor(row)
        return SiemStream(provider=provider, options=options, include=include, sign_ins=sign_ins, **row)

    def save(self, organization_id: UUID, stream: SiemStream, token: Secret | None, *, keeps_token: bool) -> None:
        vault = self._transaction.vault
        self._connection.execute(
            """
            INSERT INTO siem_streams AS stream (id, organization_id, provider, endpoint, token_sealed, options,
                                                event_filter, enabled, starts_at, position, due_at, created_at,
                                                updated_at, include, sign_ins_at, sign_ins_id)
            VALUES (%(id)s, %(organization_id)s, %(provider)s, %(endpoint)s, %(token_sealed)s, %(options)s,
                    %(event_filter)s, %(enabled)s, %(starts_at)s, %(position)s, %(now)s, %(now)s, %(now)s,
                    %(include)s, %(sign_ins_at)s, %(sign_ins_id)s)
            ON CONFLICT (organization_id) DO UPDATE
            SET    provider = excluded.provider, endpoint = excluded.endpoint, options = excluded.options,
                   token_sealed = CASE WHEN %(keeps_token)s THEN stream.token_sealed ELSE excluded.token_sealed END,
                   event_filter = excluded.event_filter, enabled = excluded.enabled, failures = 0, last_error = NULL,
                   off_reason = CASE WHEN NOT excluded.enabled THEN stream.off_reason END,
                   due_at = excluded.due_at, leased_until = NULL, updated_at = excluded.updated_at,
                   include = excluded.include,
                   -- As with the position, what was recorded meanwhile stays.
                   sign_ins_id = CASE WHEN excluded.sign_ins_at IS NULL THEN NULL
                                      WHEN stream.sign_ins_at IS NULL THEN excluded.sign_ins_id
                                      ELSE stream.sign_ins_id END,
                   sign_ins_at = CASE WHEN excluded.sign_ins_at IS NULL THEN NULL
                                      ELSE coalesce(stream.sign_ins_at, excluded.sign_ins_at) END
            """,
            values(stream)
            | _cursor_values(stream.sign_ins)
            | {
                "organization_id": organization_id,
                "token_sealed": vault.seal(token.reveal().encode(), row=stream.id, **_TOKEN) if token else None,
                "keeps_token": keeps_token,
                "options": Jsonb(asdict(stream.options)),
                "now": self._transaction.now,
            },
        )

    def throughput(self, organization_id: UUID) -> SiemThroughput:
        [row] = self._rows(
            """
            SELECT sent_entries, last_sent_entries, off_reason, position
            FROM   siem_streams
            WHERE  organization_id = %s
            """,
            (organization_id,),
        )
        values = {"organization_id": organization_id, "position": row.pop("position")}
        return SiemThroughput(waiting_since=self._value_or_none(WAITING_SINCE, values), **row)

    def position_before(self, organization_id: UUID, first_id: UUID) -> int | None:
        return self._value(
            POSITION_BEFORE,
            {"organization_id": organization_id, "first_id": first_id, "looked_at_max": BATCH_EVENTS_MAX},
        )

    def restart(
        self, organization_id: UUID, *, position: int, starts_at: datetime | None, sign_ins: SignInCursor | None
    ) -> None:
        self._connection.execute(
            """
            UPDATE siem_streams
            SET    position = %(position)s, starts_at = %(starts_at)s, failures = 0, last_error = NULL,
                   due_at = %(now)s, leased_until = NULL, updated_at = %(now)s,
                   sign_ins_at = %(sign_ins_at)s, sign_ins_id = %(sign_ins_id)s
            WHERE  organization_id = %(organization_id)s
            """,
            {
                "organization_id": organization_id,
                "position": position,
                "starts_at": starts_at,
                "now": self._transaction.now,
                **_cursor_values(sign_ins),
            },
        )

    def remove(self, organization_id: UUID) -> bool:
        return self._changes_one("DELETE FROM siem_streams WHERE organization_id = %s", (organization_id,))

    def target(self, organization_id: UUID) -> SiemTarget | None:
        row = self._row(
            """
            SELECT id, organization_id, provider, endpoint, token_sealed, options
            FROM siem_streams
            WHERE organization_id = %s
            """,
            (organization_id,),
        )
        return self._target(row) if row is not None else None

    def lease(self, *, streams_max: int, leased_until: datetime) -> Sequence[LeasedStream]:
        rows = self._rows(
            LEASE, {"now": self._transaction.now, "leased_until": leased_until, "streams_max": streams_max}
        )
        leased = [self._leased(row, leased_until) for row in rows]
        return [stream for stream in leased if stream is not None]

    def events(self, stream: LeasedStream, *, through: int) -> tuple[Sequence[SiemEvent], bool]:
        sealed = sealed_ids(self._connection, stream.organization_id, after=stream.position, through=through)
        if sealed is None:
            return [], True
        rows = self._rows(
            EVENTS,
            {
                "organization_id": stream.organization_id,
                "after": stream.position,
                "through": through,
                "starts_at": stream.starts_at,
                "prefixes": stream.event_filter,
                "limit": BATCH_EVENTS_MAX,
                "bytes_max": BATCH_BYTES_MAX,
                "first_sealed_id": sealed.first_id,
                "last_sealed_id": sealed.last_id,
            },
            # Planned for this organization each time, like the pages of the audit log.
            prepare=False,
        )
        # The same in every row; without rows there is nothing else.
        is_last = not rows or rows[0]["is_last"]
        return [_event(row) for row in with_actors(self._connection, rows)], is_last

    def record(self, stream: LeasedStream, progress: Progress) -> bool:
        held = self._values(
            """
            SELECT id
            FROM   siem_streams
            WHERE  organization_id = %s AND id = %s AND leased_until = %s
            FOR    NO KEY UPDATE
            """,
            (stream.organization_id, stream.id, stream.leased_until),
        )
        if not held:
            return False
        # A statement of its own: it sees the entries that were sealed while the one above waited for the lock.
        self._connection.execute(
            """
            UPDATE siem_streams
            SET    position = %(position)s, sign_ins_at = %(sign_ins_at)s, sign_ins_id = %(sign_ins_id)s,
                   failures = %(failures)s, last_error = %(error)s, attempted_at = %(now)s,
                   last_success_at = CASE WHEN %(has_sent)s THEN %(now)s ELSE last_success_at END,
                   sent_entries = sent_entries + %(sent)s,
                   last_sent_entries = CASE WHEN %(has_sent)s THEN %(sent)s ELSE last_sent_entries END,
                   leased_until = NULL,
                   due_at = coalesce((SELECT %(next_at)s::timestamptz
                                      FROM   audit_chains c
                                      WHERE  c.organization_id = siem_streams.organization_id
                                      AND    c.sealed_through > %(position)s),
                                     %(looks_at)s)
            WHERE  organization_id = %(organization_id)s AND id = %(id)s
            """,
            values(progress)
            | _cursor_values(progress.sign_ins)
            | {
                "has_sent": progress.has_sent,
                "now": self._transaction.now,
                "organization_id": stream.organization_id,
                "id": stream.id,
            },
        )
        return True

    def _leased(self, row: dict[str, Any], leased_until: datetime) -> LeasedStream | None:
        try:
            target = self._target(row)
        except SealBroken as broken:
            # It stays leased, so that it is tried again after the lease and holds up no other stream.
            log.error("siem.unreadable", siem_id=str(row["id"]), reason=str(broken))  # noqa: TRY400 - expected
            return None
        return LeasedStream(
            id=row["id"],
            organization_id=row["organization_id"],
            target=target,
            event_filter=row["event_filter"],
            starts_at=row["starts_at"],
            position=row["position"],
            failures=row["failures"],
            leased_until=leased_until,
            include=_include(row["include"]),
            sign_ins=_cursor(row),
        )

    def _target(self, row: dict[str, Any]) -> SiemTarget:
        sealed = row["token_sealed"]
        return SiemTarget(
            organization_id=row["organization_id"],
            provider=SiemProvider(row["provider"]),
            endpoint=row["endpoint"],
            token=Secret(self._transaction.vault.open(sealed, row=row["id"], **_TOKEN).decode()) if sealed else None,
            options=_options(row["options"]),
        )


def _include(stored: Sequence[str]) -> list[SiemContent]:
    return [SiemContent(one) for one in stored]


def _cursor(row: dict[str, Any]) -> SignInCursor | None:
    """Take the place among the sign-ins out of a row; None for a stream without them."""
    at, sign_in_id = row.pop("sign_ins_at"), row.pop("sign_ins_id")
    return SignInCursor(at=at, id=sign_in_id) if at is not None else None


def _cursor_values(cursor: SignInCursor | None) -> dict[str, Any]:
    return {
        "sign_ins_at": cursor.at if cursor is not None else None,
        "sign_ins_id": cursor.id if cursor is not None else None,
    }


def _options(stored: dict[str, Any]) -> SiemOptions:
    return SiemOptions(start=SiemStart(stored.pop("start")), **stored)


def _event(row: dict[str, Any]) -> SiemEvent:
    position, entry_hash, _ = (row.pop(name) for name in ("position", "hash", "is_last"))
    return event_of(AuditLogEntry(**row), position=position, entry_hash=entry_hash)


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
