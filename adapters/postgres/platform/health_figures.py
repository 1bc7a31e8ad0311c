"""The figures of the gauges in the table `platform_figures`.

Triggers record in `user_count_changes` what changes the number of accounts, so these are counted in whole only once.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from psycopg.errors import ReadOnlySqlTransaction

from adapters.postgres.admissions import IS_SHOWN
from adapters.postgres.driver.columns import columns
from adapters.postgres.driver.write_failures import CANNOT_WRITE, PROBE
from adapters.postgres.platform.system import IS_CLUSTER
from adapters.postgres.saml.certificates import COUNT_ENDING
from adapters.postgres.schema.migration_files import newest_version
from adapters.postgres.transaction import Aggregate
from core.platform.health_figures import Backlog, PlatformFigures, SchemaTooNew, WritesFailing

# A longer queue is estimated by the statistics of its index, which ANALYZE renews.
COUNTED_MAX: Final = 20_000
# The same of the parts of an index on the other nodes of a cluster.
ESTIMATED_ELSEWHERE: Final = """
    SELECT coalesce(sum(result::bigint), 0)::bigint
    FROM   run_command_on_workers(format(
        'SELECT coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint
         FROM   pg_class i
         CROSS  JOIN LATERAL pg_partition_tree(i.oid) part
         JOIN   pg_class c ON c.oid = part.relid AND part.isleaf
         WHERE  i.relkind = %%L AND i.relname ~ %%L', 'I', '^' || %s || '_[0-9]+$'))
    WHERE  success
"""
# What was recorded is deleted and added in one statement, so each change is added once, whichever process counts.
# Without kept figures nothing is deleted: `COUNT_ACCOUNTS` does that.
COUNT: Final = f"""
    WITH changes AS (
        DELETE FROM user_count_changes
        WHERE  EXISTS (SELECT FROM platform_figures)
        RETURNING active_users, mfa_users
    )
    INSERT INTO platform_figures AS kept (active_users, mfa_users, organizations, queued_mails, queued_deliveries,
                                          certificates_ending, counted_at)
    SELECT (SELECT coalesce(sum(active_users), 0) FROM changes),
           (SELECT coalesce(sum(mfa_users), 0) FROM changes),
           (SELECT count(*) FROM organizations WHERE {IS_SHOWN}),
           %(queued_mails)s, %(queued_deliveries)s,
           ({COUNT_ENDING}),
           %(now)s
    WHERE  EXISTS (SELECT FROM platform_figures)
    ON CONFLICT (is_the_only_row) DO UPDATE
    SET    active_users = kept.active_users + excluded.active_users,
           mfa_users = kept.mfa_users + excluded.mfa_users,
           organizations = excluded.organizations, queued_mails = excluded.queued_mails,
           queued_deliveries = excluded.queued_deliveries, certificates_ending = excluded.certificates_ending,
           counted_at = excluded.counted_at
    RETURNING {columns(PlatformFigures)}
"""
# All parts see the same moment: a change that this deletes is in the count, and one that comes later stays recorded.
COUNT_ACCOUNTS: Final = """
    WITH changes AS (
        DELETE FROM user_count_changes WHERE NOT EXISTS (SELECT FROM platform_figures)
    )
    INSERT INTO platform_figures (active_users, mfa_users, organizations, queued_mails, queued_deliveries,
                                  certificates_ending, counted_at)
    SELECT count(*), count(mfa_enabled_at), 0, 0, 0, 0, %s
    FROM   users
    WHERE  deactivated_at IS NULL
    HAVING NOT EXISTS (SELECT FROM platform_figures)
"""
# The first rows of an index for each. Unsealed entries are in the order of their organizations, and at most this many
# are read: while more wait, the age may not be the oldest one's.
BACKLOG_ENTRIES_MAX: Final = 1_000
BACKLOG: Final = f"""
    WITH oldest AS (
        SELECT (SELECT created_at FROM mails WHERE state = 'queued' ORDER BY created_at, id LIMIT 1) AS mail,
               (SELECT created_at FROM mails WHERE state = 'routed' ORDER BY created_at, id LIMIT 1) AS routed_mail,
               (SELECT min(created_at)
                FROM   (SELECT   created_at
                        FROM     audit_entries
                        WHERE    position IS NULL
                        ORDER BY organization_id, created_at
                        LIMIT    %(entries_max)s) AS entries) AS unsealed
    ), mail AS MATERIALIZED (
        SELECT count(*) AS queued
        FROM   (SELECT 1 FROM mails WHERE state = 'queued' LIMIT %(counted_max)s) AS one
    ), delivery AS MATERIALIZED (
        SELECT count(*) AS queued
        FROM   (SELECT 1 FROM webhook_deliveries WHERE next_retry_at IS NOT NULL LIMIT %(counted_max)s) AS one
    )
    SELECT greatest(0, coalesce(extract(epoch FROM %(now)s - oldest.mail), 0))::float AS mail_seconds,
           greatest(0, coalesce(extract(epoch FROM %(now)s - oldest.routed_mail), 0))::float AS routed_mail_seconds,
           greatest(0, coalesce(extract(epoch FROM %(now)s - oldest.unsealed), 0))::float AS unsealed_seconds,
           (SELECT count(*) FROM siem_streams WHERE enabled AND failures > 0) AS failing_streams,
           greatest(mail.queued, CASE WHEN mail.queued >= %(counted_max)s THEN
                                     (SELECT sum(reltuples)::bigint
                                      FROM   pg_inherits
                                      JOIN   pg_class ON oid = inhrelid
                                      WHERE  inhparent = 'mails_due'::regclass)
                                 END) AS queued_mails,
           greatest(delivery.queued, CASE WHEN delivery.queued >= %(counted_max)s THEN
                                         (SELECT sum(greatest(c.reltuples, 0))::bigint
                                          FROM   pg_partition_tree('webhook_deliveries_due') part
                                          JOIN   pg_class c ON c.oid = part.relid AND part.isleaf)
                                     END) AS queued_deliveries,
           ({IS_CLUSTER}) AS is_on_cluster,
           coalesce((SELECT extract(epoch FROM succeeded_at) FROM recovery_runs WHERE kind = 'backup'), 0)::float
               AS backup_seconds,
           coalesce((SELECT extract(epoch FROM succeeded_at) FROM recovery_runs WHERE kind = 'restore_drill'), 0)::float
               AS restore_drill_seconds
    FROM   oldest, mail, delivery
"""
# The answer changes only when this process is replaced.
SCHEMA_RETRY_SECONDS = 60
WRITE_RETRY_SECONDS = 1


class PostgresFigures(Aggregate):
    """The port `Figures`."""

    def platform(self) -> PlatformFigures | None:
        return self._one(PlatformFigures, f"SELECT {columns(PlatformFigures)} FROM platform_figures")

    def count(self, waiting: Backlog, *, certificates_before: datetime) -> PlatformFigures | None:
        values = {
            "queued_mails": waiting.queued_mails,
            "queued_deliveries": waiting.queued_deliveries,
            "before": certificates_before,
            "now": self._transaction.now,
        }
        counted = self._all(PlatformFigures, COUNT, values, prepare=False)
        return counted[0] if counted else None

    def count_accounts(self) -> None:
        # A statement of its own, so that the next one sees what another process has counted meanwhile.
        self._connection.execute("SELECT pg_advisory_xact_lock(hashtext('gatehouse.account_counting'))")
        self._connection.execute(COUNT_ACCOUNTS, (self._transaction.now,))

    def backlog(self) -> Backlog:
        values = {"now": self._transaction.now, "entries_max": BACKLOG_ENTRIES_MAX, "counted_max": COUNTED_MAX}
        # Planned for what waits at present.
        [backlog] = self._all(Backlog, BACKLOG, values, prepare=False)
        if not backlog.is_on_cluster:
            return backlog
        return replace(
            backlog,
            queued_mails=self._long_queue(backlog.queued_mails, "mails_due"),
            queued_deliveries=self._long_queue(backlog.queued_deliveries, "webhook_deliveries_due"),
        )

    def _long_queue(self, counted: int, index: str) -> int:
        return counted if counted < COUNTED_MAX else max(counted, self._value(ESTIMATED_ELSEWHERE, (index,)))

    def probe(self) -> None:
        if self._value("SELECT current_setting('transaction_read_only')") != "off":
            raise ReadOnlySqlTransaction
        if self._finds_any(
            """
            SELECT
            FROM   schema_migrations m
            WHERE  version > %(known)s
              -- Null as well where no Gatehouse has recorded it yet.
              AND  coalesce((to_jsonb(m) ->> 'compatible_from')::integer > %(known)s, true)
            """,
            {"known": newest_version()},
        ):
            raise SchemaTooNew(retry_after_seconds=SCHEMA_RETRY_SECONDS)
        if self._connection.write_failures.are_failing:
            self._try_to_write()

    def database_time(self) -> datetime:
        return self._value("SELECT clock_timestamp()")

    def _try_to_write(self) -> None:
        try:
            self._connection.execute(PROBE, prepare=False)
        except CANNOT_WRITE:
            raise WritesFailing(retry_after_seconds=WRITE_RETRY_SECONDS) from None
        self._connection.write_failures.end()
