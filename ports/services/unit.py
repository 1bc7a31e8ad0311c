"""The part of the unit of work that belongs to the area `services`."""

from typing import Final, Protocol

from core.services.api_keys import ServiceCaller
from ports.services.end_users import (
    EndUsers,
    FirstSignIns,
    FoundEndUsers,
    ServiceAssignments,
    ServiceGrants,
    ServiceUserMetadata,
)
from ports.services.sales import Plans, SalesBook, SoldSubscriptions, Subscriptions
from ports.services.services import (
    ApiKeys,
    ApplicationsOfUser,
    ClientProblems,
    FoundServicesOfOrganization,
    Services,
    VerifiedDomains,
    Workloads,
)


class ServicesUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    @property
    def service_caller(self) -> ServiceCaller:
        """The backend of a service that calls with an API key, loaded once; raise `ApiKeyInvalid`."""
        ...

    api_keys: Final[ApiKeys]
    applications: Final[ApplicationsOfUser]
    service_assignments: Final[ServiceAssignments]
    service_grants: Final[ServiceGrants]
    sales: Final[SalesBook]
    sold_subscriptions: Final[SoldSubscriptions]
    services: Final[Services]
    plans: Final[Plans]
    subscriptions: Final[Subscriptions]
    end_users: Final[EndUsers]
    first_sign_ins: Final[FirstSignIns]
    service_user_metadata: Final[ServiceUserMetadata]
    found_end_users: Final[FoundEndUsers]
    found_services: Final[FoundServicesOfOrganization]
    client_problems: Final[ClientProblems]
    workloads: Final[Workloads]
    verified_domains: Final[VerifiedDomains]
