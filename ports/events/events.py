"""Events: what is noted with a change, and the actions that link to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID

from core.events.actions import AlikeTargets, AuditAction, PlatformAction
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


class AuditEntries(Protocol):
    """Entries of the organizations' audit logs, with the address and user agent of the request."""

    def add(
        self,
        action: AuditAction,
        target_id: UUID | str,
        /,
        *,
        organization_id: UUID,
        actor_user_id: UUID | None,
        success: bool,
        details: Mapping[str, Any],
        has_origin: bool = True,
    ) -> None:
        """Add an entry; one without an origin has neither the address and user agent of the request nor its id."""
        ...

    def add_alike(self, action: AuditAction, alike: Sequence[AlikeTargets], /) -> None:
        """Add one entry for each target, many in one statement, without an actor."""
        ...

    def add_each_without_origin(
        self, action: AuditAction, entries: Sequence[tuple[UUID, UUID, Mapping[str, Any]]], /
    ) -> None:
        """Add one entry for each organization, target id and details, in one statement, without actor and origin."""
        ...


class PlatformAuditEntries(Protocol):
    """Entries of the platform's audit log, with the address and user agent of the request."""

    def add(
        self,
        action: PlatformAction,
        target_id: UUID | str,
        /,
        *,
        actor_user_id: UUID | None,
        organization_id: UUID | None,
        details: Mapping[str, Any],
    ) -> UUID:
        """Add an entry and return its id; without an actor Gatehouse itself or an operator did it, by a command."""
        ...
