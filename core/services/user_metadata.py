"""What a service notes about its users: one record for each person and service, whatever the customer.

The program of the service changes it with a key (`core/service_api/users.py`), and a member of its organization here.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core import metadata
from core.errors import NotFound
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.metadata import MetadataPatch
from core.organizations.access import Operation
from core.services import service_access

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class ServiceUserUnknown(NotFound):
    """The account does not use the service, whether or not it exists."""

    default_message = "This service has no such user."


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceUser:
    """A user of the service, with the id by which the organization knows them.

    `created_at` is when they became a user of the service, whenever the account was made. People of its customers are
    users of a service once they have signed in for a customer.
    """

    id: UUID
    email: str
    created_at: datetime
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldUser:
    """A user of a service who remains one until the transaction ends; `account_id` is the id of the account."""

    user: ServiceUser
    account_id: UUID


def change(uow: UnitOfWork, slug: str, service_slug: str, user_id: UUID, patch: MetadataPatch) -> ServiceUser:
    """Change what a service notes about one of its users, as a member; raise `ServiceUserUnknown`."""
    authorized = service_access.authorize(uow, slug, service_slug, Operation.SERVICE_USER_CHANGE)
    patch.applied_to({})
    service = authorized.service
    return change_of(uow, service.organization_id, service.id, service.slug, user_id, patch)


def show(uow: UnitOfWork, slug: str, service_slug: str, user_id: UUID) -> ServiceUser:
    """Return a user of a service with what it notes about them, to a member; raise `ServiceUserUnknown`."""
    service = service_access.authorize(uow, slug, service_slug, Operation.SERVICE_USER_READ).service
    return found(uow, service.organization_id, service.id, user_id)


def found(uow: UnitOfWork, organization_id: UUID, service_id: UUID, known_id: UUID) -> ServiceUser:
    """Return a user of a service; raise `ServiceUserUnknown`."""
    user = uow.service_user_metadata.find(organization_id, service_id, known_id)
    if user is None:
        raise ServiceUserUnknown
    return user


def change_of(
    uow: UnitOfWork, organization_id: UUID, service_id: UUID, service_slug: str, known_id: UUID, patch: MetadataPatch
) -> ServiceUser:
    """Change what a service notes about one of its users; raise `ServiceUserUnknown`. The caller was authorized."""
    held = uow.service_user_metadata.hold(organization_id, service_id, known_id)
    if held is None:
        raise ServiceUserUnknown
    before = uow.service_user_metadata.lock(organization_id, service_id, held.account_id)
    after = patch.applied_to(before)
    user = ServiceUser(id=held.user.id, email=held.user.email, created_at=held.user.created_at, metadata=after)
    if not metadata.is_changed(before, after):
        return user
    uow.service_user_metadata.save(organization_id, service_id, held.account_id, after)
    uow.record(
        AuditAction.USER_UPDATED,
        held.account_id,
        organization_id=organization_id,
        event_only={"user_id": str(user.id)},
        changed=["metadata"],
        metadata=metadata.changed_names(before, after),
        service_id=str(service_id),
        service_slug=service_slug,
    )
    return user
