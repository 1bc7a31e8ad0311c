"""Certificates of identity providers in their table; the private keys are sealed, each for its own row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.organizations.memberships import OWNER
from core.saml.certificates import EndingCertificate, SamlCertificate, SamlSigningKey
from core.secrets import Secret

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from core.deferred import Deferred
    from core.services.services import Service

_SEALED: Final = {"table": "saml_certificates", "column": "private_key_sealed"}
_CERTIFICATE: Final = f"SELECT {columns(SamlCertificate)} FROM saml_certificates"  # noqa: S608 - made of the names of fields
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


class PostgresSamlCertificates(Aggregate):
    """The port `SamlCertificates`."""

    def active(self, service: Service) -> SamlCertificate | None:
        return self._one(
            SamlCertificate,
            f"{_CERTIFICATE} WHERE organization_id = %s AND service_id = %s AND is_active",
            (service.organization_id, service.id),
        )

    def published(self, organization_id: UUID, service_id: UUID, *, at: datetime) -> Sequence[SamlCertificate]:
        return self._all(
            SamlCertificate,
            f"""
            {_CERTIFICATE}
            WHERE    organization_id = %s AND service_id = %s AND (is_active OR published_until > %s)
            ORDER BY is_active DESC, created_at DESC, id DESC
            """,
            (organization_id, service_id, at),
        )

    def defer_signing_key(self, organization_id: UUID, service_id: UUID) -> Deferred[SamlSigningKey | None]:
        return self._defer_one(
            self._opened,
            """
            SELECT id AS certificate_id, public_key, private_key_sealed
            FROM   saml_certificates
            WHERE  organization_id = %s AND service_id = %s AND is_active
            """,
            (organization_id, service_id),
        )

    def _opened(self, *, certificate_id: UUID, public_key: str, private_key_sealed: bytes) -> SamlSigningKey:
        private_pem = self._transaction.vault.open(private_key_sealed, row=certificate_id, **_SEALED).decode()
        return SamlSigningKey(
            certificate_id=certificate_id, certificate_pem=public_key, private_pem=Secret(private_pem)
        )

    def replace_active(
        self,
        service: Service,
        certificate: SamlCertificate,
        *,
        private_pem: Secret,
        previous_published_until: datetime,
    ) -> None:
        place = (service.organization_id, service.id)
        self._connection.execute_later(
            """
            DELETE FROM saml_certificates
            WHERE  organization_id = %s AND service_id = %s AND NOT is_active
              AND  (published_until IS NULL OR published_until <= %s)
            """,
            (*place, self._transaction.now),
        )
        self._connection.execute_later(
            """
            UPDATE saml_certificates
            SET    is_active = false, published_until = %s
            WHERE  organization_id = %s AND service_id = %s AND is_active
            """,
            (previous_published_until, *place),
        )
        self._connection.execute_later(
            f"""
            INSERT INTO saml_certificates ({columns(SamlCertificate)}, organization_id, service_id, private_key_sealed)
            VALUES ({placeholders(SamlCertificate)}, %(organization_id)s, %(service_id)s, %(private_key_sealed)s)
            """,  # noqa: S608 - made of the names of fields
            {
                **values(certificate),
                "organization_id": service.organization_id,
                "service_id": service.id,
                "private_key_sealed": self._transaction.vault.seal(
                    private_pem.reveal().encode(), row=certificate.id, **_SEALED
                ),
            },
        )

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
