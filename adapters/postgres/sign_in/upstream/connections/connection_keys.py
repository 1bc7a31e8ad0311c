"""Keys of SAML connections in their table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from adapters.postgres.key_certificates import OWNER_EMAIL, KeyCertificates
from core.key_certificates import Ending
from core.organizations.organizations import OWNER

CLAIM_ENDING: Final = f"""
    UPDATE connection_keys k
    SET    warned_at = %(at)s
    FROM   upstream_connections c, organizations o
    WHERE  k.id = ANY (ARRAY(
        SELECT   e.id
        FROM     connection_keys e
        JOIN     upstream_connections n ON n.organization_id = e.organization_id AND n.id = e.connection_id
        JOIN     organizations t        ON t.id = e.organization_id
        WHERE    e.is_active AND e.valid_until < %(before)s AND e.warned_at IS NULL AND n.enabled
          AND    t.status = 'active'
        ORDER BY e.valid_until
        LIMIT    %(limit)s
        FOR UPDATE OF e SKIP LOCKED))
      AND  c.organization_id = k.organization_id AND c.id = k.connection_id AND o.id = k.organization_id
    RETURNING k.organization_id, o.name AS organization_name, c.name, k.valid_until AS ends_at,
              {OWNER_EMAIL.format("k.organization_id")} AS owner_email
"""


class PostgresConnectionKeys(KeyCertificates):
    """The port `KeyCertificates` of connections."""

    table = "connection_keys"
    owner = "connection_id"

    def claim_ending(self, *, before: datetime, at: datetime, limit: int) -> Sequence[Ending]:
        return self._all(Ending, CLAIM_ENDING, {"before": before, "at": at, "limit": limit, "owner": OWNER})
