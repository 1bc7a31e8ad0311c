"""Finding anything on the platform by an id, a slug or a domain."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.platform.search import SearchHit


class PlatformSearches(Protocol):
    """Look-ups of single values by indexes."""

    def by_id(self, row_id: UUID, *, hides_owners: bool) -> Sequence[SearchHit]:
        """Return the user, organization, session or service with this id, or the service with this client id.

        With `hides_owners` nothing of a platform owner is found.
        """
        ...

    def by_request(self, request_id: str, *, hides_owners: bool) -> Sequence[SearchHit]:
        """Return the sign-ins of a request."""
        ...

    def by_slug_or_domain(self, text: str) -> Sequence[SearchHit]:
        """Return the organization with this slug, and those that claim this domain."""
        ...
