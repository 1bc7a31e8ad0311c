"""Personal data of a user on pages for platform owners: what an anonymization ends, the export, and anonymizing.

The rules are in `core/privacy/`. The page requires typing the address, so that the right person is anonymized.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts.users import UserUnknown
from core.email_addresses import canonical_email
from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.organizations.authorization import authorize_platform
from core.platform import user_records
from core.platform.users import PlatformUserOrganization
from core.privacy import anonymization
from core.privacy import export as privacy_export
from core.privacy.export import PersonalDataExport

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalDataOfUser:
    """The account whose data are to be exported or anonymized, and what an anonymization ends."""

    user_id: UUID
    email: str
    is_platform_owner: bool
    organizations: list[PlatformUserOrganization]
    sessions: int
    devices: int


def show(uow: UnitOfWork, user_id: UUID) -> PersonalDataOfUser:
    """Return what anonymizing an account would end, as a platform owner; raise `UserUnknown`."""
    authorize_platform(uow)
    user = uow.users.by_id(user_id)
    if user is None:
        raise UserUnknown
    _, sessions = uow.own_sessions.alive_of(user.id, limits=None, current_id=None, limit=1)
    _, devices = uow.devices.of_user(user.id, at=uow.now, limit=1)
    return PersonalDataOfUser(
        user_id=user.id,
        email=user.email,
        is_platform_owner=user.is_platform_owner,
        organizations=user_records.organizations_of(uow, user),
        sessions=sessions,
        devices=devices,
    )


def export(uow: UnitOfWork, user_id: UUID) -> PersonalDataExport:
    """Return the personal data of an account, as a platform owner; raise `UserUnknown`.

    The person and owners of organizations have pages of their own for this.
    """
    authorize_platform(uow)
    return privacy_export.export(uow, user_id)


def anonymize(uow: UnitOfWork, user_id: UUID, *, typed: str) -> None:
    """Anonymize an account after its address was typed, as a platform owner; raise `BadRequest` for another address."""
    authorize_platform(uow)
    # The lock of `anonymize`, which takes the invitations of the address before the account.
    subject = uow.anonymization.lock(user_id)
    if subject is None:
        raise UserUnknown
    if canonical_email(typed, uow.domain_names.to_ascii) != subject.email:
        raise BadRequest.of_field("email", "This is not the address of the account. Type it as it stands above.")
    anonymization.anonymize(uow, user_id)
