"""Storage of the problems of clients: requests in the name of a service that were refused."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.services.problems import ClientProblem, ProblemKind


class ClientProblems(Protocol):
    """The last refused requests in the name of each service, `KEPT_OF_KIND` of each kind."""

    def add(self, organization_id: UUID, service_id: UUID, problem: ClientProblem, *, network: str) -> None:
        """Add a problem, unless there is one of its kind, network and minute, or the service is being deleted.

        If there are too many, it replaces the oldest problem of the network that has most of them.
        """
        ...

    def of_service(self, organization_id: UUID, service_id: UUID, *, since: datetime) -> Sequence[ClientProblem]:
        """Return the problems of a service since then, newest first."""
        ...

    def remove(self, organization_id: UUID, service_id: UUID, kind: ProblemKind, sent: str) -> None:
        """Delete the problems of a kind whose request sent this value."""
        ...
