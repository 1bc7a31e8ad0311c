"""Storage of events, to be written only; deliveries are derived from the rows."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID

from core.events.actions import AlikeTargets
from core.events.events import EventType


class Events(Protocol):
    """The events of this transaction."""

    def add(
        self,
        event: EventType,
        organization_ids: Sequence[UUID | None],
        /,
        *,
        actor_user_id: UUID | None,
        actor_email: str | None,
        data: Mapping[str, Any],
    ) -> None:
        """Add one event for each of these organizations, in one statement; None is for no organization."""
        ...

    def add_of_users(
        self,
        event: EventType,
        organization_id: UUID,
        happenings: Sequence[tuple[UUID, str, Mapping[str, Any]]],
        /,
    ) -> None:
        """Add one event of an organization for each user with their address and data, in one statement."""
        ...

    def add_each(self, event: EventType, happenings: Sequence[tuple[UUID, Mapping[str, Any]]], /) -> None:
        """Add one event for each pair of organization and data, in one statement, without an actor."""
        ...

    def add_alike(self, event: EventType, target_name: str, alike: Sequence[AlikeTargets], /) -> None:
        """Add one event for each target, many in one statement, without an actor.

        The data have the id of the target by this name.
        """
        ...
