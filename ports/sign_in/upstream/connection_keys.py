"""Storage of the keys of SAML connections."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.key_certificates import SamlCertificate, SamlSigningKey
from core.secrets import Secret
from core.sign_in.upstream.connection_keys import EndingKey


class ConnectionKeys(Protocol):
    """Keys with their certificates; the private keys are sealed in the database. They end with their connection."""

    def active(self, organization_id: UUID, connection_id: UUID) -> SamlSigningKey | None:
        """Return the active key of a connection of the organization; None without one."""
        ...

    def usable(self, organization_id: UUID, connection_id: UUID, *, at: datetime) -> Sequence[SamlSigningKey]:
        """Return the keys whose certificates are published, the newest first."""
        ...

    def published(self, organization_id: UUID, connection_id: UUID, *, at: datetime) -> Sequence[SamlCertificate]:
        """List the certificates that our metadata contain, the newest first."""
        ...

    def replace_active(
        self,
        organization_id: UUID,
        connection_id: UUID,
        certificate: SamlCertificate,
        *,
        private_pem: Secret,
        previous_published_until: datetime,
    ) -> None:
        """Store the new active key, while the organization is locked; the previous one is published until that time.

        Keys that are no longer published are deleted.
        """
        ...

    def claim_ending(self, *, before: datetime, at: datetime, limit: int) -> Sequence[EndingKey]:
        """Return active keys of enabled connections whose certificates end before a time; mark them as warned about.

        Of concurrent calls one returns a key. Organizations that are not active are left out.
        """
        ...
