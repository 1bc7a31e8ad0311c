"""The part of the unit of work that belongs to the area `services`."""

from typing import Protocol

from core.services.api_keys import ServiceCaller
from ports.services.api_keys import ApiKeys
from ports.services.applications import ApplicationsOfUser
from ports.services.assignments import ServiceAssignments
from ports.services.end_users import EndUsers
from ports.services.first_sign_ins import FirstSignIns
from ports.services.found_end_users import FoundEndUsers
from ports.services.found_services import FoundServicesOfOrganization
from ports.services.grants import ServiceGrants
from ports.services.plans import Plans
from ports.services.problems import ClientProblems
from ports.services.sales import SalesBook
from ports.services.services import Services
from ports.services.sold_subscriptions import SoldSubscriptions
from ports.services.subscriptions import Subscriptions
from ports.services.user_metadata import ServiceUserMetadata
from ports.services.verified_domains import VerifiedDomains
from ports.services.workloads import Workloads


class ServicesUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    @property
    def service_caller(self) -> ServiceCaller:
        """The backend of a service that calls with an API key, loaded once; raise `ApiKeyInvalid`."""
        ...

    @property
    def api_keys(self) -> ApiKeys: ...

    @property
    def applications(self) -> ApplicationsOfUser: ...

    @property
    def service_assignments(self) -> ServiceAssignments: ...

    @property
    def service_grants(self) -> ServiceGrants: ...

    @property
    def sales(self) -> SalesBook: ...

    @property
    def sold_subscriptions(self) -> SoldSubscriptions: ...

    @property
    def services(self) -> Services: ...

    @property
    def plans(self) -> Plans: ...

    @property
    def subscriptions(self) -> Subscriptions: ...

    @property
    def end_users(self) -> EndUsers: ...

    @property
    def first_sign_ins(self) -> FirstSignIns: ...

    @property
    def service_user_metadata(self) -> ServiceUserMetadata: ...

    @property
    def found_end_users(self) -> FoundEndUsers: ...

    @property
    def found_services(self) -> FoundServicesOfOrganization: ...

    @property
    def client_problems(self) -> ClientProblems: ...

    @property
    def workloads(self) -> Workloads: ...

    @property
    def verified_domains(self) -> VerifiedDomains: ...
