"""Storage of the credentials that keys of organizations have made."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.organizations.made_by_keys import EndedWithKey, MadeByKeyPage


class MadeByKeys(Protocol):
    """API keys of services, SCIM tokens and setup links, by the keys of organizations that have made them."""

    def page(self, organization_id: UUID, key_id: UUID, *, limit: int, offset: int) -> MadeByKeyPage:
        """Return the credentials that a key has made, newest first, without setup links that have expired."""
        ...

    def links(self, organization_id: UUID, key_id: UUID) -> Sequence[EndedWithKey]:
        """Return the valid setup links of a key, which end with its row."""
        ...

    def end(self, organization_id: UUID, key_id: UUID, *, limit: int) -> Sequence[EndedWithKey]:
        """Delete the SCIM tokens that a key or its setup links made, and at most `limit` API keys; return them."""
        ...
