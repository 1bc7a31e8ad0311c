"""The certificate with which Gatehouse signs for a service."""

from core.key_certificates import SamlCertificate
from core.organizations.access import Operation
from core.saml import certificates
from core.saml.certificates import NoCertificate, SamlNotEnabled
from core.services.services import ServiceUnknown
from entrypoints.http.saml import saml
from entrypoints.web.serving.admission.credentials import on_service
from entrypoints.web.serving.answering.bodies import Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("SAML", saml.routes.description)


class CertificateRecord(Record, of=SamlCertificate, without=("id", "published_until")):
    """A certificate. Its private key never leaves Gatehouse."""


@routes.post(
    "/api/organizations/:org_slug/services/:service_slug/saml/certificate", refuses=(SamlNotEnabled, ServiceUnknown)
)
@on_service(Operation.SAML_CERTIFICATE_CREATE)
async def create_certificate(call: Call, org_slug: str, service_slug: str) -> CertificateRecord:
    """Create a certificate, valid for three years, which signs from now on.

    The metadata contain the previous one for seven more days. Enter the new one in the application at the same time.
    """
    service = await call.read(certificates.require_creatable, org_slug, service_slug)
    # A certificate has whole seconds.
    valid_from = call.installation.clock().replace(microsecond=0)
    made = await call.installation.saml.make_certificate(f"{service.slug} by SAML", valid_from=valid_from)
    created = await call.transact(certificates.create, org_slug, service_slug, made, valid_from=valid_from)
    return CertificateRecord.of(created)


@routes.get(
    "/api/organizations/:org_slug/services/:service_slug/saml/certificate", refuses=(NoCertificate, ServiceUnknown)
)
@on_service(Operation.SAML_READ)
async def show_certificate(call: Call, org_slug: str, service_slug: str) -> CertificateRecord:
    """Show the active certificate of a service."""
    return CertificateRecord.of(await call.read(certificates.show, org_slug, service_slug))
