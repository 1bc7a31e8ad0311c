"""Keys of SAML connections in their table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from adapters.postgres.key_certificates import KeyCertificates
from core.key_certificates import SamlCertificate, SamlSigningKey
from core.organizations.organizations import OWNER
from core.secrets import Secret
from core.sign_in.upstream.connections.connection_keys import EndingKey

CLAIM_ENDING: Final = """
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
    RETURNING k.organization_id, o.name AS organization_name, c.name AS connection_name, k.valid_until AS ends_at,
              (SELECT u.email
               FROM   memberships m
               JOIN   users u ON u.id = m.user_id
               WHERE  m.organization_id = k.organization_id AND m.role = %(owner)s
                 AND  u.deactivated_at IS NULL) AS owner_email
"""


class PostgresConnectionKeys(KeyCertificates):
    """The port `ConnectionKeys`."""

    table = "connection_keys"
    owner = "connection_id"

    def active(self, organization_id: UUID, connection_id: UUID) -> SamlSigningKey | None:
        return self._defer_active_key(organization_id, connection_id)()

    def usable(self, organization_id: UUID, connection_id: UUID, *, at: datetime) -> Sequence[SamlSigningKey]:
        return self._published_keys(organization_id, connection_id, at)

    def published(self, organization_id: UUID, connection_id: UUID, *, at: datetime) -> Sequence[SamlCertificate]:
        return self._published(organization_id, connection_id, at)

    def replace_active(
        self,
        organization_id: UUID,
        connection_id: UUID,
        certificate: SamlCertificate,
        *,
        private_pem: Secret,
        previous_published_until: datetime,
    ) -> None:
        self._replace_active(organization_id, connection_id, certificate, private_pem, previous_published_until)

    def claim_ending(self, *, before: datetime, at: datetime, limit: int) -> Sequence[EndingKey]:
        return self._all(EndingKey, CLAIM_ENDING, {"before": before, "at": at, "limit": limit, "owner": OWNER})
