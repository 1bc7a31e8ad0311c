"""Services as the members of their organization create, read, change and delete them."""

from typing import Annotated, Any, Self

import msgspec

from core.limits import PAGE_NUMBER_MAX
from core.organizations.access import Operation
from core.services import admission, client_secrets, management
from core.services.admission import AssignedService
from core.services.assignments import ASSIGNMENTS_MAX, Assignment
from core.services.client_secrets import KEEP_PREVIOUS_HOURS_MAX, ServiceHasKeysAlone, ServiceNotConfidential
from core.services.management import (
    AudienceTaken,
    CountedService,
    CustomersRemain,
    ServiceLimitExceeded,
    ServiceSlugTaken,
    ServiceSubscribed,
    Usage,
)
from core.services.services import Service, ServiceFields, ServiceType, ServiceUnknown
from core.sessions.claim_sources import OwnClaim
from entrypoints.http.services.plans import PlanRecord
from entrypoints.shared.services.outside import outside
from entrypoints.web.input.decoding import Query
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import in_organization, on_service
from entrypoints.web.serving.answering.bodies import Change, Input, Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "services",
    "The applications of an organization, to which its end users sign in. `web` and `api` services are confidential"
    " clients with a secret; `mobile` and `desktop` services are public clients and use PKCE.",
)

ListLimit = Annotated[int, msgspec.Meta(ge=1, description="The most services to return; all of them if it is omitted.")]
ListOffset = Annotated[int, msgspec.Meta(ge=0, description="How many services to skip.")]


class ServiceClaim(Record, rename={"source": "from"}):
    """A claim of the product, and its source; access tokens have it where `in_access_token` says so."""

    claim: str
    source: str
    in_access_token: bool = False

    @property
    def own(self) -> OwnClaim:
        """The claim as the use case takes it."""
        return OwnClaim(claim=self.claim, source=self.source, in_access_token=self.in_access_token)


class ServiceAssignment(msgspec.Struct, kw_only=True):
    """A subject of the organization that the service is assigned to, with roles of the service."""

    subject: Annotated[
        str,
        msgspec.Meta(
            description="`everyone`, `role:` and the slug of a role, `group:` and the id of a group of your directory,"
            " or `user:` and the id of an active member."
        ),
    ]
    roles: list[str] = msgspec.field(default_factory=list[str])

    @classmethod
    def of(cls, assignment: Assignment) -> Self:
        """Return an assignment as the interface shows it."""
        return cls(subject=assignment.subject, roles=assignment.roles)

    @property
    def own(self) -> Assignment:
        """The assignment as the use case takes it."""
        return Assignment(subject=self.subject, roles=self.roles)


ServiceAssignments = Annotated[
    list[ServiceAssignment],
    msgspec.Meta(
        description=f"The assignments of the service to your members; at most {ASSIGNMENTS_MAX}. The roles of all that"
        " fit a member, and of a repeated subject, add up. It takes `org.members.view` to read and to set them."
    ),
]


class NewService(Input, of=ServiceFields):
    """A new service: a slug for paths, which never changes, a name for people, and its type."""

    assignments: ServiceAssignments | msgspec.UnsetType = msgspec.UNSET
    claims: list[ServiceClaim] = msgspec.field(default_factory=list[ServiceClaim])


class ServiceChange(Change, of=ServiceFields, without=("slug",)):
    """The fields to change, at least one; omitted fields keep their values, and lists are replaced."""

    assignments: ServiceAssignments | msgspec.UnsetType = msgspec.UNSET
    claims: list[ServiceClaim] | msgspec.UnsetType = msgspec.UNSET

    def given(self) -> dict[str, Any]:
        """Return the fields that the request names."""
        given = super().given()
        given.pop("assignments", None)
        return given | ({"claims": [one.own for one in given["claims"]]} if "claims" in given else {})


class ServiceRecord(Record, of=Service, without=("updated_at",)):
    """A service. Clients of OpenID Connect use `client_id`; it never changes."""

    claims: list[ServiceClaim]
    assignments: ServiceAssignments | msgspec.UnsetType

    @classmethod
    def of(cls, entity: AssignedService, **more: Any) -> Self:
        """Return the record of a service."""
        service, assigned = entity.service, entity.assignments
        return super().of(
            service,
            claims=[ServiceClaim.of(one) for one in service.claims],
            assignments=[ServiceAssignment.of(one) for one in assigned] if assigned is not None else msgspec.UNSET,
            **more,
        )


