"""What a use case records in its transaction: audit entries and events."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID

from core.events.actions import AlikeTargets, AuditAction, PlatformAction
from core.events.events import EventType


class Recording(Protocol):
    """Audit entries and events, written in the transaction of the change.

    Where no actor is named, the actor is the caller. The details of an entry name the impersonator, if there is one.
    """

    def record(
        self,
        action: AuditAction,
        target_id: UUID | str,
        /,
        *,
        organization_id: UUID,
        actor_user_id: UUID | None = None,
        actor_email: str | None = None,
        audit_only: Mapping[str, Any] | None = None,
        event_only: Mapping[str, Any] | None = None,
        **details: Any,
    ) -> None:
        """Add an audit entry and publish the event of the same name, both with these details.

        While the caller is impersonated, the entries of this method and of all others here name the impersonator and
        the session of the impersonation. Events do not.
        """
        ...

    def record_each(self, action: AuditAction, targets: Sequence[tuple[UUID, UUID]], /, **details: Any) -> None:
        """Record an action for each pair of organization and target id, many in two statements, without an actor.

        The event's data name the target, as `invitation_id` does, and the key or token of the caller.
        """
        ...

    def record_alike(self, action: AuditAction, alike: Sequence[AlikeTargets], /) -> None:
        """Do what `record_each` does, where the details are not the same for all targets."""
        ...

    def record_elsewhere(
        self,
        action: AuditAction,
        target_id: UUID | str,
        /,
        *,
        organization_id: UUID,
        audit_only: Mapping[str, Any] | None = None,
        event_only: Mapping[str, Any] | None = None,
        **details: Any,
    ) -> None:
        """Do what `record` does in an organization for which the caller does not act.

        Its people learn nothing of the caller: neither entry nor event names an actor, an address, a program, a key or
        the request. Only an impersonator is named in the entry.
        """
        ...

    def audit_elsewhere(
        self, action: AuditAction, target_id: UUID | str, /, *, organization_id: UUID, **details: Any
    ) -> None:
        """Do what `record_elsewhere` does, without an event."""
        ...

    def record_each_elsewhere(
        self,
        action: AuditAction,
        happenings: Sequence[tuple[UUID, UUID, Mapping[str, Any], Mapping[str, Any]]],
        /,
    ) -> None:
        """Do what `record_elsewhere` does for each organization, target id, details and event-only data.

        It takes two statements.
        """
        ...

    def audit(
        self,
        action: AuditAction,
        target_id: UUID | str,
        /,
        *,
        organization_id: UUID,
        actor_user_id: UUID | None = None,
        success: bool = True,
        **details: Any,
    ) -> None:
        """Add an entry to the organization's audit log, without an event."""
        ...

    def audit_platform(
        self, action: PlatformAction, target_id: UUID | str, /, *, organization_id: UUID | None = None, **details: Any
    ) -> UUID:
        """Add an entry to the platform's audit log and return its id.

        The actor is the caller or their impersonator, and none where no user is signed in.
        """
        ...

    def publish(
        self,
        event: EventType,
        /,
        *,
        organization_id: UUID | None = None,
        actor_user_id: UUID | None = None,
        actor_email: str | None = None,
        **data: Any,
    ) -> None:
        """Publish an event: receivers get it after the commit, at least once."""
        ...

    def tell_vendor(self, event: EventType, internal_id: UUID, /, **data: Any) -> None:
        """Publish to a vendor what happened to something that it has set up for a customer.

        Do nothing when the organization is not the internal one of a customer.
        """
        ...

    def audit_at_customer(
        self, action: AuditAction, target_id: UUID, internal_id: UUID, /, *, is_of_vendor: bool = False, **details: Any
    ) -> None:
        """Record in the log of a customer what happened to something that its vendor has made for it.

        With `is_of_vendor` also in the vendor's log. The log of the internal organization itself is shown to no one.
        """
        ...

    def publish_of_users(
        self,
        event: EventType,
        organization_id: UUID,
        happenings: Sequence[tuple[UUID, str, Mapping[str, Any]]],
        /,
    ) -> None:
        """Publish one event for each of these users, with their ids, addresses and data, to one organization."""
        ...

    def publish_to_each(
        self,
        event: EventType,
        organization_ids: Sequence[UUID | None],
        /,
        *,
        actor_user_id: UUID | None,
        actor_email: str | None,
        **data: Any,
    ) -> None:
        """Publish an event to each of several organizations, in one statement; None is for no organization."""
        ...
