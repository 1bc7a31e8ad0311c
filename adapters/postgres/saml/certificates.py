"""Certificates of identity providers in their table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from adapters.postgres.key_certificates import KeyCertificates
from core.key_certificates import SamlCertificate, SamlSigningKey
from core.organizations.organizations import OWNER
from core.saml.certificates import EndingCertificate
from core.secrets import Secret
from core.services.services import Service

if TYPE_CHECKING:
    from core.deferred import Deferred

COUNT_ENDING: Final = """
    SELECT count(*)
    FROM   saml_certificates k
    JOIN   saml_configurations c ON c.organization_id = k.organization_id AND c.service_id = k.service_id
    WHERE  k.is_active AND k.valid_until < %(before)s AND c.enabled
"""
CLAIM_ENDING: Final = """
    UPDATE saml_certificates k
    SET    warned_at = %(at)s
    FROM   services s, organizations o
    WHERE  k.id = ANY (ARRAY(
        SELECT   e.id
        FROM     saml_certificates e
        JOIN     saml_configurations c ON c.organization_id = e.organization_id AND c.service_id = e.service_id
        JOIN     organizations t       ON t.id = e.organization_id
        WHERE    e.is_active AND e.valid_until < %(before)s AND e.warned_at IS NULL AND c.enabled
          AND    t.status = 'active'
        ORDER BY e.valid_until
        LIMIT    %(limit)s
        FOR UPDATE OF e SKIP LOCKED))
      AND  s.organization_id = k.organization_id AND s.id = k.service_id AND o.id = k.organization_id
    RETURNING k.id AS certificate_id, k.organization_id, o.name AS organization_name, s.name AS service_name,
              k.valid_until,
              (SELECT u.email
               FROM   memberships m
               JOIN   users u ON u.id = m.user_id
               WHERE  m.organization_id = k.organization_id AND m.role = %(owner)s
                 AND  u.deactivated_at IS NULL) AS owner_email
"""


class PostgresSamlCertificates(KeyCertificates):
    """The port `SamlCertificates`."""

    table = "saml_certificates"
    owner = "service_id"

    def active(self, service: Service) -> SamlCertificate | None:
        return self._active(service.organization_id, service.id)

    def published(self, organization_id: UUID, service_id: UUID, *, at: datetime) -> Sequence[SamlCertificate]:
        return self._published(organization_id, service_id, at)

    def defer_signing_key(self, organization_id: UUID, service_id: UUID) -> Deferred[SamlSigningKey | None]:
        return self._defer_active_key(organization_id, service_id)

    def replace_active(
        self,
        service: Service,
        certificate: SamlCertificate,
        *,
        private_pem: Secret,
        previous_published_until: datetime,
    ) -> None:
        self._replace_active(service.organization_id, service.id, certificate, private_pem, previous_published_until)

    def deactivate_all(self, service: Service) -> None:
        self._connection.execute_later(
            """
            UPDATE saml_certificates
            SET    is_active = false, published_until = NULL
            WHERE  organization_id = %s AND service_id = %s
            """,
            (service.organization_id, service.id),
        )

    def claim_ending(self, *, before: datetime, at: datetime, limit: int) -> Sequence[EndingCertificate]:
        return self._all(EndingCertificate, CLAIM_ENDING, {"before": before, "at": at, "limit": limit, "owner": OWNER})
