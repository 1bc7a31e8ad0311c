"""Endings by an identity provider: of everything that a person holds in the organization of its connection.

Sessions, refresh tokens, approvals of devices and grants of applications all belong to sessions, and end with them:
those in the organization, those by its connections, and those at services that it uses as a customer. Memberships and
ways to sign in stay; the provider decides whether the person signs in again. Every protocol by which a provider ends
something calls `end`, as `global_token_revocation.py` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.accounts.users import User
from core.events.actions import AuditAction
from core.events.events import EventType
from core.sessions import sessions

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def end(
    uow: UnitOfWork, organization_id: UUID, user: User, *, is_linked: bool, connection_id: UUID, reason: str
) -> int:
    """End what a person holds in the context of an organization; return how many sessions ended.

    `is_linked`: the person signs in by the connection. `reason` is a word of the protocol that asked. The log of the
    organization has an entry even where nothing ended, but none about an account that is unrelated to it: the entry
    would reveal that there is one. A vendor is told how many sessions at its services have ended.
    """
    details: dict[str, Any] = {"connection_id": str(connection_id), "reason": reason}
    contexts = sessions.end_in_organization(uow, organization_id, user.id)
    of_vendors = [one for one in contexts if one is not None and one != organization_id]
    ended = len(contexts) - len(of_vendors)
    if contexts or is_linked or _knows(uow, organization_id, user.id):
        uow.audit(
            AuditAction.SESSION_REVOKED, user.id, organization_id=organization_id, sessions=len(contexts), **details
        )
    if ended:
        uow.publish_to_each(
            EventType.SESSION_REVOKED,
            (organization_id,),
            actor_user_id=user.id,
            actor_email=user.email,
            sessions=ended,
            **details,
        )
    sessions.record_ended(uow, user.id, user.email, of_vendors)
    return len(contexts)


def _knows(uow: UnitOfWork, organization_id: UUID, user_id: UUID) -> bool:
    """Return whether a person is a member or an end user of the organization."""
    return (
        uow.members.of_user(organization_id, user_id) is not None
        or uow.end_users.email_of(organization_id, user_id) is not None
    )
