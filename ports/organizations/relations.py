"""Reading relations."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.organizations.relations import Relation, RelationObject


class Relations(Protocol):
    """The relation tuples: a view over memberships and service grants."""

    def between(self, object_: RelationObject, user_id: UUID) -> Sequence[Relation]:
        """List a user's relations to an object and to the organization it belongs to, in one statement."""
        ...
