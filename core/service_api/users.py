"""The users of a service, as its backend lists, adds, changes and removes them with an API key.

An account belongs to the whole platform, and the backend of one service must not take it from its user or from another
organization. Only an account that the organization itself created, and that belongs nowhere else, may get another
address or be deleted; removing any other account takes away what this service gave. Only the directory changes the
address of a member, never a key.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts import own_accounts
from core.accounts.own_accounts import Belonging
from core.accounts.users import fresh_account
from core.email_addresses import normalize_email
from core.errors import BadRequest, Forbidden, Refusal
from core.events.actions import AuditAction
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.metadata import MetadataPatch
from core.organizations import departures, inviters, keys
from core.services import api_keys, subscriptions, user_metadata
from core.services.api_keys import Permission, ServiceCaller
from core.services.user_metadata import ServiceUser, ServiceUserUnknown
from core.sessions import sessions

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class AddressOfAnotherAccount(BadRequest):
    """Another account has the address."""

    default_message = "This email address belongs to another account. Choose another one."


class AccountShared(Forbidden):
    """The account is not the organization's own, so only its user changes the address."""

    default_message = "Only the user can change the address of this account: it is not yours alone."


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceUsersPage:
    """A page of users, and their total number."""

    users: Sequence[ServiceUser]
    total: int


def list_page(uow: UnitOfWork, *, limit: int, offset: int) -> ServiceUsersPage:
    """List the users of the service in the order of their ids, which are random."""
    # Sent together with the statement that loads the caller, which decides whether the page is returned.
    page = uow.service_users.defer_page_of_key(limit=limit, offset=offset)
    api_keys.authorize(uow, Permission.READ_USERS)
    return page()


def add(uow: UnitOfWork, email: str) -> ServiceUser:
    """Make the account with an address a user of the service; create it without a password if there is none.

    Repeating this changes nothing. No mail is sent.
    """
    caller = api_keys.authorize(uow, Permission.WRITE_USERS)
    found = uow.own_accounts.find_or_create(
        fresh_account(uow, normalize_email(email, uow.domain_names.to_ascii)),
        caller.organization_id,
        caller.service_id,
    )
    if found.is_anonymized:
        raise BadRequest.of_field("email", "This is not the address of a person.")
    uow.service_users.link(caller, found.id, at=uow.now)
    if found.is_deactivated and not uow.members.is_suspended(caller.organization_id, found.id):
        # A key may have removed the user before; only the directory activates a member.
        uow.own_accounts.activate(caller.organization_id, [found.id], at=uow.now)
    # The answer does not tell whether the account is new to the platform.
    if not found.is_known:
        uow.publish(
            EventType.USER_SIGNUP_SUCCESS,
            organization_id=caller.organization_id,
            user_id=str(found.id),
            service_id=str(caller.service_id),
            api_key_id=str(caller.key_id),
        )
    known_id = uow.known_ids.defer_shown(caller.organization_id, found.id)() if found.has_known_id else found.id
    return ServiceUser(
        id=known_id, email=found.email, created_at=found.linked_at or uow.now, metadata=dict(found.metadata)
    )


def show(uow: UnitOfWork, known_id: UUID) -> ServiceUser:
    """Return a user of the service; raise `ServiceUserUnknown` for any other account."""
    caller = api_keys.authorize(uow, Permission.READ_USERS)
    return user_metadata.found(uow, caller.organization_id, caller.service_id, known_id)


def change(
    uow: UnitOfWork, known_id: UUID, *, email: str | None, metadata: MetadataPatch | None = None
) -> ServiceUser | Refusal:
    """Change the address of a user, as `_change_address` says, and what the service notes about them.

    The refusal of an address that another account has is returned, not raised, so that its count is committed.
    """
    caller = api_keys.authorize(uow, Permission.WRITE_USERS)
    address = normalize_email(email, uow.domain_names.to_ascii) if email is not None else None
    if metadata is not None:
        metadata.applied_to({})
    if address is not None:
        refusal = _change_address(uow, caller, known_id, address)
        if refusal is not None:
            return refusal
    if metadata is None:
        return user_metadata.found(uow, caller.organization_id, caller.service_id, known_id)
    return user_metadata.change_of(
        uow, caller.organization_id, caller.service_id, caller.service_slug, known_id, metadata
    )


