"""The state of the installation: migrations, signing keys, queues, each counted in an index, and servers.

The servers are the primary, with its place in its log of changes, and the nodes of a cluster with Citus.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from adapters.postgres.driver.positions import POSITION
from adapters.postgres.schema import distribution
from adapters.postgres.schema.migration_files import newest_version
from adapters.postgres.transaction import Aggregate
from core.platform.late_work import RecentMails, WaitingWork
from core.platform.system import Cluster, ClusterNode, PrimaryPlace, PublishedKey, SchemaState
from core.sessions.security_profiles import SignatureAlgorithm
from core.sessions.signing_keys import KeyState

WORK: Final = """
    SELECT (SELECT count(*) FROM (SELECT 1 FROM mails WHERE state = 'queued' LIMIT %(most)s) AS one) AS mails,
           (SELECT min(due_at) FROM mails WHERE state = 'queued') AS oldest_mail_at,
           (SELECT count(*) FROM (SELECT 1 FROM mails WHERE state = 'failed' LIMIT %(most)s) AS one) AS failed_mails,
           (SELECT count(*) FROM (SELECT 1 FROM events WHERE position = 0 LIMIT %(most)s) AS one) AS events,
           (SELECT min(occurred_at)
            FROM   (SELECT occurred_at FROM events WHERE position = 0 LIMIT %(most)s) AS one) AS oldest_event_at,
           (SELECT count(*)
            FROM   (SELECT 1 FROM webhook_deliveries WHERE next_retry_at IS NOT NULL LIMIT %(most)s) AS one)
           AS deliveries,
           (SELECT count(*) FROM (SELECT 1 FROM bulk_jobs WHERE state = 'running' LIMIT %(most)s) AS one)
           AS running_jobs,
           (SELECT count(*)
            FROM   (SELECT 1 FROM billing_cancellations WHERE due_at IS NOT NULL LIMIT %(most)s) AS one)
           AS cancellations,
           (SELECT min(created_at)
            FROM   (SELECT created_at FROM billing_cancellations WHERE due_at IS NOT NULL LIMIT %(most)s) AS one)
           AS oldest_cancellation_at,
           count(*) AS lagging_siems, coalesce(max(lag), 0) AS siem_lag_max
    FROM   (SELECT    c.sealed_through - s.position AS lag
            FROM      siem_streams s
            JOIN      audit_chains c ON c.organization_id = s.organization_id
            WHERE     s.enabled AND c.sealed_through > s.position
            LIMIT     %(most)s) AS lagging
"""
# Also earlier mails that wait after an attempt that failed, in no order: many may wait.
RECENT_MAILS: Final = """
    WITH recent AS MATERIALIZED (
        (SELECT   state, last_error, created_at
         FROM     mails
         WHERE    created_at > %(since)s
         ORDER BY created_at DESC, id DESC
         LIMIT    %(most)s)
        UNION ALL
        (SELECT   state, last_error, created_at
         FROM     mails
         WHERE    state = 'queued' AND last_error IS NOT NULL AND created_at <= %(since)s
         LIMIT    %(most)s)
    ), attempted AS (
        SELECT state, last_error, created_at
        FROM   recent
        WHERE  state IN ('sent', 'failed') OR (state = 'queued' AND last_error IS NOT NULL)
    )
    SELECT count(*) AS attempted,
           count(*) FILTER (WHERE state <> 'sent') AS not_taken,
           count(*) FILTER (WHERE state = 'queued') AS deferred,
           (array_agg(last_error ORDER BY created_at DESC) FILTER (WHERE state <> 'sent'))[1] AS last_error
    FROM   attempted
"""
# Without the right to read a table its statistics are hidden.
WITHOUT_STATISTICS: Final = """
    SELECT   c.relname
    FROM     pg_class c
    WHERE    c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'schema_migrations'::regclass)
    AND      c.relkind = 'r' AND has_table_privilege(c.oid, 'SELECT') AND pg_relation_size(c.oid) >= %s
    AND      NOT EXISTS (SELECT
                         FROM   pg_stats s
                         WHERE  s.schemaname = c.relnamespace::regnamespace::text AND s.tablename = c.relname)
    ORDER BY pg_relation_size(c.oid) DESC, c.relname
