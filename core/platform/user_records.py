"""The record of one account for people who help its user: ways to sign in, sessions, organizations, mails, limits.

It holds no secrets, no contents of mails and no tokens of providers. Each opening by support is an entry of the
platform's audit log. Older sign-ins are in `core/sign_in/sign_ins.py`.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import sign_in_failures, support_access
from core.accounts.sign_in_failures import AddressLimits
from core.accounts.support_access import RecordPart
from core.accounts.users import User, UserUnknown
from core.credentials import user_agents
from core.credentials.devices import DeviceState
from core.credentials.passkeys import PasskeyItem
from core.credentials.user_agents import Description
from core.email_addresses import normalize_email
from core.lazy_dataclasses import dataclass
from core.platform import locks, mails
from core.platform.mails import OutboxFilter, OutboxMail, OutboxPage
from core.platform.users import ORGANIZATIONS_SHOWN_MAX, PlatformUserOrganization
from core.sign_in import sign_ins
from core.sign_in.identities import IdentityItem
from core.sign_in.own_account import OwnSession
from core.sign_in.risk import Location
from core.sign_in.sign_ins import SignIn, SignInOrganization, SignInService

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

DEVICES_MAX: Final = 50
SESSIONS_MAX: Final = 50
SIGN_INS_MAX: Final = 20
MAILS_MAX: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAccount:
    """The account itself.

    Others deactivate an account, its user closes it; it is disowned while the organization of its mail domain has taken
    the address back. `is_platform_support` is whether it is appointed to the platform's support.
    """

    id: UUID
    email: str
    name: str | None
    language: str | None
    email_verified: bool
    disowned: bool
    is_platform_owner: bool
    is_platform_support: bool
    created_at: datetime
    updated_at: datetime
    deactivated_at: datetime | None
    closed_at: datetime | None
    locked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedWays:
    """The user's ways to sign in."""

    has_password: bool
    mfa_enabled: bool
    backup_codes_remaining: int
    passkeys: list[PasskeyItem]
    identities: list[IdentityItem]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedDevice:
    """A device that the user has signed in from; `trusted` is whether it was ever trusted as a second factor."""

    id: UUID
    name: str
    last_used_at: datetime
    last_ip: str | None
    trusted: bool
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSession:
    """A live session of the user; `geo_country` and `geo_city` locate its network address, None if not known."""

    id: UUID
    provider: str
    amr: list[str]
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime
    ip_address: str | None
    geo_country: str | None
    geo_city: str | None
    user_agent: str | None
    is_impersonation: bool
    organization: SignInOrganization | None
    service: SignInService | None

    @property
    def client(self) -> Description:
        """The browser or program, by its own description."""
        return user_agents.describe(self.user_agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedUses:
    """Where an account is used from: its newest live sessions and its devices, with the numbers of all."""

    sessions: list[RecordedSession]
    sessions_total: int
    devices: list[RecordedDevice]
    devices_total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRecord:
    """Everything of an account that helps its user; long lists have the newest rows, and the number of all."""

    user: RecordedAccount
    sign_in_methods: RecordedWays
    limits: AddressLimits
    organizations: list[PlatformUserOrganization]
    devices: list[RecordedDevice]
    devices_total: int
    sessions: list[RecordedSession]
    sessions_total: int
    sign_ins: list[SignIn]
    sign_ins_total: int
    mails: list[OutboxMail]
    mails_total: int


def show(uow: UnitOfWork, user_id: UUID) -> UserRecord:
    """Return the record of an account, as a platform owner or support; raise `UserUnknown`."""
    return _record(uow, support_access.open_record(uow, user_id, RecordPart.ACCOUNT))


def show_of_address(uow: UnitOfWork, email: str) -> UserRecord:
    """Return the record of the account with an address, by command; raise `UserUnknown`."""
    user = uow.users.by_email(normalize_email(email, uow.domain_names.to_ascii))
    if user is None:
        raise UserUnknown("No account has this email address.")
    return _record(uow, user)


def _record(uow: UnitOfWork, user: User) -> UserRecord:
    signed_in = sign_ins.of_user(uow, user.id, None, page=1, limit=SIGN_INS_MAX)
    uses = uses_of(uow, user)
    sent = mails_to(uow, user)
    return UserRecord(
        user=account_of(uow, user),
        sign_in_methods=ways_of(uow, user),
        limits=sign_in_failures.limits_of(uow, user.email),
        organizations=organizations_of(uow, user),
        devices=uses.devices,
        devices_total=uses.devices_total,
        sessions=uses.sessions,
        sessions_total=uses.sessions_total,
        sign_ins=signed_in.sign_ins,
        sign_ins_total=signed_in.total,
        mails=list(sent.mails),
        mails_total=sent.total,
    )


def uses_of(uow: UnitOfWork, user: User) -> RecordedUses:
    """Return where an account is used from; the caller may see it."""
    alive, sessions_total = uow.own_sessions.alive_of(user.id, limits=None, current_id=None, limit=SESSIONS_MAX)
    devices, devices_total = uow.devices.of_user(user.id, at=uow.now, limit=DEVICES_MAX)
    return RecordedUses(
        sessions=[_session(one, uow.locations.find(one.ip_address)) for one in alive],
        sessions_total=sessions_total,
        devices=[_device(state) for state in devices],
        devices_total=devices_total,
    )


def mails_to(uow: UnitOfWork, user: User) -> OutboxPage:
    """Return the newest mails to the address of an account; the caller may see them."""
    return mails.find(uow, OutboxFilter(email=user.email), page=1, limit=MAILS_MAX)


def organizations_of(uow: UnitOfWork, user: User) -> list[PlatformUserOrganization]:
    """Return the organizations of an account; the caller may see them."""
    found = uow.platform_users.with_id(
        user.id, email_part="", organizations_max=ORGANIZATIONS_SHOWN_MAX, hides_owners=False
    )
    return [organization for one in found for organization in one.organizations]


def account_of(uow: UnitOfWork, user: User) -> RecordedAccount:
    """Return the account itself for the record."""
    return RecordedAccount(
        id=user.id,
        email=user.email,
        name=user.name,
        language=user.language,
        email_verified=user.is_verified,
        disowned=user.is_disowned,
        is_platform_owner=user.is_platform_owner,
        is_platform_support=uow.platform_support.has(user.id),
        created_at=user.created_at,
        updated_at=user.updated_at,
        deactivated_at=user.deactivated_at,
        closed_at=user.closed_at,
        locked_at=user.locked_at,
    )


def ways_of(uow: UnitOfWork, user: User) -> RecordedWays:
    """Return the user's ways to sign in; the caller may see them."""
    return RecordedWays(
        has_password=uow.credentials.has_password(user.id),
        mfa_enabled=user.has_mfa,
        backup_codes_remaining=uow.backup_codes.count_unused(user.id),
        passkeys=[passkey.item for passkey in uow.passkeys.of_user(user.id)],
        identities=[
            IdentityItem(
                provider=identity.provider,
                provider_user_id=identity.subject,
                email=identity.email,
                linked_at=identity.linked_at,
            )
            for identity in uow.identities.of_user(user.id, None)
        ],
    )


def _device(state: DeviceState) -> RecordedDevice:
    device = state.device
    return RecordedDevice(
        id=device.id,
        name=device.name,
        last_used_at=device.last_used_at,
        last_ip=device.last_ip,
        trusted=state.mfa_trusted_at is not None,
        created_at=device.created_at,
    )


def _session(one: OwnSession, location: Location | None) -> RecordedSession:
    return RecordedSession(
        id=one.id,
        provider=one.provider,
        amr=one.amr,
        created_at=one.created_at,
        last_used_at=one.last_used_at,
        expires_at=one.expires_at,
        ip_address=one.ip_address,
        geo_country=location.country if location is not None else None,
        geo_city=location.city if location is not None else None,
        user_agent=one.user_agent,
        is_impersonation=one.is_impersonation,
        organization=one.organization,
        service=one.service,
    )


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
    user = support_access.open_record(uow, user_id, RecordPart.ACCOUNT)
    return RecordSummary(
        user=account_of(uow, user),
        is_blocked_by_import=locks.is_blocked_by_import(uow, user),
        mfa_enabled=user.has_mfa,
        limits=sign_in_failures.limits_of(uow, user.email),
        sign_ins=sign_ins.of_user(uow, user.id, None, page=1, limit=LAST_SIGN_INS).sign_ins,
    )


def show_ways(uow: UnitOfWork, user_id: UUID) -> tuple[RecordedAccount, RecordedWays]:
    """Return how the user signs in, likewise."""
    user = support_access.open_record(uow, user_id, RecordPart.WAYS)
    return account_of(uow, user), ways_of(uow, user)


def show_sign_ins(uow: UnitOfWork, user_id: UUID) -> tuple[RecordedAccount, RecordedSignIns]:
    """Return the newest sign-ins, likewise."""
    user = support_access.open_record(uow, user_id, RecordPart.SIGN_INS)
    found = sign_ins.of_user(uow, user.id, None, page=1, limit=SIGN_INS_MAX)
    return account_of(uow, user), RecordedSignIns(sign_ins=found.sign_ins, total=found.total)


def show_uses(uow: UnitOfWork, user_id: UUID) -> tuple[RecordedAccount, RecordedUses]:
    """Return the sessions and devices, likewise."""
    user = support_access.open_record(uow, user_id, RecordPart.SESSIONS)
    return account_of(uow, user), uses_of(uow, user)


def show_organizations(uow: UnitOfWork, user_id: UUID) -> tuple[RecordedAccount, list[PlatformUserOrganization]]:
    """Return the organizations, likewise."""
    user = support_access.open_record(uow, user_id, RecordPart.ORGANIZATIONS)
    return account_of(uow, user), organizations_of(uow, user)


def show_mails(uow: UnitOfWork, user_id: UUID) -> tuple[RecordedAccount, OutboxPage]:
    """Return the newest mails to the address, likewise."""
    user = support_access.open_record(uow, user_id, RecordPart.MAILS)
    return account_of(uow, user), mails_to(uow, user)
