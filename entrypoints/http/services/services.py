"""Services as the members of their organization create, read, change and delete them."""

from datetime import datetime
from typing import Annotated, Any, Self
from urllib.parse import urlsplit
from uuid import UUID

import msgspec

from core.limits import PAGE_NUMBER_MAX
from core.organizations.access import Operation
from core.services import management
from core.services.client_records import Outside
from core.services.management import (
    AudienceTaken,
    CountedService,
    ServiceFields,
    ServiceLimitExceeded,
    ServiceNotConfidential,
    ServiceSlugTaken,
    ServiceSubscribed,
    Usage,
)
from core.services.services import Service, ServiceType, ServiceUnknown
from entrypoints.http.services.plans import PlanRecord
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_organization, on_service
from entrypoints.web.decoding import Query
from entrypoints.web.hidden import SecretBody
from entrypoints.web.routes import Routes

routes = Routes(
    "services",
    "The applications of an organization, to which its end users sign in. `web` and `api` services are confidential"
    " clients with a secret; `mobile` and `desktop` services are public clients and use PKCE.",
)

ServiceName = Annotated[str, msgspec.Meta(description="The name for people, with 1 to 100 characters.")]
Scopes = Annotated[
    list[str], msgspec.Meta(description="The scopes to request from this provider; null for its default scopes.")
]
RedirectUris = Annotated[
    list[str],
    msgspec.Meta(
        description="The addresses to which a browser may be sent back, compared exactly. Absolute and without a"
        " fragment; plain http only for loopback, other schemes only for mobile and desktop."
    ),
]
ActivationUri = Annotated[
    str, msgspec.Meta(description="The page of the service on which people activate a device, or null.")
]
LogoutRedirectUris = Annotated[
    list[str],
    msgspec.Meta(description="The addresses to which a browser may be sent after signing out, compared exactly."),
]
BackchannelUri = Annotated[
    str, msgspec.Meta(description="The address to which Gatehouse posts a logout token when a session ends, or null.")
]
FrontchannelUri = Annotated[
    str, msgspec.Meta(description="The page that the browser loads in a frame when a session ends, or null.")
]
JwksUri = Annotated[
    str, msgspec.Meta(description="The address of the public keys that sign the service's assertions, or null.")
]
Jwks = Annotated[
    dict[str, list[dict[str, Any]]],
    msgspec.Meta(description="The public keys that sign the service's assertions, as a JSON Web Key Set, or null."),
]
Audiences = Annotated[
    list[str],
    msgspec.Meta(
        description="The addresses of the APIs for which the service may get access tokens, as their `aud`: absolute"
        " https addresses under a verified domain of the organization, each registered by one service only."
    ),
]
ListLimit = Annotated[int, msgspec.Meta(ge=1, description="The most services to return; all of them if it is omitted.")]
ListOffset = Annotated[int, msgspec.Meta(ge=0, description="How many services to skip.")]


class NewService(msgspec.Struct, kw_only=True):
    """A new service: a slug for paths, which never changes, a name for people, and its type."""

    slug: str
    name: ServiceName
    service_type: ServiceType
    codehost_scopes: Scopes | None = None
    websuite_scopes: Scopes | None = None
    officesuite_scopes: Scopes | None = None
    redirect_uris: RedirectUris = msgspec.field(default_factory=list)
    device_activation_uri: ActivationUri | None = None
    post_logout_redirect_uris: LogoutRedirectUris = msgspec.field(default_factory=list)
    backchannel_logout_uri: BackchannelUri | None = None
    frontchannel_logout_uri: FrontchannelUri | None = None
    jwks_uri: JwksUri | None = None
    jwks: Jwks | None = None
    audiences: Audiences = msgspec.field(default_factory=list)


