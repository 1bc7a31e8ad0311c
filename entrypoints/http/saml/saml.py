"""The SAML configuration of a service, as members of its organization read and change it."""

import msgspec

from core.organizations.access import Operation
from core.saml import configuration
from core.saml.configuration import ConfigurationView, LogoutBinding
from core.services.services import ServiceUnknown
from entrypoints.web.calls import Call
from entrypoints.web.credentials import on_service
from entrypoints.web.routes import Routes

routes = Routes(
    "SAML",
    "Gatehouse as the SAML identity provider of a service: its configuration and certificates, and the endpoints for"
    " the service provider.",
)

Flag = bool | msgspec.UnsetType | None


class SamlSettings(msgspec.Struct, kw_only=True):
    """The new settings. Omitted ones keep their values, and null sets the default.

    `entity_id` and `acs_url` are required when `enabled` is true.
    """

    enabled: bool
    entity_id: str | msgspec.UnsetType | None = msgspec.UNSET
    acs_url: str | msgspec.UnsetType | None = msgspec.UNSET
    slo_url: str | msgspec.UnsetType | None = msgspec.UNSET
    slo_binding: LogoutBinding | msgspec.UnsetType | None = msgspec.UNSET
    name_id_format: str | msgspec.UnsetType | None = msgspec.UNSET
    attribute_mapping: dict[str, str] | msgspec.UnsetType | None = msgspec.UNSET
    sign_assertions: Flag = msgspec.UNSET
    sign_response: Flag = msgspec.UNSET
    sp_certificate: str | msgspec.UnsetType | None = msgspec.UNSET
    members_only: Flag = msgspec.UNSET

    def given(self) -> dict[str, object]:
        """Return the settings that the request names, besides `enabled`."""
        fields = {name: getattr(self, name) for name in self.__struct_fields__ if name != "enabled"}
        return {name: value for name, value in fields.items() if value is not msgspec.UNSET}


class SamlRecord(msgspec.Struct, kw_only=True):
    """The SAML configuration of a service; the defaults when it was never set."""

    enabled: bool
    entity_id: str | None
    acs_url: str | None
    slo_url: str | None
    slo_binding: LogoutBinding
    name_id_format: str | None
    attribute_mapping: dict[str, str] | None
    sign_assertions: bool
    sign_response: bool
    sp_certificate: str | None
    members_only: bool
    has_certificate: bool

    @classmethod
    def of(cls, view: ConfigurationView) -> "SamlRecord":
        """Return the record of a configuration."""
        found = view.configuration
        return cls(
            enabled=found.enabled,
            entity_id=found.entity_id,
            acs_url=found.acs_url,
            slo_url=found.slo_url,
            slo_binding=found.slo_binding,
            name_id_format=found.name_id_format,
            attribute_mapping=found.attribute_mapping,
            sign_assertions=found.sign_assertions,
            sign_response=found.sign_response,
            sp_certificate=found.sp_certificate,
            members_only=found.members_only,
            has_certificate=view.has_certificate,
        )


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
    if isinstance(body.sp_certificate, str):
        # Reading the certificate takes a thread, so who may not change anything is refused before.
        await call.read(configuration.require_changeable, org_slug, service_slug)
        changes["sp_certificate"] = await call.installation.saml.normalized_certificate(body.sp_certificate)
    await call.transact(configuration.configure, org_slug, service_slug, enabled=body.enabled, changes=changes)
    if not body.enabled:
        return SamlChanged(success=True, message="The SAML configuration is saved. SAML is off.")
    return SamlChanged(
        success=True, message="The SAML configuration is saved. Create a certificate if the service has none."
    )


@routes.get("/api/organizations/:org_slug/services/:service_slug/saml", refuses=(ServiceUnknown,))
@on_service(Operation.SAML_READ)
async def show_configuration(call: Call, org_slug: str, service_slug: str) -> SamlRecord:
    """Show the SAML configuration of a service."""
    return SamlRecord.of(await call.read(configuration.show, org_slug, service_slug))


@routes.delete("/api/organizations/:org_slug/services/:service_slug/saml", refuses=(ServiceUnknown,))
@on_service(Operation.SAML_CHANGE)
async def disable(call: Call, org_slug: str, service_slug: str) -> SamlChanged:
    """Switch SAML off and deactivate all certificates of the service; its other settings stay."""
    await call.transact(configuration.disable, org_slug, service_slug)
    return SamlChanged(success=True, message="SAML is off, and its certificates are deactivated.")
