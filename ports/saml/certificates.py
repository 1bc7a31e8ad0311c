"""Storage of the certificates of identity providers."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.key_certificates import SamlCertificate, SamlSigningKey
from core.saml.certificates import EndingCertificate
from core.secrets import Secret
from core.services.services import Service


class SamlCertificates(Protocol):
    """Certificates; the private keys are sealed in the database, and `defer_signing_key` alone returns one."""

    def active(self, service: Service) -> SamlCertificate | None:
        """Return the active certificate of a service; None without one."""
        ...

    def published(self, organization_id: UUID, service_id: UUID, *, at: datetime) -> Sequence[SamlCertificate]:
        """List the certificates that metadata contain, the active one first."""
        ...

    def defer_signing_key(self, organization_id: UUID, service_id: UUID) -> Deferred[SamlSigningKey | None]:
        """Return the deferred active key of a service; None without one."""
        ...

    def replace_active(
        self,
        service: Service,
        certificate: SamlCertificate,
        *,
        private_pem: Secret,
        previous_published_until: datetime,
    ) -> None:
        """Store the new active certificate of a locked service; the previous one is published until that time.

        Certificates that are no longer published are deleted.
        """
        ...

    def deactivate_all(self, service: Service) -> None:
        """Deactivate the certificates of a service; metadata contain none of them any more."""
        ...

    def claim_ending(self, *, before: datetime, at: datetime, limit: int) -> Sequence[EndingCertificate]:
        """Return active certificates of enabled services that end before a time, and mark them as warned about.

        Of concurrent calls one returns a certificate. Organizations that are not active are left out.
        """
        ...
