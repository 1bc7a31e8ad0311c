"""Figures about the users of a service."""

from datetime import datetime
from typing import Protocol

from core.service_api.analytics import ServiceAnalytics
from core.services.api_keys import ServiceCaller


class ServiceFigures(Protocol):
    """Figures about one service."""

    def read(self, caller: ServiceCaller, *, since: datetime) -> ServiceAnalytics:
        """Return the figures of the service of an API key; those of a period begin at `since`."""
        ...
