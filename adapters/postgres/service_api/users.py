"""The users of services in their tables.

A page is found without counting its service's users or skipping those before it. Milestones record how many users have
an id up to one of them, and `service_user_changes` what has changed since; a trigger writes it
(ops/decisions/0018-counted-service-users.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from adapters.postgres.affiliations import NAMED_ACCOUNT
from adapters.postgres.transaction import Aggregate
from core.organizations.takeover_credentials import KEPT_FOR
from core.service_api.users import ServiceUsersPage
from core.services.api_keys import ServiceCaller
from core.services.user_metadata import ServiceUser

if TYPE_CHECKING:
    from core.deferred import Deferred

# The number of users between two milestones; skipping that many takes a tenth of a millisecond.
MILESTONE_USERS: Final = 1_000
# How many users are counted at most for new milestones of a service, so that the statement stays short.
SCANNED_USERS_MAX: Final = 100_000
# The lowest and the highest id.
_FIRST: Final = "00000000-0000-0000-0000-000000000000"
_LAST: Final = "ffffffff-ffff-ffff-ffff-ffffffffffff"

_TOTAL: Final = f"""
           service (id, organization_id) AS MATERIALIZED (
               SELECT service_id, organization_id FROM api_keys WHERE prefix = %(prefix)s AND key_hash = %(key_hash)s),
           pending (change, additions) AS MATERIALIZED (
               SELECT coalesce(sum(change), 0), count(*) FILTER (WHERE change > 0)
               FROM   service_user_changes
               WHERE  service_id = (SELECT id FROM service)),
           total (users) AS MATERIALIZED (
               SELECT coalesce((SELECT users
                                FROM   service_user_milestones
                                WHERE  service_id = (SELECT id FROM service) AND user_id = '{_LAST}'), 0) + change
               FROM   pending)
"""
_SHOWN: Final = """
    SELECT total.users, coalesce(k.known_id, u.id), u.email,
           (SELECT first_login_at
            FROM   service_users
            WHERE  service_id = (SELECT id FROM service) AND user_id = u.id) AS created_at,
           (SELECT metadata
            FROM   service_user_metadata
            WHERE  service_id = (SELECT id FROM service) AND user_id = u.id) AS metadata
    FROM   total
    LEFT   JOIN users u ON u.id = ANY (ARRAY(SELECT user_id FROM page))
    LEFT   JOIN known_account_ids k ON k.organization_id = (SELECT organization_id FROM service) AND k.user_id = u.id
    ORDER  BY u.id DESC
"""
# Near the beginning, the users before are skipped.
PAGE_OF_NEWEST: Final = f"""
    WITH   {_TOTAL},
           page (user_id) AS MATERIALIZED (
               SELECT   user_id
               FROM     service_users
               WHERE    service_id = (SELECT id FROM service)
               ORDER BY user_id DESC
               LIMIT    %(limit)s OFFSET %(offset)s)
    {_SHOWN}
"""
# Anywhere else, those behind are, from the last milestone that no pending change can put behind the page.
PAGE: Final = f"""
    WITH   {_TOTAL},
           older (users) AS MATERIALIZED (
               SELECT greatest(users - %(offset)s - %(limit)s, 0) FROM total WHERE users > %(offset)s),
           milestone AS MATERIALIZED (
               SELECT   passed.user_id,
                        older.users - passed.users
                        - (SELECT coalesce(sum(change), 0)
                           FROM   service_user_changes
                           WHERE  service_id = (SELECT id FROM service) AND user_id <= passed.user_id) AS skipped
               FROM     older
               CROSS JOIN pending
               CROSS JOIN LATERAL (
                            (SELECT   user_id, users
                             FROM     service_user_milestones
                             WHERE    service_id = (SELECT id FROM service) AND users <= older.users - additions
                               AND    user_id < '{_LAST}'
                             ORDER BY users DESC, user_id DESC
                             LIMIT    1)
                            UNION ALL
                            SELECT '{_FIRST}', 0) AS passed
               ORDER BY passed.users DESC
               LIMIT    1),
           page (user_id) AS MATERIALIZED (
               SELECT   user_id
               FROM     service_users
               WHERE    service_id = (SELECT id FROM service) AND user_id > (SELECT user_id FROM milestone)
               ORDER BY user_id
               LIMIT    (SELECT greatest(least(%(limit)s, users - %(offset)s), 0) FROM total)
               OFFSET   (SELECT skipped FROM milestone))
    {_SHOWN}
