"""The audit log and the sign-in log: their lists, searches, counts and figures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Protocol
from uuid import UUID

from core.audit.analytics import DailyLogins, Period, ProviderLogins, RecentLogin, ServiceLogins
from core.audit.audit_log import AuditLogEntry, AuditLogFilter, FoundEntry, SearchedEntries
from core.audit.entry_search import EntrySearch
from core.audit.person_records import PersonService, PersonSession
from core.audit.sign_in_counts import ActiveUsers, SignInFigures, SignInFilter, SignInsOfDay
from core.audit.sign_in_log import ActiveUser, LoggedSignIn, SignInPerson
from core.ids import LAST_ID
from core.positions import Position


class AuditLog(Protocol):
    """The audit logs of the organizations."""

    def page(
        self, organization_id: UUID, wanted: AuditLogFilter, *, limit: int, offset: int
    ) -> tuple[int, Sequence[AuditLogEntry]]:
        """Return the total and a page of entries, newest first, from one snapshot, so that none is counted twice."""
        ...

    def count_next(self, before: UUID, limit: int) -> int:
        """Add the next uncounted entries, at most `limit`, with ids below `before` to the totals; return how many.

        Of concurrent transactions one counts, and the others return 0.
        """
        ...


class AuditSearches(Protocol):
    """Searches one log at a time: an organization's, or the platform's where no organization is given."""

    def user_of(self, email: str) -> UUID | None:
        """Return the id of the account with an address; None when there is none."""
        ...

    def has_request(self, request_id: str) -> bool:
        """Return whether the platform's log has an entry by a request."""
        ...

    def invitation_to(self, organization_id: UUID | None, email: str) -> UUID | None:
        """Return the newest invitation of an organization to an address; None when it has none."""
        ...

    def target_type_of(self, organization_id: UUID | None, target_id: str, target_types: Collection[str]) -> str | None:
        """Return the first of these types under which the log has entries of a target; None when it has none."""
        ...

    def find(
        self,
        organization_id: UUID | None,
        search: EntrySearch,
        *,
        limit: int,
        offset: int = 0,
        before_id: UUID = LAST_ID,
        is_counted: bool = True,
    ) -> SearchedEntries:
        """Return a part of the entries with ids before this one that a search finds, the newest first.

        If they are not counted, `total` is the number of entries in the part.
        """
        ...

    def entry(self, organization_id: UUID | None, entry_id: UUID) -> FoundEntry | None:
        """Return an entry; None when the log has none with this id."""
        ...

    def sealed_after(
        self, organization_id: UUID, search: EntrySearch, *, after: int, through: int, limit: int
    ) -> Sequence[FoundEntry]:
        """Return the matches with positions after one and up to another in the chain, the oldest first."""
        ...

    def written_after(self, search: EntrySearch, *, after_id: UUID, limit: int) -> Sequence[FoundEntry]:
        """Return the matches of the platform's log with ids after this one, the newest first."""
        ...

    def names(self, organization_id: UUID | None, ids: Collection[UUID]) -> Mapping[UUID, str]:
        """Return the present names and addresses for the ids in entries, as far as the organization may see them.

        Without an organization, return all of them.
        """
        ...

    def impersonators(self, ids: Collection[UUID]) -> Mapping[UUID, str]:
        """Return the addresses of the platform owners who have acted as users."""
        ...

    def newest_positions(self, organization_ids: Collection[UUID]) -> Mapping[UUID, int]:
        """Return the last sealed position of each organization that has one."""
        ...

    def newest_of_platform(self) -> UUID | None:
        """Return the id of the newest entry of the platform's log; None when it is empty."""
        ...


class PersonRecords(Protocol):
    """The records of one person in one organization."""

    def services(self, organization_id: UUID, user_id: UUID) -> Sequence[PersonService]:
        """List the services of the organization that a person is linked to, by slug."""
        ...

    def sessions(self, organization_id: UUID, user_id: UUID, *, limit: int) -> tuple[Sequence[PersonSession], int]:
        """Return the live sessions of a person that the organization can end, the last used first, and their number."""
        ...

    def entries(self, organization_id: UUID, user_id: UUID, *, limit: int) -> Sequence[FoundEntry]:
        """Return the newest entries of the organization's audit log about a person or by them, the newest first."""
        ...


class Analytics(Protocol):
    """The successful sign-ins in the context of an organization; days are in UTC."""

    def by_day(self, organization_id: UUID, period: Period) -> Sequence[DailyLogins]:
        """Count the sign-ins of each day that had any, in chronological order."""
        ...

    def by_service(self, organization_id: UUID, period: Period) -> Sequence[ServiceLogins]:
        """Count the sign-ins to each service that had any, the most used first."""
        ...

    def by_provider(self, organization_id: UUID, period: Period) -> Sequence[ProviderLogins]:
        """Count the sign-ins by each provider that was used, the most used first."""
        ...

    def recent(self, organization_id: UUID, limit: int) -> Sequence[RecentLogin]:
        """List the latest sign-ins, newest first."""
        ...


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


class SignInCounts(Protocol):
    """The counts of an organization; with None as its id, those of the whole platform. Days are in UTC.

    Sign-ins that are not counted yet are added from the log in the same snapshot, where `newer_since` is given: the
    time since which they happened. Without it, they are left out.
    """

    def count_next(self, before: UUID, limit: int) -> int:
        """Count the next login events with an id below this one, at most `limit`; return how many.

        Each is counted once. Return 0 also while another process counts.
        """
        ...

    def forget_days(self, before: date, limit: int) -> int:
        """Delete at most `limit` records of users' activity on days before this one; return how many."""
        ...

    def counted_through(self) -> UUID | None:
        """Return the id up to which login events are counted; None before the first time."""
        ...

    def first_uncounted(self, before: UUID) -> UUID | None:
        """Return the id of the first login event below this one that is not counted; None when there is none."""
        ...

    def figures(self, organization_id: UUID | None, period: Period, newer_since: datetime | None) -> SignInFigures:
        """Return the sign-ins of a period by day, reason, provider and service, without those that had none."""
        ...

    def active_users(
        self, organization_id: UUID | None, period: Period, newer_since: datetime | None
    ) -> Sequence[ActiveUsers]:
        """Return the active users of every day of the period, in chronological order."""
        ...

    def by_day(
        self, organization_id: UUID | None, asked: SignInFilter, newer_since: datetime | None
    ) -> Sequence[SignInsOfDay]:
        """Count the sign-ins that fit the filter on each day that has any, the latest day first."""
        ...

    def first_at(self, organization_id: UUID | None) -> datetime | None:
        """Return the time of the first sign-in that the log has; None when it has none."""
        ...
