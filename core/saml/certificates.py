"""The certificates with which Gatehouse signs for a service: one is active, and the previous one is published a while.

What they share with certificates of SAML connections is in `core/key_certificates.py`. The private key leaves the
storage only for signing.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from core import key_certificates
from core.errors import BadRequest, NotFound
from core.events.actions import AuditAction
from core.key_certificates import OVERLAP, WARNING, MadeCertificate, SamlCertificate
from core.mail.mail import MailTemplate
from core.organizations.access import Operation
from core.services import service_access
from core.services.services import Service

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class SamlNotEnabled(BadRequest):
    """The configuration is missing or disabled."""

    default_message = "SAML is not enabled for this service. Enable it with its entity id and ACS URL first."


class NoCertificate(NotFound):
    """The service has no active certificate."""

    default_message = "This service has no active SAML certificate. Create one."


def require_creatable(uow: UnitOfWork, slug: str, service_slug: str) -> Service:
    """Authorize the creation of a certificate before the key is made; raise `SamlNotEnabled`."""
    service = service_access.authorize(uow, slug, service_slug, Operation.SAML_CERTIFICATE_CREATE).service
    _require_enabled(uow, service)
    return service


def create(
    uow: UnitOfWork, slug: str, service_slug: str, made: MadeCertificate, *, valid_from: datetime
) -> SamlCertificate:
    """Make a new certificate the active one; the previous one no longer signs."""
    service = service_access.authorize_and_lock(uow, slug, service_slug, Operation.SAML_CERTIFICATE_CREATE).service
    _require_enabled(uow, service)
    return add(uow, service, made, valid_from=valid_from)


def add(uow: UnitOfWork, service: Service, made: MadeCertificate, *, valid_from: datetime) -> SamlCertificate:
    """Do what `create` does for an authorized caller, also before SAML is enabled."""
    certificate = SamlCertificate.of(made, uow.randomness.new_id(), valid_from=valid_from, at=uow.now)
    uow.saml_certificates.replace_active(
        service.organization_id,
        service.id,
        certificate,
        private_pem=made.private_pem,
        previous_published_until=uow.now + OVERLAP,
    )
    uow.record(
        AuditAction.SAML_CERTIFICATE_CREATED,
        service.id,
        organization_id=service.organization_id,
        event_only={"service_id": str(service.id)},
        service_slug=service.slug,
        certificate_id=str(certificate.id),
        valid_until=certificate.valid_until.isoformat().replace("+00:00", "Z"),
    )
    return certificate


def show(uow: UnitOfWork, slug: str, service_slug: str) -> SamlCertificate:
    """Return the active certificate; raise `NoCertificate` without one."""
    service = service_access.authorize(uow, slug, service_slug, Operation.SAML_READ).service
    certificate = uow.saml_certificates.active(service.organization_id, service.id)
    if certificate is None:
        raise NoCertificate
    return certificate


def warn(uow: UnitOfWork, limit: int) -> int:
    """Mail the owners of at most `limit` services whose certificate ends soon, once each; return how many."""
    ending = uow.saml_certificates.claim_ending(before=uow.now + WARNING, at=uow.now, limit=limit)
    return key_certificates.warn(uow, ending, MailTemplate.SAML_CERTIFICATE_ENDING, kind="service")


def _require_enabled(uow: UnitOfWork, service: Service) -> None:
    if not uow.saml_configurations.view(service).configuration.enabled:
        raise SamlNotEnabled