def _change_address(uow: UnitOfWork, caller: ServiceCaller, known_id: UUID, address: str) -> Refusal | None:
    """Change the address of one of the organization's own users, who has to prove it; all their sessions end.

    Return the refusal of an address that another account has.
    """
    # Locked before the account, like in every transaction that changes what an organization gave.
    organization = uow.organizations.lock(caller.organization_id)
    belonging, _ = _lock(uow, caller, known_id)
    if organization is None or address == belonging.email:
        return None
    if belonging.role is not None or not belonging.is_own_of(caller.organization_id):
        raise AccountShared
    key_id = str(caller.key_id)
    user_id = own_accounts.change_address(
        uow, organization, belonging, address, is_by_directory=False, api_key_id=key_id
    )
    if user_id is None:
        return AddressOfAnotherAccount()
    if user_id != belonging.id:
        _record_moved(uow, caller, belonging.id, user_id)
    return None


def remove(uow: UnitOfWork, known_id: UUID) -> None:
    """Delete one of the organization's own users for good; take from any other user what this service gave.

    The subscriptions that the payment provider bills are ended there afterwards.
    """
    caller = api_keys.authorize(uow, Permission.DELETE_USERS)
    # Locked before the account, like in every transaction that ends a membership.
    uow.organizations.lock(caller.organization_id)
    belonging, _ = _lock(uow, caller, known_id)
    user_id = belonging.id
    is_deleted = belonging.may_be_deleted_by(caller.organization_id)
    uow.record(
        AuditAction.USER_REMOVED,
        user_id,
        organization_id=caller.organization_id,
        user_id=str(user_id),
        service_id=str(caller.service_id),
        service_slug=caller.service_slug,
    )
    subscription = uow.subscriptions.lock_current(caller.organization_id, caller.service_id, user_id)
    if subscription is not None and subscription.is_live:
        subscriptions.record_removed(uow, subscription)
    if is_deleted:
        departures.tell_owner(uow, caller.organization_id, [user_id])
        inviters.withdraw(uow, caller.organization_id, user_id)
        keys.end_of_makers(uow, [user_id], caller.organization_id)
        uow.own_accounts.delete(caller.organization_id, user_id)
        return
    if belonging.role is None:
        own_accounts.take_access(uow, caller.organization_id, belonging)
    ended = uow.sessions.revoke_of_service(caller.service_id, user_id=user_id)
    sessions.record_ended(uow, user_id, belonging.email, ended, service_id=str(caller.service_id))
    uow.billing_cancellations.drop_of_service_user(caller, user_id)
    uow.service_users.unlink(caller, user_id)


def count_changes(uow: UnitOfWork, limit: int) -> int:
    """Add at most `limit` changes to the numbers of users of their services; return how many."""
    return uow.service_users.count_changes(limit)


def add_milestones(uow: UnitOfWork) -> int:
    """Store milestones where many users lie between two of them; return how many."""
    return uow.service_users.add_milestones()


def _lock(uow: UnitOfWork, caller: ServiceCaller, known_id: UUID) -> tuple[Belonging, datetime]:
    """Return the locked account of a user of the service, and since when they are one."""
    locked = uow.service_users.lock(caller, known_id)
    # After the lock, because the memberships of the account may have changed while this waited.
    belonging = uow.own_accounts.belonging(caller.organization_id, locked[0]) if locked is not None else None
    if belonging is None or locked is None:
        raise ServiceUserUnknown
    return belonging, locked[1]


def _record_moved(uow: UnitOfWork, caller: ServiceCaller, previous_id: UUID, user_id: UUID) -> None:
    """Record that a user of the organization has another account now."""
    uow.record(
        AuditAction.USER_UPDATED,
        user_id,
        organization_id=caller.organization_id,
        event_only={"user_id": str(user_id)},
        changed=["emails"],
        previous_user_id=str(previous_id),
        service_id=str(caller.service_id),
        service_slug=caller.service_slug,
    )
