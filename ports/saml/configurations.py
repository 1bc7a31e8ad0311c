"""Storage of SAML configurations, and of what the public endpoints read."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.saml.admission import AdmissionStanding
from core.saml.configuration import ConfigurationView, SamlConfiguration
from core.saml.contacts import LastContact
from core.saml.providers import SamlProvider
from core.services.services import Service


class SamlConfigurations(Protocol):
    """The SAML configurations of services, at most one each."""

    def view(self, service: Service) -> ConfigurationView:
        """Return the configuration of a service, and whether it has an active certificate; the defaults without one."""
        ...

    def save(self, configuration: SamlConfiguration, *, at: datetime) -> None:
        """Store the configuration of a service; if its entity id changes, delete the record of received requests."""
        ...

    def last_contact(self, service: Service) -> LastContact | None:
        """Return when the service provider was last accepted and last refused; None without a configuration."""
        ...

    def record_request(self, provider: SamlProvider, *, at: datetime, unless_since: datetime) -> None:
        """Store when a request was accepted, unless another one was after `unless_since`."""
        ...

    def record_error(self, provider: SamlProvider, error: str, *, at: datetime, unless_since: datetime) -> None:
        """Store why a request was refused, unless another one was after `unless_since`."""
        ...


class SamlProviders(Protocol):
    """The identity providers of services, for requests of browsers and service providers."""

    def find(self, organization_slug: str, service_slug: str) -> SamlProvider | None:
        """Return the identity provider of a service with a configuration, in one statement; else None."""
        ...

    def by_id(self, organization_id: UUID, service_id: UUID) -> SamlProvider | None:
        """Return the identity provider of a service with a configuration, in one statement; else None."""
        ...

    def defer_standing(self, provider: SamlProvider, user_id: UUID) -> Deferred[AdmissionStanding | None]:
        """Defer reading a user's standing at the organization and the service; None when there is no such account."""
        ...
