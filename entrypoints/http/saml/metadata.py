"""Metadata: publishing the identity provider's, and importing a service provider's."""

from typing import Annotated

from quart import Response

from core.errors import OrganizationNotActive
from core.limits import LARGE_BODY_BYTES_MAX
from core.organizations.access import Operation
from core.rate_limits import RateLimit
from core.saml import configuration, identity_providers
from core.saml.identity_providers import ProviderUnknown
from core.services.services import ServiceUnknown
from entrypoints.http.saml import saml
from entrypoints.http.saml.saml import SamlRecord
from entrypoints.web.serving.admission import hosts
from entrypoints.web.serving.admission.credentials import on_service, public
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.answering.answers import EXAMPLE_URL, Media
from entrypoints.web.serving.answering.bodies import DocumentBody
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("SAML", saml.routes.description)

METADATA_TYPE = "application/samlmetadata+xml"
METADATA_EXAMPLE = f'<EntityDescriptor entityID="{EXAMPLE_URL}/saml/acme/shop/metadata">…</EntityDescriptor>'


class ProviderDescription(DocumentBody, kw_only=True):
    """The metadata of a service provider."""

    documents = (METADATA_TYPE, "application/xml", "text/xml")

    metadata: str


@routes.get(
    "/saml/:org_slug/:service_slug/metadata",
    limits=(RateLimit.SAML,),
    refuses=(ProviderUnknown, OrganizationNotActive),
)
@on_custom_hosts
@public
async def show_metadata(
    call: Call, org_slug: str, service_slug: str
) -> Annotated[Response, Media(METADATA_TYPE, example=METADATA_EXAMPLE)]:
    """Return the metadata of the identity provider of a service, for its service provider."""
    content = await call.read(identity_providers.metadata, org_slug, service_slug, hosts.issuer_of(call))
    return Response(await call.installation.saml.provider_metadata(content), content_type=METADATA_TYPE)


@routes.post(
    "/api/organizations/:org_slug/services/:service_slug/saml/metadata",
    body_bytes_max=LARGE_BODY_BYTES_MAX,
    refuses=(ServiceUnknown,),
)
@on_service(Operation.SAML_CHANGE)
async def import_metadata(call: Call, org_slug: str, service_slug: str, body: ProviderDescription) -> SamlRecord:
    """Fill the configuration from the metadata of the service provider.

    Send the XML as it is, or in `metadata`. It sets the entity id and the addresses, and the certificate when it
    announces signed requests. Nothing is switched on, and what the metadata do not name stays.
    """
    await call.read(configuration.require_changeable, org_slug, service_slug)
    fields = await call.installation.saml.read_metadata(body.metadata, at=call.installation.clock())
    view = await call.transact(configuration.import_metadata, org_slug, service_slug, fields)
    return SamlRecord.of(view.configuration, has_certificate=view.has_certificate)