class ServiceItem(ServiceRecord):
    """A service in a list, with the numbers of its plans and of the users who are subscribed to it."""

    plan_count: int
    subscription_count: int

    @classmethod
    def counted(cls, counted: CountedService) -> Self:
        """Return the item of a service."""
        return cls.of(counted, plan_count=counted.plan_count, subscription_count=counted.subscription_count)


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


class SecretRotation(msgspec.Struct, kw_only=True):
    """For how long the previous secret is taken beside the new one."""

    keep_previous_hours: Annotated[int, msgspec.Meta(ge=0, le=KEEP_PREVIOUS_HOURS_MAX)] = 0


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


@routes.post("/api/organizations/:org_slug/services", refuses=(ServiceLimitExceeded, ServiceSlugTaken, AudienceTaken))
@in_organization(Operation.SERVICE_CREATE)
async def create_service(call: Call, org_slug: str, body: NewService) -> ServiceCreated:
    """Create a service, with a default plan named Free.

    A `web` or `api` service gets a client secret. Store it: it cannot be shown again, only replaced. With a
    `security_profile` it gets none: it authenticates by its `jwks` or `jwks_uri` alone.
    """
    given = body.to(ServiceFields, claims=[one.own for one in body.claims])
    created = await call.transact(
        management.create, org_slug, given, outside=outside(call), assigned=_assigned(body.assignments)
    )
    return ServiceCreated(
        service=ServiceRecord.of(created),
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
    return ServiceRecord.of(await call.read(admission.read, org_slug, service_slug))


@routes.patch(
    "/api/organizations/:org_slug/services/:service_slug", refuses=(ServiceUnknown, AudienceTaken, CustomersRemain)
)
@on_service(Operation.SERVICE_UPDATE)
async def change_service(call: Call, org_slug: str, service_slug: str, body: ServiceChange) -> ServiceRecord:
    """Change a service. Lists are replaced, not merged.

    A service that becomes `mobile` or `desktop` loses its secret. One that becomes `web` or `api` has none until you
    rotate it. One that gets a `security_profile` loses its secret, and its tokens that are bound to no key are refused
    from then on: its users sign in again.
    """
    changed = await call.transact(
        management.change_assigned,
        org_slug,
        service_slug,
        body.given(),
        outside=outside(call),
        assigned=_assigned(body.assignments),
    )
    return ServiceRecord.of(changed)


@routes.delete(
    "/api/organizations/:org_slug/services/:service_slug",
    status=204,
    refuses=(ServiceSubscribed, CustomersRemain, ServiceUnknown),
)
@in_organization(Operation.SERVICE_DELETE)
async def delete_service(call: Call, org_slug: str, service_slug: str) -> None:
    """Delete a service and everything that belongs to it, permanently: plans, API keys, end users and their sessions.

    The accounts of the end users remain. A service with active subscriptions cannot be deleted.
    """
    await call.transact(management.delete, org_slug, service_slug)


@routes.post(
    "/api/organizations/:org_slug/services/:service_slug/secret/rotate",
    refuses=(ServiceNotConfidential, ServiceHasKeysAlone, ServiceUnknown),
)
@on_service(Operation.SERVICE_SECRET_ROTATE)
async def rotate_secret(call: Call, org_slug: str, service_slug: str, body: SecretRotation) -> SecretRotated:
    """Replace the client secret of a confidential service.

    The old one stops working at once, or after `keep_previous_hours`, as `previous_secret_expires_at` says then.
    """
    rotated = await call.transact(
        client_secrets.rotate_secret, org_slug, service_slug, keep_previous_hours=body.keep_previous_hours
    )
    return SecretRotated(service=ServiceRecord.of(rotated), client_secret=rotated.client_secret.reveal())


def _assigned(given: ServiceAssignments | msgspec.UnsetType) -> list[Assignment] | None:
    return [one.own for one in given] if given is not msgspec.UNSET else None
