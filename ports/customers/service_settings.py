"""Counting the uses of a role of a service: assignments of its customers, and roles that its program has given."""

from typing import Protocol

from core.customers.service_settings import RoleUses
from core.services.services import Service


class ServiceRoleUses(Protocol):
    """The uses of the roles of a service, by its customers and by its own program."""

    def count(self, service: Service, name: str, *, counted_max: int) -> RoleUses:
        """Count the assignments with a role, and the people who have it otherwise, each up to `counted_max`."""
        ...
