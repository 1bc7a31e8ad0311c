"""The nodes of a cluster with Citus, as the coordinator knows them."""

from __future__ import annotations

from typing import Final

from adapters.postgres.schema import distribution
from adapters.postgres.transaction import Aggregate
from core.platform.cluster import Cluster, ClusterNode

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
