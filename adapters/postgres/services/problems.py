"""The troubles of clients, in the table `client_problems`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, LiteralString
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.services.problems import KEPT_FOR, KEPT_OF_KIND, ClientProblem, ProblemDetails, ProblemKind

# The rank of each problem of its kind: the newest of each block before the second ones, and within a block the newest
# of each network, so that none displaces another with fewer problems. One party may have all networks of a block.
_PLACES: Final[LiteralString] = """
    SELECT p.*, row_number() OVER (PARTITION BY kind ORDER BY of_block, noted_at DESC, network) AS place
    FROM   (SELECT p.*,
                   row_number() OVER (PARTITION BY kind, block ORDER BY of_network, noted_at DESC, network) AS of_block
            FROM   (SELECT kind, network, minute, noted_at, ip_address, sent, registered,
                           CASE WHEN position('/' IN network) > 0
                                THEN network(set_masklen(network::inet,
                                                         CASE family(network::inet) WHEN 6 THEN 32 ELSE 16 END))::text
                                ELSE network END AS block,
                           row_number() OVER (PARTITION BY kind, network ORDER BY noted_at DESC) AS of_network
                    FROM   client_problems
                    WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s
                      AND  kind = ANY (%(kinds)s) AND noted_at > %(since)s) p) p
"""


class PostgresClientProblems(Aggregate):
    """The port `ClientProblems`."""

    def add(self, organization_id: UUID, service_id: UUID, problem: ClientProblem, *, network: str) -> None:
        values = {
            "organization_id": organization_id,
            "service_id": service_id,
            "kind": problem.kind.value,
            "kinds": [problem.kind.value],
            "network": network,
            "minute": problem.at.replace(second=0, microsecond=0),
            "noted_at": problem.at,
            "ip_address": problem.ip_address,
            "sent": problem.details.sent,
            "registered": problem.details.registered,
            "kept": KEPT_OF_KIND,
            "since": problem.at - KEPT_FOR,
        }
        # Of several at once one is added. While its service is being deleted none is, and the statement does not wait.
        self._connection.execute_later(
            """
            INSERT INTO client_problems (organization_id, service_id, kind, network, minute, noted_at, ip_address, sent,
                                         registered)
            SELECT organization_id, id, %(kind)s, %(network)s, %(minute)s, %(noted_at)s, %(ip_address)s, %(sent)s,
                   %(registered)s
            FROM   services
            WHERE  organization_id = %(organization_id)s AND id = %(service_id)s
              AND  NOT EXISTS (SELECT FROM client_problems
                               WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s
                                 AND  kind = %(kind)s AND network = %(network)s AND minute = %(minute)s)
            FOR    KEY SHARE SKIP LOCKED
            ON CONFLICT DO NOTHING
            """,
            values,
        )
        self._connection.execute_later(
            f"""
            DELETE FROM client_problems
            WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s
              AND  ctid = ANY (ARRAY(
                SELECT p.ctid
                FROM   client_problems p
                JOIN   ({_PLACES}) placed USING (kind, network, minute)
                WHERE  p.organization_id = %(organization_id)s AND p.service_id = %(service_id)s
                  AND  placed.place > %(kept)s
                FOR    UPDATE OF p SKIP LOCKED))
            """,
            values,
        )

    def of_service(self, organization_id: UUID, service_id: UUID, *, since: datetime) -> Sequence[ClientProblem]:
        # A version after this one may have noted kinds that this one does not know.
        return self._all(
            _problem,
            f"""
            SELECT   kind, noted_at AS at, ip_address, sent, registered
            FROM     ({_PLACES}) placed
            WHERE    place <= %(kept)s
            ORDER BY noted_at DESC, kind, network
            """,
            {
                "organization_id": organization_id,
                "service_id": service_id,
                "kinds": [kind.value for kind in ProblemKind],
                "kept": KEPT_OF_KIND,
                "since": since,
            },
        )

    def remove(self, organization_id: UUID, service_id: UUID, kind: ProblemKind, sent: str) -> None:
        self._connection.execute_later(
            """
            DELETE FROM client_problems
            WHERE  organization_id = %s AND service_id = %s AND kind = %s AND sent = %s
            """,
            (organization_id, service_id, kind.value, sent),
        )


def _problem(*, kind: str, sent: str | None, registered: list[str], **columns: Any) -> ClientProblem:
    return ClientProblem(kind=ProblemKind(kind), details=ProblemDetails(sent=sent, registered=registered), **columns)
