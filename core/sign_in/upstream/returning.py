"""A user who comes back to an organization is linked again by its connection, as before they left.

Leaving unlinks what the connections of the organization have linked, and remembers it. The same connection, with the
same stable id, links it again once the person belongs to the organization again: by a membership that a directory or
another member has added, or because this sign-in lets them join. Their address has to lie in a verified mail domain of
the organization, as for whatever its connection says of a new person. What was unlinked for any other reason is not
remembered: by hand, by a change of the address or its undo, and by a first proof of the address.

Such a link rests on the connection's word alone, so it opens few roles before a mailed code (`entitlement.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts.users import User
from core.sign_in import identities
from core.sign_in.entitlement import ConnectionStanding
from core.sign_in.identities import Identity, IdentityContext, ProvenIdentity
from core.sign_in.upstream import by_connection
from core.sign_in.upstream.by_connection import Connected
from core.sign_in.upstream.connections import ConnectionRecord

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def link_again(
    uow: UnitOfWork, connected: Connected, proven: ProvenIdentity, context: IdentityContext
) -> Identity | None:
    """Return the identity of a user who has come back, linked again, and tell the user by mail.

    None when no departed user had the identity, or when its user does not belong to the organization again. The
    organization is locked, and the account from here on.
    """
    user_id = uow.identities.departed(proven.subject, context)
    user = uow.users.lock(user_id) if user_id is not None else None
    # It may have been unlinked for good while this transaction waited for the account.
    if user is None or uow.identities.departed(proven.subject, context) != user.id:
        return None
    standing = by_connection.standing_of(uow, connected, user.id)
    if not _belongs_again(uow, connected.organization.id, connected.connection, user, standing):
        return None
    identities.link(uow, user.id, user.email, proven, context, is_by_word_alone=True)
    return uow.identities.find(proven.provider, proven.subject, context)


def would_link_again(
    uow: UnitOfWork, organization_id: UUID, connection: ConnectionRecord, user: User, standing: ConnectionStanding
) -> bool:
    """Return whether a connection links a user again whose identity it proves, for the explanation of a sign-in."""
    context = IdentityContext(organization_id=organization_id, connection_id=connection.id)
    return uow.identities.has_departed(user.id, context) and _belongs_again(
        uow, organization_id, connection, user, standing
    )


def standing_of_id(
    uow: UnitOfWork, organization_id: UUID, connection: ConnectionRecord, subject: str
) -> ConnectionStanding | None:
    """Return what the user is to a connection that links them again with this stable id; None when it links no one."""
    user_id = uow.identities.departed(
        subject, IdentityContext(organization_id=organization_id, connection_id=connection.id)
    )
    user = uow.users.by_id(user_id) if user_id is not None else None
    standing = uow.identities.standing(user.id, organization_id, connection.id) if user is not None else None
    is_back = (
        user is not None and standing is not None and _belongs_again(uow, organization_id, connection, user, standing)
    )
    return standing if is_back else None


def _belongs_again(
    uow: UnitOfWork, organization_id: UUID, connection: ConnectionRecord, user: User, standing: ConnectionStanding
) -> bool:
    if not standing.is_in_mail_domain or standing.is_suspended or user.is_disowned:
        return False
    if not user.may_sign_in or user.closed_at is not None or not user.is_verified:
        return False
    if standing.role is not None or standing.is_end_user:
        return True
    return by_connection.role_to_join(uow, organization_id, connection) is not None
