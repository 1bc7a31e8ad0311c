"""Deleting an organization: by its owner, who may restore it for a while, and for good (ops/decisions/0070).

Once its owner has deleted an organization, only the platform and the owner see it: nothing finds it by its slug, and
nothing that it has is in force. What it has issued ends in the same transaction, and so do its relations to vendors and
customers. Its members, services and settings stay until it is deleted for good: at once where it never had another
member, else in batches after `RESTORABLE_FOR` (`core/platform/ended_organizations.py`). Platform owners delete at once
(`core/platform/organizations.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import BadRequest, NotFound
from core.events.actions import AuditAction, PlatformAction
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.mail import mail
from core.mail.mail import MailMessage, MailTemplate
from core.organizations import session_strength
from core.organizations.access import Operation
from core.organizations.authorization import authorize, authorize_and_lock
from core.organizations.organizations import OWNER, RESTORABLE_FOR, Organization
from core.sessions import callers
from core.sessions.caller_limits import Act
from core.sessions.callers import Caller

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The page lists so many; a person who has deleted more restores or waits for some of them first.
DELETED_SHOWN_MAX: Final = 100
# The owner, and the longest-serving admins.
INFORMED_MAX: Final = 20


class NotRestorable(NotFound):
    """The caller has not deleted such an organization, or it is deleted for good."""

    default_message = "You have no such organization that can be restored."


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What ends when an organization is deleted: each number is exact up to `COUNTED_MAX`, and one more beyond.

    `restorable_until` is None where the organization is deleted for good at once.
    """

    sessions: int
    subscriptions: int
    keys: int
    invitations: int
    setup_links: int
    customers: int
    products: int
    members: int
    services: int
    end_users: int
    restorable_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedOrganization:
    """An organization that its owner has deleted, and may restore until `deletes_at`."""

    id: UUID
    slug: str
    name: str
    deletes_at: datetime
    members: int
    services: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InformedManager:
    """An owner or admin who learns that the organization is deleted."""

    email: str


def show(uow: UnitOfWork, slug: str) -> Ending:
    """Return what ends with an organization, to its owner."""
    organization = authorize(uow, slug, Operation.ORGANIZATION_DELETE).organization
    return uow.deleted_organizations.ending(
        organization.id, restorable_until=uow.now + RESTORABLE_FOR, counted_max=COUNTED_MAX + 1
    )


def delete(uow: UnitOfWork, slug: str, *, typed_slug: str | None = None) -> datetime | None:
    """Delete an organization, and return until when its owner may restore it; None when it is deleted for good.

    Raise `BadRequest` when another slug was typed to confirm it.
    """
    authorized = authorize_and_lock(uow, slug, Operation.ORGANIZATION_DELETE)
    organization = authorized.organization
    authorized.caller.require(Act.IN_PERSON)
    if typed_slug is not None and typed_slug.strip() != organization.slug:
        raise BadRequest.of_field(
            "slug", "This is not the slug of the organization. Type the slug exactly as shown above."
        )
    if not uow.deleted_organizations.had_other_members(organization.id):
        delete_for_good(uow, organization)
        return None
    deletes_at = uow.now + RESTORABLE_FOR
    _end_relations(uow, organization, deletes_at=deletes_at)
    informed = uow.deleted_organizations.managers_to_inform(organization.id, limit=INFORMED_MAX)
    subscriptions = uow.deleted_organizations.begin(organization.id, deletes_at=deletes_at)
    uow.record(
        AuditAction.ORGANIZATION_DELETED,
        organization.id,
        organization_id=organization.id,
        restorable_until=_instant(deletes_at),
        subscriptions=subscriptions,
    )
    # Mailed without the organization, because mails of an organization that is not active wait until it is.
    mail.send_each(
        uow,
        MailTemplate.ORGANIZATION_DELETED,
        [
            MailMessage(
                to=one.email,
                template=MailTemplate.ORGANIZATION_DELETED,
                values={
                    "organization": organization.name,
                    "by": authorized.caller.account.email,
                    "until": deletes_at.strftime("%Y-%m-%d %H:%M UTC"),
                },
            )
            for one in informed
        ],
        organization_id=None,
    )
    return deletes_at


def delete_for_good(uow: UnitOfWork, organization: Organization, **details: object) -> None:
    """Delete a locked organization with everything that belongs to it; the platform's audit log keeps a record."""
    _end_relations(uow, organization, deletes_at=uow.now)
    record_end(uow, organization, **details)
    uow.organizations.delete(organization.id)


def record_end(uow: UnitOfWork, organization: Organization, **details: object) -> None:
    """Record in the platform's audit log that an organization is deleted for good."""
    uow.audit_platform(
        PlatformAction.ORGANIZATION_DELETED,
        organization.id,
        organization_id=organization.id,
        slug=organization.slug,
        name=organization.name,
        status=organization.status,
        **details,
    )


def list_mine(uow: UnitOfWork) -> Sequence[DeletedOrganization]:
    """List the organizations that the caller has deleted and may restore, by slug.

    A session that is confined to an organization, or a session of a service, shows none.
    """
    return uow.deleted_organizations.restorable(_owned(uow, uow.caller), at=uow.now, limit=DELETED_SHOWN_MAX)


def show_mine(uow: UnitOfWork, slug: str) -> DeletedOrganization:
    """Return an organization that the caller may restore; raise `NotRestorable` for any other."""
    found = next((one for one in list_mine(uow) if one.slug == slug), None)
    if found is None:
        raise NotRestorable
    return found


def restore(uow: UnitOfWork, slug: str) -> Organization:
    """Restore an organization that the caller has deleted, without what ended then.

    Raise `NotRestorable` for any other, and what `authorize` raises for a session that it refuses.
    """
    caller = callers.require_in_person(uow)
    found = uow.deleted_organizations.lock_restorable(_owned(uow, caller), slug, at=uow.now)
    # Again, behind the lock: an undone change of an address gives ownerships back.
    if found is None or found.id not in _owned(uow, caller):
        raise NotRestorable
    if found.mfa_required:
        session_strength.require_second_factor(caller, found.mfa_methods)
        session_strength.require_device_trust(uow, caller, found)
    uow.deleted_organizations.restore(found.id)
    uow.record(AuditAction.ORGANIZATION_RESTORED, found.id, organization_id=found.id)
    restored = uow.organizations.lock(found.id)
    assert restored is not None, "a locked organization is gone"
    return restored


def _owned(uow: UnitOfWork, caller: Caller) -> list[UUID]:
    """Return the organizations that the caller owns, deleted or not; none for a session that is confined to one."""
    if caller.only_organization_id is not None:
        return []
    return [one.organization_id for one in uow.members.of_account(caller.account.id) if one.role == OWNER]


def _end_relations(uow: UnitOfWork, organization: Organization, *, deletes_at: datetime) -> None:
    """End the use of its services by others, and its use of theirs; the logs of both sides record it.

    The organizations that it made for customers and that no person owns are deleted for good at `deletes_at`. Until
    then it restores them one by one, once it is restored itself.
    """
    # So that none of its services gets another customer before the transaction ends.
    uow.service_customers.lock_services(organization.id)
    for ended in uow.service_customers.end_all_of(organization.id, deletes_at=deletes_at):
        ended.record_end(uow, organization.id)


def _instant(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
