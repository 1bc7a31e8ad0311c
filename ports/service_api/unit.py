"""The part of the unit of work that belongs to the area `service_api`."""

from typing import Protocol

from ports.service_api.analytics import ServiceFigures
from ports.service_api.subscriptions import ServiceSubscriptions
from ports.service_api.users import ServiceUsers


class ServiceApiUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    @property
    def service_users(self) -> ServiceUsers: ...

    @property
    def service_subscriptions(self) -> ServiceSubscriptions: ...

    @property
    def service_figures(self) -> ServiceFigures: ...
