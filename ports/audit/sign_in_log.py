"""The log of sign-ins behind plots."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Protocol
from uuid import UUID

from core.audit.analytics import Period
from core.audit.sign_in_counts import SignInFilter
from core.audit.sign_in_log import ActiveUser, LoggedSignIn, SignInPerson
from core.positions import Position


class SignInLog(Protocol):
    """The sign-ins to an organization; with None as its id, those of the whole platform. Days are in UTC."""

    def listed(
        self,
        organization_id: UUID | None,
        asked: SignInFilter,
        *,
        days: Sequence[date],
        after: Position | None,
        limit: int,
    ) -> Sequence[LoggedSignIn]:
        """List the sign-ins of these days that fit the filter, the newest first.

        An organization is shown the names of its confirmed members and end users alone.
        """
        ...

    def of_person(
        self, person: SignInPerson, asked: SignInFilter, *, after: Position | None, limit: int
    ) -> Sequence[LoggedSignIn]:
        """List the sign-ins of one person that fit the filter, the newest first."""
        ...

    def of_address(
        self,
        organization_id: UUID | None,
        asked: SignInFilter,
        *,
        after: Position | None,
        limit: int,
        looked_at_max: int,
    ) -> tuple[Sequence[LoggedSignIn], UUID | None]:
        """List the sign-ins that fit the filter among the newest from its address, the newest first.

        At most `looked_at_max` are read. If that ends the search early, the id of the last one read is returned as
        well, else None.
        """
        ...

    def active_in(
        self, organization_id: UUID | None, period: Period, newer_since: datetime | None, *, after: UUID, limit: int
    ) -> Sequence[ActiveUser]:
        """List the users with an id above this one who signed in on a day of the period, ordered by their ids.

        An organization is shown the names of its own members and end users alone. For the platform only the last thirty
        days are kept.
        """
        ...

    def service_names(self, organization_id: UUID, limit: int) -> Sequence[tuple[UUID, str]]:
        """Return the ids and names of services of an organization, ordered by name."""
        ...
