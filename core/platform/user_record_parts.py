"""The parts of the record of one account, each read separately: the tabs of its page in the console.

Each part that support opens is an entry of the platform's audit log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import helped_accounts, sign_in_failures
from core.accounts.helped_accounts import RecordPart
from core.accounts.sign_in_failures import AddressLimits
from core.lazy_dataclasses import dataclass
from core.platform import locks, user_records
from core.platform.mails import OutboxPage
from core.platform.user_records import SIGN_INS_MAX, RecordedAccount, RecordedUses, RecordedWays
from core.platform.users import PlatformUserOrganization
from core.sign_in import sign_ins
from core.sign_in.sign_ins import SignIn

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The first part has so many of the newest sign-ins.
LAST_SIGN_INS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSummary:
    """The first part: the account, what refuses its address now, and its last sign-ins."""

    user: RecordedAccount
    is_blocked_by_import: bool
    mfa_enabled: bool
    limits: AddressLimits
    sign_ins: list[SignIn]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSignIns:
    """The newest sign-ins, and the number of all."""

    sign_ins: list[SignIn]
    total: int


def show_summary(uow: UnitOfWork, user_id: UUID) -> RecordSummary:
    """Return the first part of a record, as a platform owner or support; raise `UserUnknown`."""
    user = helped_accounts.open_record(uow, user_id, RecordPart.ACCOUNT)
    return RecordSummary(
        user=user_records.account_of(uow, user),
        is_blocked_by_import=locks.is_blocked_by_import(uow, user),
        mfa_enabled=user.has_mfa,
        limits=sign_in_failures.limits_of(uow, user.email),
        sign_ins=sign_ins.of_user(uow, user.id, None, page=1, limit=LAST_SIGN_INS).sign_ins,
    )


def show_ways(uow: UnitOfWork, user_id: UUID) -> tuple[RecordedAccount, RecordedWays]:
    """Return how the user signs in, likewise."""
    user = helped_accounts.open_record(uow, user_id, RecordPart.WAYS)
    return user_records.account_of(uow, user), user_records.ways_of(uow, user)


def show_sign_ins(uow: UnitOfWork, user_id: UUID) -> tuple[RecordedAccount, RecordedSignIns]:
    """Return the newest sign-ins, likewise."""
    user = helped_accounts.open_record(uow, user_id, RecordPart.SIGN_INS)
    found = sign_ins.of_user(uow, user.id, None, page=1, limit=SIGN_INS_MAX)
    return user_records.account_of(uow, user), RecordedSignIns(sign_ins=found.sign_ins, total=found.total)


def show_uses(uow: UnitOfWork, user_id: UUID) -> tuple[RecordedAccount, RecordedUses]:
    """Return the sessions and devices, likewise."""
    user = helped_accounts.open_record(uow, user_id, RecordPart.SESSIONS)
    return user_records.account_of(uow, user), user_records.uses_of(uow, user)


def show_organizations(uow: UnitOfWork, user_id: UUID) -> tuple[RecordedAccount, list[PlatformUserOrganization]]:
    """Return the organizations, likewise."""
    user = helped_accounts.open_record(uow, user_id, RecordPart.ORGANIZATIONS)
    return user_records.account_of(uow, user), user_records.organizations_of(uow, user)


def show_mails(uow: UnitOfWork, user_id: UUID) -> tuple[RecordedAccount, OutboxPage]:
    """Return the newest mails to the address, likewise."""
    user = helped_accounts.open_record(uow, user_id, RecordPart.MAILS)
    return user_records.account_of(uow, user), user_records.mails_to(uow, user)
