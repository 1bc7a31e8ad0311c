"""The part of the unit of work that belongs to the area `service_api`."""

from typing import Final, Protocol

from ports.service_api.service_api import ServiceFigures, ServiceSubscriptions, ServiceUsers


class ServiceApiUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    service_users: Final[ServiceUsers]
    service_subscriptions: Final[ServiceSubscriptions]
    service_figures: Final[ServiceFigures]
