"""Signing in by an organization's own connection: what it requires, and what the user becomes there.

A user who comes back to an organization is linked again by its connection, as before they left. Leaving unlinks what
the connections of the organization have linked, and remembers it. The same connection, with the same stable id, links
it again once the person belongs to the organization again: by a membership that a directory or another member has
added, or because this sign-in lets them join. Their address has to lie in a verified mail domain of the organization.
What was unlinked for any other reason is not remembered: by hand, by a change of the address or its undo, and by a
first proof of the address. Such a link rests on the connection's word alone, so it opens few roles before a mailed code
(`entitlement.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts.users import User
from core.errors import ErrorCode, NotFound, Refusal
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations import group_roles, members
from core.organizations.organizations import BUILT_IN_ROLES, MEMBER, InternalPlace, Membership, Organization
from core.sign_in import identities
from core.sign_in.entitlement import ConnectionStanding
from core.sign_in.identities import Identity, IdentityContext, ProvenIdentity
from core.sign_in.reasons import SignInReason
from core.sign_in.upstream.connections.connections import ConnectionRecord
from core.sign_in.upstream.flows import ProviderClient, SignInOver, UpstreamSignIn
from core.sign_in.upstream.saml import OwnSide

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class ConnectionClosed(NotFound):
    """There is no such connection, or it is switched off, or its organization is not active."""

    default_message = "Signing in here is not set up any more. Ask your organization, or sign in in another way."


class OrganizationFull(Refusal):
    """The organization has as many members as it may."""

    code = ErrorCode.TEAM_LIMIT_EXCEEDED
    default_message = (
        "This organization has as many members as it may have. Ask its owner to make room, and sign in again."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenConnection:
    """An enabled connection of an active organization; `made_for` says for which customer a vendor has made it."""

    organization_slug: str
    organization_id: UUID
    connection: ConnectionRecord
    context: IdentityContext
    made_for: InternalPlace | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """The connection of a sign-in, and its organization, which is locked; `made_for` as in `OpenConnection`."""

    connection: ConnectionRecord
    organization: Organization
    made_for: InternalPlace | None = None


def find(uow: UnitOfWork, connection_id: UUID) -> OpenConnection:
    """Return the connection that a browser names; raise `ConnectionClosed`."""
    organization = uow.organizations.of_connection(connection_id)
    if organization is None:
        raise ConnectionClosed().because(SignInReason.CONNECTION_CLOSED)
    return _open(uow, organization, connection_id)


def own_side(uow: UnitOfWork, connection_id: UUID) -> OwnSide:
    """Return what we are for a connection by SAML, enabled or not; raise `ConnectionClosed` without one."""
    found = uow.upstream_connections.own_side(connection_id)
    if found is None:
        raise ConnectionClosed().because(SignInReason.CONNECTION_CLOSED)
    return found


def of_sign_in(uow: UnitOfWork, sign_in: UpstreamSignIn) -> tuple[OpenConnection, ProviderClient]:
    """Return the connection by which a browser has gone, and our credentials there.

    Raise `ConnectionClosed`, and `SignInOver` when its client has changed since.
    """
    connection_id, organization_id = sign_in.context.connection_id, sign_in.context.organization_id
    assert connection_id is not None, "a sign-in by a connection names none"
    assert organization_id is not None, "a sign-in by a connection names no organization"
    found = find(uow, connection_id)
    assert found.connection.issuer is not None, "an enabled connection has no issuer"
    # The secret for one issuer must never go to another, even when the connection gets another one at this moment.
    client = uow.upstream_connections.client_of(organization_id, connection_id, found.connection.issuer)
    if client is None or client.client_id != sign_in.client_id:
        raise SignInOver().because(SignInReason.CONNECTION_CHANGED)
    return found, client


def lock(uow: UnitOfWork, sign_in: UpstreamSignIn) -> Connected | None:
    """Return the connection of a sign-in and its organization, locked; None for a sign-in by no connection.

    Raise `ConnectionClosed` when it is gone, and `SignInOver` when it has got another provider since. The organization
    is locked before the account, as by every way to join.
    """
    context = sign_in.context
    if context.connection_id is None or context.organization_id is None:
        return None
    organization = uow.organizations.lock(context.organization_id)
    connection = uow.upstream_connections.find(context.organization_id, context.connection_id)
    if organization is None or connection is None or not is_open(organization, connection):
        raise ConnectionClosed().because(SignInReason.CONNECTION_CLOSED)
    if not uow.upstream_sign_ins.is_kept(context.organization_id, sign_in.id):
        raise SignInOver().because(SignInReason.CONNECTION_CHANGED)
    made_for = _made_for(uow, organization)
    return Connected(connection=connection, organization=organization, made_for=made_for)


def is_open(organization: Organization, connection: ConnectionRecord) -> bool:
    """Return whether a connection of an organization signs in."""
    return organization.is_active and connection.enabled


def standing_of(uow: UnitOfWork, connected: Connected, user_id: UUID) -> ConnectionStanding:
    """Return what a user is to a connection that is locked."""
    standing = uow.identities.standing(user_id, connected.organization.id, connected.connection.id)
    assert standing is not None, "a connection that is locked was deleted"
    return standing


def join(uow: UnitOfWork, connected: Connected, user: User) -> None:
    """Make the user a member of an organization that is locked, if the connection says so.

    A connection that a vendor has made for a customer admits everyone that it signs in.
    """
    connection, organization_id = connected.connection, connected.organization.id
    is_joining = connection.joins_as is not None or connected.made_for is not None
    if not is_joining or uow.members.of_user(organization_id, user.id) is not None:
        return
    role = MEMBER if connected.made_for is not None else role_to_join(uow, organization_id, connection)
    if role is None:
        return
    membership = Membership(
        id=uow.randomness.new_id(), organization_id=organization_id, user_id=user.id, role=role, created_at=uow.now
    )
    uow.members.defer_add(membership, is_confirmed=True)
    if not members.defer_room(uow, connected.organization)():
        raise OrganizationFull().because(SignInReason.ORGANIZATION_FULL)
    if connected.made_for is not None:
        # The vendor learns of the people of its customers (`core/customers/people_events.py`).
        uow.audit_at_customer(
            AuditAction.CUSTOMER_USER_ADDED,
            user.id,
            organization_id,
            user_email=user.email,
            connection_id=str(connection.id),
        )
        return
    uow.record(
        AuditAction.USER_JOINED,
        user.id,
        organization_id=organization_id,
        actor_user_id=user.id,
        actor_email=user.email,
        event_only={"user_id": str(user.id)},
        role=role,
        connection_id=str(connection.id),
    )


def follow_groups(
    uow: UnitOfWork, connected: Connected, user_id: UUID, standing: ConnectionStanding
) -> ConnectionStanding:
    """Give a user the role of their groups in an organization that is locked, and return their standing with it."""
    given = group_roles.apply_to_member(uow, connected.organization.id, user_id)
    if given is None:
        return standing
    source = given.role_source
    return replace(
        standing,
        role=given.role,
        is_role_by_groups=source is not None and source.source == str(connected.connection.id),
        role_permissions=sorted(given.allowed),
    )


def role_to_join(uow: UnitOfWork, organization_id: UUID, connection: ConnectionRecord) -> str | None:
    """Return the role with which people join who sign in by a connection; None when they do not join."""
    role = connection.joins_as
    if role is None or role in BUILT_IN_ROLES:
        return role
    # A custom role may have been deleted since; then people do not join.
    return role if uow.roles.by_slug(organization_id, role) is not None else None


def _open(uow: UnitOfWork, organization: Organization, connection_id: UUID) -> OpenConnection:
    connection = uow.upstream_connections.find(organization.id, connection_id)
    assert connection is not None, "a connection was found without its organization"
    return OpenConnection(
        organization_slug=organization.slug,
        organization_id=organization.id,
        connection=connection,
        context=IdentityContext(organization_id=organization.id, connection_id=connection_id),
        made_for=_made_for(uow, organization),
    )


def _made_for(uow: UnitOfWork, organization: Organization) -> InternalPlace | None:
    """Return for which customer a vendor has made what an organization has; raise `ConnectionClosed` after its end."""
    if not organization.is_internal:
        return None
    found = uow.organizations.internal_place(organization.id)
    if found is None:
        raise ConnectionClosed().because(SignInReason.CONNECTION_CLOSED)
    return found


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
    standing = standing_of(uow, connected, user.id)
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
    return role_to_join(uow, organization_id, connection) is not None