"""


class PostgresSystem(Aggregate):
    """The port `SystemReadings`."""

    def schema(self) -> SchemaState:
        return self._only(
            SchemaState,
            """
            SELECT   to_char(version, 'FM0000') || '_' || name AS newest, applied_at,
                     greatest(%(known)s - version, 0) AS pending, greatest(version - %(known)s, 0) AS ahead,
                     current_setting('server_version') AS server_version, clock_timestamp() AS database_time
            FROM     schema_migrations
            ORDER BY version DESC
            LIMIT    1
            """,
            {"known": newest_version()},
        )

    def keys(self) -> Sequence[PublishedKey]:
        return self._all(
            _key,
            """
            SELECT   algorithm, kid, state, created_at, published_until
            FROM     (SELECT 'RS256' AS algorithm, kid, state, created_at, published_until FROM signing_keys
                      UNION ALL
                      SELECT 'ES256', kid, state, created_at, published_until FROM elliptic_signing_keys) AS keys
            WHERE    state <> 'retired' OR published_until > %s
            ORDER BY array_position('{active,next,retired}', state), algorithm DESC, created_at, kid
            """,
            (self._transaction.now,),
        )

    def work(self, counted_max: int) -> WaitingWork:
        return self._only(WaitingWork, WORK, {"most": counted_max})

    def recent_mails(self, since: datetime, mails_max: int) -> RecentMails:
        return self._only(RecentMails, RECENT_MAILS, {"since": since, "most": mails_max})

    def tables_without_statistics(self, bytes_min: int) -> Sequence[str]:
        return self._values(WITHOUT_STATISTICS, (bytes_min,), prepare=False)


def _key(*, algorithm: str, state: str, **columns: Any) -> PublishedKey:
    return PublishedKey(algorithm=SignatureAlgorithm(algorithm), state=KeyState(state), **columns)


# A node that hangs accepts connections, and answers nothing.
ANSWER_MAX: Final = "2s"
IS_CLUSTER: Final = "SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')"
# The shards of one log represent all logs, whose shards lie beside them.
NODES: Final = """
    WITH one_log AS (
        SELECT min(logicalrelid::oid) AS log FROM pg_dist_partition WHERE partmethod = 'h' AND logicalrelid IN (
            SELECT to_regclass(name) FROM unnest(%s::text[]) AS name
        )
    ), placed AS (
        SELECT p.groupid, count(*) AS shards
        FROM   one_log
        JOIN   pg_dist_shard s ON s.logicalrelid = one_log.log
        JOIN   pg_dist_placement p USING (shardid)
        GROUP  BY p.groupid
    ), asked AS MATERIALIZED (
        SELECT * FROM run_command_on_workers('SELECT pg_database_size(current_database())')
    )
    SELECT    n.nodename || ':' || n.nodeport AS name, coalesce(asked.success, false) AS is_up,
              coalesce(placed.shards, 0) AS shards,
              CASE WHEN asked.success THEN asked.result::bigint ELSE 0 END AS bytes
    FROM      pg_dist_node n
    LEFT JOIN placed USING (groupid)
    LEFT JOIN asked ON asked.nodename = n.nodename AND asked.nodeport = n.nodeport
    WHERE     n.groupid <> 0 AND n.noderole = 'primary'
    ORDER BY  n.nodeid
"""
LOCAL_LOGS: Final = """
    SELECT   name
    FROM     unnest(%s::text[]) AS name
    WHERE    to_regclass(name) NOT IN (SELECT logicalrelid FROM pg_dist_partition WHERE partmethod = 'h')
    ORDER BY name
"""


class PostgresClusters(Aggregate):
    """The port `Clusters`."""

    def measure(self) -> Cluster | None:
        if not self._value(IS_CLUSTER):
            return None
        self._value("SELECT set_config('citus.node_connection_timeout', %s, true)", (ANSWER_MAX,))
        logs = (list(distribution.LOGS),)
        nodes = self._all(ClusterNode, NODES, logs, prepare=False)
        return Cluster(nodes=nodes, local_logs=self._values(LOCAL_LOGS, logs))


PLACE: Final = f"""
    SELECT system_identifier, current_database() AS database, ({POSITION}) AS position FROM pg_control_system()
"""


class PostgresPrimary(Aggregate):
    """The port `Primary`."""

    def place(self) -> PrimaryPlace:
        return self._only(PrimaryPlace, PLACE)
