"""Storage of the troubles of clients."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.services.problems import ClientProblem, ProblemKind


class ClientProblems(Protocol):
    """Of each service, the requests in its name that were refused last: `KEPT_OF_KIND` of each kind."""

    def add(self, organization_id: UUID, service_id: UUID, problem: ClientProblem, *, network: str) -> None:
        """Add a problem, unless there is one of its kind, network and minute, or the service is being deleted.

        It takes the place of the oldest of the network that has most.
        """
        ...

    def of_service(self, organization_id: UUID, service_id: UUID, *, since: datetime) -> Sequence[ClientProblem]:
        """Return those of a service, newest first."""
        ...

    def remove(self, organization_id: UUID, service_id: UUID, kind: ProblemKind, sent: str) -> None:
        """Forget those of a kind in which this was sent."""
        ...
