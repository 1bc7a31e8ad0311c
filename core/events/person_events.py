"""Events of a user: they belong to the organization in whose context they happened, else to each of the user's.

A sign-in at the platform, for example, has no organization, so every organization of the user gets the event and the
audit entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.events.actions import AuditAction
from core.events.events import EventType

if TYPE_CHECKING:
    from core.deferred import Deferred
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
    """Publish an event of a user to the organizations that `defer_receivers` returns.

    The number of statements is always the same, so that the response time reveals neither whether an account exists nor
    how many organizations its user has.
    """
    receivers = defer_receivers(uow, user_id, organization_id)
    uow.publish_to_each(event, receivers(), actor_user_id=user_id, actor_email=email, **data)


def defer_receivers(
    uow: UnitOfWork, user_id: UUID | None, organization_id: UUID | None = None
) -> Deferred[Sequence[UUID | None]]:
    """Query the organizations to which an event of a user belongs: the given one, else each of the user's.

    The result is `(None,)`, which stands for no organization, when the user has none or is None.
    """
    if organization_id is not None:
        return lambda: (organization_id,)
    organizations = uow.members.defer_organizations_of(user_id)
    return lambda: organizations() or (None,)


def record(uow: UnitOfWork, action: AuditAction, user_id: UUID, email: str, /, **details: Any) -> None:
    """Record a user's change to their own account in each of their organizations; details contain no personal data."""
    receivers = defer_receivers(uow, user_id)()
    for organization_id in receivers:
        if organization_id is not None:
            uow.audit(action, user_id, organization_id=organization_id, actor_user_id=user_id, **details)
    uow.publish_to_each(action.event, receivers, actor_user_id=user_id, actor_email=email, **details)
