"""Storage of the results of checks of connections, and of the reasons why sign-ins by them failed."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from core.sign_in.upstream.failures import ConnectionProgress, UpstreamFailure
from core.sign_in.upstream.provider_problems import ProviderProblem


class UpstreamFailures(Protocol):
    """The problems of connections; they end with their connection."""

    def add(
        self,
        organization_id: UUID,
        connection_id: UUID,
        problem: ProviderProblem,
        *,
        at: datetime,
        request_id: str,
        series: timedelta,
    ) -> None:
        """Count a problem of a connection; do nothing when the organization has no such connection.

        A problem that has not occurred for the time `series` is counted from one again.
        """
        ...

    def of_connection(self, organization_id: UUID, connection_id: UUID, *, limit: int) -> Sequence[UpstreamFailure]:
        """List the problems of a connection, the newest first."""
        ...

    def last_of_each(self, organization_id: UUID) -> Mapping[UUID, UpstreamFailure]:
        """Return the newest problem of each connection of an organization that has one, by the connection's id."""
        ...

    def save_check(
        self, organization_id: UUID, connection_id: UUID, problem: ProviderProblem | None, *, at: datetime
    ) -> None:
        """Store the result of a check of a connection."""
        ...

    def progress(self, organization_id: UUID) -> Sequence[ConnectionProgress]:
        """Return the progress of each connection of an organization."""
        ...
