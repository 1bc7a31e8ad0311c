"""What a person does concerns each of their organizations, unless it happened in one of them (decisions 7.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from core.deferred import Deferred
    from core.events.actions import AuditAction
    from core.events.events import EventType
    from ports.unit_of_work import UnitOfWork


def publish(
    uow: UnitOfWork,
    event: EventType,
    user_id: UUID | None,
    email: str | None,
    /,
    *,
    organization_id: UUID | None = None,
    **data: Any,
) -> None:
    """Publish an event of a person where it belongs (`defer_receivers`).

    Always the same number of statements, so that the time tells nobody who somebody is and how many organizations they
    have.
    """
    receivers = defer_receivers(uow, user_id, organization_id)
    uow.publish_to_each(event, receivers(), actor_user_id=user_id, actor_email=email, **data)


def defer_receivers(
    uow: UnitOfWork, user_id: UUID | None, organization_id: UUID | None = None
) -> Deferred[Sequence[UUID | None]]:
    """Ask where an event of a person belongs: the organization of its context, else each of the person's, else none.

    Nobody, `None`, has no organizations.
    """
    if organization_id is not None:
        return lambda: (organization_id,)
    organizations = uow.members.defer_organizations_of(user_id)
    return lambda: organizations() or (None,)


def record(uow: UnitOfWork, action: AuditAction, user_id: UUID, email: str, /) -> None:
    """Record what a person did to their own account in each of their organizations."""
    receivers = defer_receivers(uow, user_id)()
    for organization_id in receivers:
        if organization_id is not None:
            uow.audit(action, user_id, organization_id=organization_id, actor_user_id=user_id)
    uow.publish_to_each(action.event, receivers, actor_user_id=user_id, actor_email=email)
