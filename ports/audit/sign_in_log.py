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

        An organization sees who it was of its own members and end users alone, who have confirmed that.
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
        """List those of the newest sign-ins from the filter's address that fit the rest of it, the newest first.

        The id is that of the last one that was looked at, where others may come before it; None after a whole page.
        """
        ...

    def active_in(
        self, organization_id: UUID | None, period: Period, newer_since: datetime | None, *, after: UUID, limit: int
    ) -> Sequence[ActiveUser]:
        """List the users with an id above this one who signed in on a day of the period, ordered by their ids.

        An organization sees who it was of its own members and end users alone. The platform has no days before the last
        thirty.
        """
        ...

    def service_names(self, organization_id: UUID, limit: int) -> Sequence[tuple[UUID, str]]:
        """Return the ids and names of services of an organization, ordered by name."""
        ...
