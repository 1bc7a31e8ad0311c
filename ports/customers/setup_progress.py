"""Reading how far the setup is that vendors do for their customers."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.customers.setup_progress import CustomerTrouble, MadeSoFar
from core.services.services import Service


class CustomerSetupProgresses(Protocol):
    """The things that the vendor of a service has made for its customers, in the parts that it may set up."""

    def made(self, service: Service, customer_ids: Sequence[UUID]) -> Sequence[MadeSoFar]:
        """Count the things made for each of these customers, without customers that never had any."""
        ...

    def troubles(self, service: Service, customer_ids: Sequence[UUID]) -> Sequence[CustomerTrouble]:
        """Return what fails at these customers, the last to begin first."""
        ...
