"""Storage of API keys."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.prefixed_tokens import PrefixedToken
from core.services.api_keys import ApiKey, ApiKeysPage, ListedApiKey, ServiceCaller
from core.services.services import Service


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
