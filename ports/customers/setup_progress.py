"""Storage of what vendors have made for customers, as far as it says how far their setup is."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.customers.setup_progress import CustomerTrouble, MadeSoFar
from core.services.services import Service


class CustomerSetupProgresses(Protocol):
    """What the vendor of a service has made for its customers, in the parts that it may set up."""

    def made(self, service: Service, customer_ids: Sequence[UUID]) -> Sequence[MadeSoFar]:
        """Count what is made for each of these customers, without those for which nothing ever was."""
        ...

    def troubles(self, service: Service, customer_ids: Sequence[UUID]) -> Sequence[CustomerTrouble]:
        """Return what fails at these customers, the last to begin first."""
        ...
