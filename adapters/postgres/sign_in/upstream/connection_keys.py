"""Keys of SAML connections in their table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.postgres.key_certificates import KeyCertificates

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from core.key_certificates import SamlCertificate, SamlSigningKey
    from core.secrets import Secret


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
