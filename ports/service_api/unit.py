"""The part of the unit of work that belongs to the area `service_api`."""

from typing import Final, Protocol

from ports.service_api.analytics import ServiceFigures
from ports.service_api.subscriptions import ServiceSubscriptions
from ports.service_api.users import ServiceUsers


class ServiceApiUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    service_users: Final[ServiceUsers]
    service_subscriptions: Final[ServiceSubscriptions]
    service_figures: Final[ServiceFigures]
