"""Searching the stored audit logs of the organizations and of the platform."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from core.audit.audit_log import FoundEntry, SearchedEntries
from core.audit.search import EntrySearch
from core.ids import LAST_ID


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
    ) -> SearchedEntries:
        """Return a part of the entries with ids before this one that a search finds, the newest first."""
        ...

    def listed(
        self, organization_id: UUID | None, search: EntrySearch, *, limit: int, before_id: UUID
    ) -> SearchedEntries:
        """Return what `find` does, without counting: `total` is the number of entries in the part."""
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