class ServiceChange(msgspec.Struct, kw_only=True):
    """The fields to change, at least one; omitted fields keep their values, and lists are replaced."""

    name: ServiceName | msgspec.UnsetType = msgspec.UNSET
    service_type: ServiceType | msgspec.UnsetType = msgspec.UNSET
    codehost_scopes: Scopes | msgspec.UnsetType | None = msgspec.UNSET
    websuite_scopes: Scopes | msgspec.UnsetType | None = msgspec.UNSET
    officesuite_scopes: Scopes | msgspec.UnsetType | None = msgspec.UNSET
    redirect_uris: RedirectUris | msgspec.UnsetType = msgspec.UNSET
    device_activation_uri: ActivationUri | msgspec.UnsetType | None = msgspec.UNSET
    post_logout_redirect_uris: LogoutRedirectUris | msgspec.UnsetType = msgspec.UNSET
    backchannel_logout_uri: BackchannelUri | msgspec.UnsetType | None = msgspec.UNSET
    frontchannel_logout_uri: FrontchannelUri | msgspec.UnsetType | None = msgspec.UNSET
    jwks_uri: JwksUri | msgspec.UnsetType | None = msgspec.UNSET
    jwks: Jwks | msgspec.UnsetType | None = msgspec.UNSET
    audiences: Audiences | msgspec.UnsetType = msgspec.UNSET

    def given(self) -> dict[str, object]:
        """Return the fields that the request names."""
        fields = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: value for name, value in fields.items() if value is not msgspec.UNSET}


class ServiceRecord(msgspec.Struct, kw_only=True):
    """A service. Clients of OpenID Connect use `client_id`; it never changes."""

    id: UUID
    org_id: UUID
    slug: str
    name: str
    service_type: ServiceType
    client_id: UUID
    codehost_scopes: list[str] | None
    websuite_scopes: list[str] | None
    officesuite_scopes: list[str] | None
    redirect_uris: list[str]
    device_activation_uri: str | None
    post_logout_redirect_uris: list[str]
    backchannel_logout_uri: str | None
    frontchannel_logout_uri: str | None
    jwks_uri: str | None
    jwks: dict[str, list[dict[str, Any]]] | None
    audiences: list[str]
    created_at: datetime

    @classmethod
    def of(cls, service: Service, **counts: int) -> Self:
        """Return the record of a service."""
        return cls(
            id=service.id,
            org_id=service.organization_id,
            slug=service.slug,
            name=service.name,
            service_type=service.service_type,
            client_id=service.client_id,
            codehost_scopes=service.codehost_scopes,
            websuite_scopes=service.websuite_scopes,
            officesuite_scopes=service.officesuite_scopes,
            redirect_uris=service.redirect_uris,
            device_activation_uri=service.device_activation_uri,
            post_logout_redirect_uris=service.post_logout_redirect_uris,
            backchannel_logout_uri=service.backchannel_logout_uri,
            frontchannel_logout_uri=service.frontchannel_logout_uri,
            jwks_uri=service.jwks_uri,
            jwks=service.jwks,
            audiences=service.audiences,
            created_at=service.created_at,
            **counts,
        )


class ServiceItem(ServiceRecord, kw_only=True):
    """A service in a list, with the numbers of its plans and of the users who are subscribed to it."""

    plan_count: int
    subscription_count: int

    @classmethod
    def counted(cls, counted: CountedService) -> Self:
        """Return the item of a service."""
        return cls.of(counted.service, plan_count=counted.plan_count, subscription_count=counted.subscription_count)


class ServiceCreated(SecretBody, kw_only=True):
    """The new service with its default plan. The secret of a confidential service is shown only here."""

    service: ServiceRecord
    default_plan: PlanRecord
    usage: Usage
    client_secret: str | msgspec.UnsetType = msgspec.UNSET


class ServiceList(msgspec.Struct, kw_only=True):
    """The services, and how many the organization has and may have."""

    services: list[ServiceItem]
    usage: Usage


class SecretRotated(SecretBody, kw_only=True):
    """The service and its new secret, which is shown only here."""

    service: ServiceRecord
    client_secret: str


class ServicesQuery(Query, kw_only=True):
    """A type to filter by, and a part of the list; without a limit all services are returned."""

    service_type: ServiceType | None = None
    limit: ListLimit | None = None
    offset: ListOffset = 0

    def __post_init__(self) -> None:
        self.limit = min(self.limit, PAGE_NUMBER_MAX) if self.limit is not None else None
        self.offset = min(self.offset, PAGE_NUMBER_MAX)


