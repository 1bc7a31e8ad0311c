"""Storage of services: their keys, workloads, domains and problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from core.organizations.organizations import Organization
from core.positions import Position
from core.prefixed_tokens import PrefixedToken
from core.services.api_keys import ApiKey, ApiKeysPage, ListedApiKey, ServiceCaller
from core.services.applications import Application
from core.services.found_services import ListedService, ServiceEnding
from core.services.management import ServicesPage, Usage
from core.services.problems import ClientProblem, ProblemKind
from core.services.services import Service, ServiceType
from core.services.workload_rules import RefusedAssertion, Workload
from core.services.workloads import HeldKey, WorkloadHolder
from core.sessions.caller_limits import Confinement


class Services(Protocol):
    """The services of organizations, and the users who sign in to them."""

    def by_slug(self, organization_id: UUID, slug: str) -> Service | None:
        """Return a service of an organization; None when there is none with that slug."""
        ...

    def by_id(self, organization_id: UUID, service_id: UUID) -> Service | None:
        """Return a service of an organization; None when there is none with that id."""
        ...

    def ids_by_slug(self, organization_id: UUID, slugs: Sequence[str]) -> Mapping[str, UUID]:
        """Return the ids of the services of an organization with these slugs, by slug, in the order of the slugs."""
        ...

    def usage(self, organization: Organization) -> Usage:
        """Return the number of services that the organization has, and its limit."""
        ...

    def page(
        self, organization: Organization, *, service_type: ServiceType | None, limit: int | None, offset: int
    ) -> ServicesPage:
        """Return services with their counts, the oldest first, and the usage; in one statement."""
        ...

    def names(self, organization_id: UUID, *, limit: int) -> Mapping[str, str]:
        """Return the names of the services of an organization by their slugs, in the order of the names."""
        ...

    def unknown_scope(self, organization_id: UUID, names: Sequence[str]) -> str | None:
        """Return the first of these scopes that no service of an organization has; None without one."""
        ...

    def add(self, service: Service, *, client_secret_hash: bytes | None) -> bool:
        """Store a new service; False when the slug is taken."""
        ...

    def save(self, service: Service) -> None:
        """Store the new state of a service; its slug and client id do not change."""
        ...

    def claim_audiences(self, service: Service) -> str | None:
        """Reserve the audiences of a service for it alone; return one that another service has, else None."""
        ...

    def set_client_secret(
        self, service: Service, client_secret_hash: bytes | None, *, previous_until: datetime | None
    ) -> None:
        """Replace the stored hash of the secret; None removes it. The old secret stays valid until `previous_until`."""
        ...

    def lock(self, service: Service) -> None:
        """Lock a service until this transaction ends, so that no new row refers to it."""
        ...

    def remove(self, service: Service) -> None:
        """Delete a locked service that has no live subscriptions, with everything that belongs to it."""
        ...

    def link_user(self, service: Service, user_id: UUID, *, at: datetime) -> None:
        """Record that a user signed in to a service: the times of the first and the last sign-in.

        A link that is made or used while its user is a member counts from then on as given with the membership.
        """
        ...

    def note_visit(self, service: Service, user_id: UUID, *, at: datetime) -> None:
        """Record the sign-in of a user whose link is locked and has been used before, as `Place` says."""
        ...


class FoundServicesOfOrganization(Protocol):
    """Searches the services of organizations, and counts what belongs to one."""

    def page(
        self, organization_id: UUID, *, part: str, after: Position | None, limit: int, users_max: int
    ) -> Sequence[ListedService]:
        """Return services whose name or slug has a part, in lower case, the oldest first.

        At most `users_max` users of each are counted.
        """
        ...

    def count(self, organization_id: UUID, *, part: str, counted_max: int) -> int:
        """Return how many services are found, at most `counted_max`."""
        ...

    def figures(self, organization_id: UUID, service_id: UUID) -> ServiceEnding:
        """Count what belongs to a service, where there may be much of it up to one more than `COUNTED_MAX`."""
        ...


class ApplicationsOfUser(Protocol):
    """The services that a user has signed in to; links that the user has never used do not count."""

    def of_user(self, user_id: UUID, *, limits: Confinement | None, limit: int) -> tuple[Sequence[Application], int]:
        """Return the applications of a user within limits, the one used last first, and how many there are."""
        ...

    def find(self, user_id: UUID, service_id: UUID, *, limits: Confinement | None) -> Application | None:
        """Return one of them; None when the user has none with that id within the limits."""
        ...


class VerifiedDomains(Protocol):
    """Tells which hosts belong to an organization."""

    def cover(self, organization_id: UUID, host: str, /) -> bool:
        """Return whether a host is a verified domain of the organization, or lies under one; a custom domain is not."""
        ...


class ClientProblems(Protocol):
    """The last refused requests in the name of each service, `KEPT_OF_KIND` of each kind."""

    def add(self, organization_id: UUID, service_id: UUID, problem: ClientProblem, *, network: str) -> None:
        """Add a problem, unless there is one of its kind, network and minute, or the service is being deleted.

        If there are too many, it replaces the oldest problem of the network that has most of them.
        """
        ...

    def of_service(self, organization_id: UUID, service_id: UUID, *, since: datetime) -> Sequence[ClientProblem]:
        """Return the problems of a service since then, newest first."""
        ...

    def remove(self, organization_id: UUID, service_id: UUID, kind: ProblemKind, sent: str) -> None:
        """Delete the problems of a kind whose request sent this value."""
        ...


class ApiKeys(Protocol):
    """The API keys of services, and the callers behind them."""

    def callers(self, key: PrefixedToken) -> Sequence[ServiceCaller]:
        """Return the callers whose keys have this prefix, with service and organization, in one statement."""
        ...

    def record_use(self, caller: ServiceCaller, *, at: datetime) -> None:
        """Record that the key was used, unless a concurrent transaction does so; never wait for one."""
        ...

    def add(self, service: Service, key: ApiKey, *, key_hash: bytes) -> None:
        """Store a new key."""
        ...

    def count(self, service: Service) -> int:
        """Count the keys of a service."""
        ...

    def page(self, service: Service, *, limit: int, offset: int) -> ApiKeysPage:
        """Return the keys of a service, the newest first, and their number, in one statement."""
        ...

    def of_service(self, service: Service) -> Sequence[ListedApiKey]:
        """Return all keys of a service with the addresses of their makers, the newest first."""
        ...

    def find(self, service: Service, key_id: UUID) -> ApiKey | None:
        """Return a key of a service; None when there is none with that id."""
        ...

    def remove(self, service: Service, key_id: UUID) -> ApiKey | None:
        """Delete a key and return it; None when there is none. Of concurrent calls one gets it."""
        ...


class Workloads(Protocol):
    """The workloads of services and of keys of organizations."""

    def of_holder(self, holder: WorkloadHolder) -> Sequence[Workload]:
        """List the workloads of a service or of a key, the newest first."""
        ...

    def add(
        self,
        holder: WorkloadHolder,
        workload: Workload,
        *,
        created_by: UUID,
        has_second_factor: bool,
        is_phishing_resistant: bool,
    ) -> None:
        """Store a new workload with its maker, and which kind of second factor the maker's session had, if any."""
        ...

    def remove(self, holder: WorkloadHolder, workload_id: UUID) -> Workload | None:
        """Delete a workload and return it; None when there is none. Of concurrent calls one gets it."""
        ...

    def remove_of_makers(
        self, user_ids: Sequence[UUID], organization_id: UUID | None
    ) -> Sequence[tuple[UUID, Workload]]:
        """Delete the workloads of keys that these users have made, in one organization or all.

        Return them with the ids of their organizations.
        """
        ...

    def key(self, key_id: UUID) -> HeldKey | None:
        """Return a key with its organization; None when its maker is deactivated or locked, or there is none."""
        ...

    def is_live(self, holder: WorkloadHolder, workload_id: UUID) -> bool:
        """Return whether the service has a workload with this id."""
        ...

    def record_use(self, holder: WorkloadHolder, workload_id: UUID, *, at: datetime) -> None:
        """Record that a workload got a token, unless a concurrent transaction does so; never wait for one."""
        ...

    def record_refusals(
        self, holder: WorkloadHolder, refusals: Sequence[tuple[UUID, RefusedAssertion]], *, every: timedelta
    ) -> None:
        """Store each workload's last refusal, unless the stored one is younger than `every`; never wait for a lock."""
        ...
