"""The SAML configuration of a service, as members of its organization read and change it."""

import msgspec

from core.organizations.access import Operation
from core.saml import configuration
from core.saml.configuration import SamlConfiguration
from core.services.services import ServiceUnknown
from entrypoints.web.serving.admission.credentials import on_service
from entrypoints.web.serving.answering.bodies import Change, Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "SAML",
    "Gatehouse as the SAML identity provider of a service: its configuration and certificates, and the endpoints for"
    " the service provider.",
)


class SamlSettings(Change, of=SamlConfiguration, without=("organization_id", "service_id"), nullable=True):
    """The new settings. Omitted ones keep their values, and null sets the default.

    `entity_id` and `acs_url` are required when `enabled` is true.
    """

    enabled: bool
    name_id_format: str | msgspec.UnsetType | None = msgspec.UNSET


class SamlRecord(Record, of=SamlConfiguration, without=("organization_id", "service_id")):
    """The SAML configuration of a service; the defaults when it was never set."""

    name_id_format: str | None
    has_certificate: bool


class SamlChanged(msgspec.Struct, kw_only=True):
    """The change is made."""

    success: bool
    message: str


@routes.post("/api/organizations/:org_slug/services/:service_slug/saml", refuses=(ServiceUnknown,))
@on_service(Operation.SAML_CHANGE)
async def configure(call: Call, org_slug: str, service_slug: str, body: SamlSettings) -> SamlChanged:
    """Set up SAML for a service, change its settings, or switch it off.

    SAML works once the service also has a certificate.
    """
    changes = body.given()
    certificate = changes.get("sp_certificate")
    if certificate is not None:
        # Reading the certificate takes a thread, so who may not change anything is refused before.
        await call.read(configuration.require_changeable, org_slug, service_slug)
        changes["sp_certificate"] = await call.installation.saml.normalized_certificate(certificate)
    await call.transact(configuration.configure, org_slug, service_slug, changes)
    if not body.enabled:
        return SamlChanged(success=True, message="The SAML configuration is saved. SAML is off.")
    return SamlChanged(
        success=True, message="The SAML configuration is saved. Create a certificate if the service has none."
    )


@routes.get("/api/organizations/:org_slug/services/:service_slug/saml", refuses=(ServiceUnknown,))
@on_service(Operation.SAML_READ)
async def show_configuration(call: Call, org_slug: str, service_slug: str) -> SamlRecord:
    """Show the SAML configuration of a service."""
    view = await call.read(configuration.show, org_slug, service_slug)
    return SamlRecord.of(view.configuration, has_certificate=view.has_certificate)


@routes.delete("/api/organizations/:org_slug/services/:service_slug/saml", refuses=(ServiceUnknown,))
@on_service(Operation.SAML_REMOVE)
async def disable(call: Call, org_slug: str, service_slug: str) -> SamlChanged:
    """Switch SAML off and deactivate all certificates of the service; its other settings stay."""
    await call.transact(configuration.disable, org_slug, service_slug)
    return SamlChanged(success=True, message="SAML is off, and its certificates are deactivated.")