def outside(call: Call) -> Outside:
    """Return what the installation says about the addresses of services."""
    settings = call.installation.settings
    hosts = {urlsplit(url).hostname for url in (settings.base_url, settings.frontend_url) if url is not None}
    return Outside(allowed_networks=settings.outbound_allowed, own_hosts=frozenset(filter(None, hosts)))


@routes.post("/api/organizations/:org_slug/services", refuses=(ServiceLimitExceeded, ServiceSlugTaken, AudienceTaken))
@in_organization(Operation.SERVICE_CREATE)
async def create_service(call: Call, org_slug: str, body: NewService) -> ServiceCreated:
    """Create a service, with a default plan named Free.

    A `web` or `api` service gets a client secret. Store it: it cannot be shown again, only replaced.
    """
    given = ServiceFields(
        name=body.name,
        service_type=body.service_type,
        codehost_scopes=body.codehost_scopes,
        websuite_scopes=body.websuite_scopes,
        officesuite_scopes=body.officesuite_scopes,
        redirect_uris=body.redirect_uris,
        device_activation_uri=body.device_activation_uri,
        post_logout_redirect_uris=body.post_logout_redirect_uris,
        backchannel_logout_uri=body.backchannel_logout_uri,
        frontchannel_logout_uri=body.frontchannel_logout_uri,
        jwks_uri=body.jwks_uri,
        jwks=body.jwks,
        audiences=body.audiences,
    )
    created = await call.transact(management.create, org_slug, body.slug, given, outside=outside(call))
    return ServiceCreated(
        service=ServiceRecord.of(created.service),
        default_plan=PlanRecord.of(created.default_plan),
        usage=created.usage,
        client_secret=created.client_secret.reveal() if created.client_secret is not None else msgspec.UNSET,
    )


@routes.get("/api/organizations/:org_slug/services")
@in_organization(Operation.SERVICES_LIST)
async def list_services(call: Call, org_slug: str, query: ServicesQuery) -> ServiceList:
    """List the services, the oldest first, with the numbers of their plans and active subscriptions."""
    page = await call.read(
        management.list_page, org_slug, service_type=query.service_type, limit=query.limit, offset=query.offset
    )
    return ServiceList(services=[ServiceItem.counted(counted) for counted in page.services], usage=page.usage)


@routes.get("/api/organizations/:org_slug/services/:service_slug", refuses=(ServiceUnknown,))
@on_service(Operation.SERVICE_READ)
async def show_service(call: Call, org_slug: str, service_slug: str) -> ServiceRecord:
    """Show a service."""
    return ServiceRecord.of(await call.read(management.read, org_slug, service_slug))


@routes.patch("/api/organizations/:org_slug/services/:service_slug", refuses=(ServiceUnknown, AudienceTaken))
@on_service(Operation.SERVICE_UPDATE)
async def change_service(call: Call, org_slug: str, service_slug: str, body: ServiceChange) -> ServiceRecord:
    """Change a service. Lists are replaced, not merged.

    A service that becomes `mobile` or `desktop` loses its secret. One that becomes `web` or `api` has none until you
    rotate it.
    """
    changed = await call.transact(management.change, org_slug, service_slug, body.given(), outside=outside(call))
    return ServiceRecord.of(changed)


@routes.delete(
    "/api/organizations/:org_slug/services/:service_slug", status=204, refuses=(ServiceSubscribed, ServiceUnknown)
)
@in_organization(Operation.SERVICE_DELETE)
async def delete_service(call: Call, org_slug: str, service_slug: str) -> None:
    """Delete a service and everything that belongs to it, permanently: plans, API keys, end users and their sessions.

    The accounts of the end users remain. A service with active subscriptions cannot be deleted.
    """
    await call.transact(management.delete, org_slug, service_slug)


@routes.post(
    "/api/organizations/:org_slug/services/:service_slug/secret/rotate",
    refuses=(ServiceNotConfidential, ServiceUnknown),
)
@on_service(Operation.SERVICE_SECRET_ROTATE)
async def rotate_secret(call: Call, org_slug: str, service_slug: str) -> SecretRotated:
    """Replace the client secret of a confidential service; the old one stops working at once."""
    service, secret = await call.transact(management.rotate_secret, org_slug, service_slug)
    return SecretRotated(service=ServiceRecord.of(service), client_secret=secret.reveal())