"""


class PostgresServiceUsers(Aggregate):
    """The port `ServiceUsers`."""

    def defer_page_of_key(self, *, limit: int, offset: int) -> Deferred[ServiceUsersPage]:
        key = self._transaction.api_key
        assert key is not None, "a page of a key was requested without one"
        rows = self._connection.cursor(binary=True).defer(
            PAGE_OF_NEWEST if offset <= MILESTONE_USERS else PAGE,
            {"prefix": key.prefix, "key_hash": key.token_hash, "limit": limit, "offset": offset},
        )
        return lambda: _page(rows.fetchall())

    def link(self, caller: ServiceCaller, user_id: UUID, *, at: datetime) -> None:
        self._connection.execute_later(
            """
            WITH made AS (
            INSERT INTO service_users AS link (service_id, organization_id, user_id, origin, first_login_at)
            SELECT %(service_id)s, %(organization_id)s, %(user_id)s,
                   CASE WHEN EXISTS (SELECT FROM memberships
                                     WHERE  organization_id = %(organization_id)s AND user_id = %(user_id)s)
                        THEN 'membership' ELSE 'key' END,
                   %(at)s
            -- A user that the key names has access by the organization's word from now on.
            ON CONFLICT (service_id, user_id) DO UPDATE
            SET    origin = excluded.origin,
                   -- What the key gives waits for a proof where using it confirms nothing.
                   last_login_at = CASE WHEN EXISTS (SELECT FROM users
                                                     WHERE  id = excluded.user_id
                                                       AND  (disowned_at IS NOT NULL
                                                             OR changed_by_service_at IS NOT NULL))
                                        THEN NULL ELSE link.last_login_at END
            WHERE  link.origin = 'self'
            RETURNING link.user_id, link.origin)
            INSERT INTO recent_acts (organization_id, credential_id, act, object_id, user_id, done_at)
            SELECT k.organization_id, k.id, 'linked', k.service_id, made.user_id, %(at)s
            FROM   made, api_keys k
            WHERE  made.origin = 'key' AND k.organization_id = %(organization_id)s AND k.id = %(key_id)s
              AND  k.created_at > %(young_since)s
            """,
            {
                "service_id": caller.service_id,
                "organization_id": caller.organization_id,
                "user_id": user_id,
                "key_id": caller.key_id,
                "young_since": at - KEPT_FOR,
                "at": at,
            },
        )

    def hold(self, caller: ServiceCaller, known_id: UUID) -> UUID | None:
        return self._value_or_none(
            f"""
            SELECT user_id
            FROM   service_users
            WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s AND user_id = {NAMED_ACCOUNT}
            FOR    KEY SHARE
            """,
            _named(caller, known_id),
        )

    def lock(self, caller: ServiceCaller, known_id: UUID) -> tuple[UUID, datetime] | None:
        row = self._row(
            f"""
            SELECT u.id, l.first_login_at
            FROM   service_users l
            JOIN   users u ON u.id = l.user_id
            WHERE  l.organization_id = %(organization_id)s AND l.service_id = %(service_id)s
              AND  l.user_id = {NAMED_ACCOUNT}
            FOR    UPDATE
            """,
            _named(caller, known_id),
        )
        return (row["id"], row["first_login_at"]) if row is not None else None

    def unlink(self, caller: ServiceCaller, user_id: UUID) -> None:
        values = (caller.organization_id, caller.service_id, user_id)
        self._connection.execute_later(
            "DELETE FROM subscriptions WHERE organization_id = %s AND service_id = %s AND user_id = %s", values
        )
        self._connection.execute_later(
            """
            DELETE FROM login_events
            WHERE  organization_id = %s AND service_id = %s AND user_id = %s AND organization_id <> user_id
            """,
            values,
        )
        self._connection.execute_later(
            "DELETE FROM service_users WHERE organization_id = %s AND service_id = %s AND user_id = %s", values
        )

    def count_changes(self, limit: int) -> int:
        if not self._value("SELECT pg_try_advisory_xact_lock(hashtext('gatehouse.service_user_counting'))"):
            return 0
        # The statement waits for a service that is being deleted, and then leaves it out.
        return self._value(
            f"""
            WITH batch AS MATERIALIZED (
                     DELETE FROM service_user_changes
                     WHERE  id = ANY (ARRAY(SELECT id FROM service_user_changes LIMIT %s))
                     RETURNING service_id, user_id, change),
                 present AS MATERIALIZED (
                     SELECT   id
                     FROM     services
                     WHERE    id IN (SELECT service_id FROM batch)
                     ORDER BY id
                     FOR KEY SHARE),
                 changed AS MATERIALIZED (
                     SELECT   batch.service_id, batch.user_id, sum(batch.change) AS change
                     FROM     batch
                     JOIN     present ON present.id = batch.service_id
                     GROUP BY batch.service_id, batch.user_id
                     HAVING   sum(batch.change) <> 0),
                 counted AS (
                     INSERT INTO service_user_milestones AS total (service_id, user_id, users)
                     SELECT   service_id, '{_LAST}', sum(change)
                     FROM     changed
                     GROUP BY service_id
                     ON CONFLICT (service_id, user_id) DO UPDATE SET users = total.users + excluded.users),
                 shifted AS (
                     UPDATE service_user_milestones AS milestone
                     SET    users = milestone.users + below.change
                     FROM   (SELECT   m.service_id, m.user_id, sum(c.change) AS change
                             FROM     changed c
                             JOIN     service_user_milestones m ON m.service_id = c.service_id
                                                                   AND m.user_id >= c.user_id AND m.user_id < '{_LAST}'
                             GROUP BY m.service_id, m.user_id) AS below
                     WHERE  milestone.service_id = below.service_id AND milestone.user_id = below.user_id
                       AND  below.change <> 0)
            SELECT count(*) FROM batch
            """,
            (limit,),
        )

    def add_milestones(self) -> int:
        # A milestone counts what the others count, so the changes that are pending are left out.
        return self._connection.execute(
            f"""
            INSERT INTO service_user_milestones (service_id, user_id, users)
            SELECT gap.service_id, passed.user_id,
                   gap.users_before + passed.users
                   - (SELECT coalesce(sum(change), 0)
                      FROM   service_user_changes
                      WHERE  service_id = gap.service_id AND user_id > gap.after AND user_id <= passed.user_id)
            FROM   (SELECT service_id, user_id AS until, users,
                           coalesce(lag(user_id) OVER milestones, '{_FIRST}') AS after,
                           coalesce(lag(users) OVER milestones, 0)            AS users_before
                    FROM   service_user_milestones
                    WINDOW milestones AS (PARTITION BY service_id ORDER BY user_id)) AS gap
            CROSS JOIN LATERAL (
                       SELECT user_id, row_number() OVER (ORDER BY user_id) AS users
                       FROM   (SELECT   user_id
                               FROM     service_users
                               WHERE    service_id = gap.service_id AND user_id > gap.after AND user_id < gap.until
                               ORDER BY user_id
                               LIMIT    %s) AS between_milestones) AS passed
            WHERE  gap.users - gap.users_before >= %s AND passed.users %% %s = 0
            ON CONFLICT DO NOTHING
            """,
            (SCANNED_USERS_MAX, 2 * MILESTONE_USERS, MILESTONE_USERS),
        ).rowcount


def _named(caller: ServiceCaller, known_id: UUID) -> dict[str, UUID]:
    return {"organization_id": caller.organization_id, "service_id": caller.service_id, "id": known_id}


def _page(rows: Sequence[tuple[Any, ...]]) -> ServiceUsersPage:
    # An empty page has one row without a user. With an invalid key there is no row, and the page is not used.
    users = [
        ServiceUser(id=user_id, email=email, created_at=created_at, metadata=metadata or {})
        for _, user_id, email, created_at, metadata in rows
        if user_id is not None
    ]
    return ServiceUsersPage(users=users, total=int(rows[0][0]))
