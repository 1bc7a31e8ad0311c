"""What the core asks of the stored relations."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.organizations.relations import Object, Relation


class Relations(Protocol):
    """Who is what to what: the view over memberships and service grants."""

    def between(self, object_: Object, user_id: UUID) -> Sequence[Relation]:
        """List what a person is to an object and to the organization that it belongs to, in one statement."""
        ...
