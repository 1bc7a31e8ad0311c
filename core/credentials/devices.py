"""Devices: what a person signs in from, and how people look after theirs.

How a device is recognized at a sign-in and comes to be trusted is in `devices_recognition.py`. A removed device keeps
its row for a while, so that removing it twice is no error; for everything else it is gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - the reference is made from the fields of the classes below
from typing import TYPE_CHECKING, Final
from uuid import UUID  # noqa: TC003 - likewise

from core.credentials.user_agents import DeviceType  # noqa: TC001 - likewise
from core.errors import BadRequest, Forbidden, NotFound
from core.events import platform_actions
from core.limits import NAME_CHARACTERS_MAX
from core.organizations.organizations import DEVICE_TRUST_DEFAULT, is_trusted
from core.sessions import sessions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

    from core.sessions.callers import Caller
    from ports.unit_of_work import UnitOfWork

# Whoever has more made them with a program. Those used last are listed, and removing some brings up others.
LISTED_MAX: Final = 200


class DeviceUnknown(NotFound):
    """There is none of that id, or it was removed."""

    default_message = "You have no such device."


class DeviceOfAnother(Forbidden):
    """The one place where the interface tells what is not yours from what is not there (decisions 1.6)."""

    default_message = "This device belongs to somebody else."


class DeviceInUse(BadRequest):
    """The device of the session that asks."""

    default_message = "You are using this device now. To end its session, sign out."


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """Something that a person signs in from; `risk_score` is 0 to 100, as of the last sign-in."""

    id: UUID
    user_id: UUID
    name: str
    device_type: DeviceType
    browser: str | None
    browser_version: str | None
    os: str | None
    os_version: str | None
    user_agent: str | None
    last_used_at: datetime
    last_ip: str | None
    last_city: str | None
    last_country: str | None
    risk_score: int
    created_at: datetime
    updated_at: datetime
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptDevice:
    """A device, since when it remembers a second factor, and when a session of it was begun or refreshed last."""

    device: Device
    mfa_trusted_at: datetime | None
    seen_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceItem:
    """A device as its owner sees it in the list; a text is empty where nothing is known."""

    id: UUID
    name: str
    device_type: DeviceType
    browser: str
    os: str
    last_used_at: datetime
    last_ip: str
    is_current: bool
    trusted: bool
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """Where a device was when somebody signed in from it last; the country as its two letters (ISO 3166)."""

    city: str
    country: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceDetail(DeviceItem):
    """All there is to know about a device; `risk_score` is that of the last sign-in from it, from 0 to 1."""

    browser_version: str
    os_version: str
    last_location: Whereabouts
    risk_score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RenamedDevice:
    """A device under its new name."""

    id: UUID
    name: str
    device_type: DeviceType
    updated_at: datetime


def list_mine(uow: UnitOfWork) -> tuple[Sequence[DeviceItem], int]:
    """List the caller's devices, the one used last first, and say how many there are."""
    caller = uow.caller
    devices, total = uow.devices.of_user(caller.user_id, at=uow.now, limit=LISTED_MAX)
    period = _trust_period(uow, caller)
    return [_item(kept, caller, period, uow.now) for kept in devices], total


def show_mine(uow: UnitOfWork, device_id: UUID) -> DeviceDetail:
    """Show one of the caller's devices."""
    caller = uow.caller
    kept = _mine(uow, caller, device_id)
    if kept.device.revoked_at is not None:
        raise DeviceUnknown
    return _detail(kept, _item(kept, caller, _trust_period(uow, caller), uow.now))


def rename_mine(uow: UnitOfWork, device_id: UUID, name: str) -> RenamedDevice:
    """Give one of the caller's devices a name."""
    trimmed = name.strip()
    if not 1 <= len(trimmed) <= NAME_CHARACTERS_MAX:
        raise BadRequest.of_field("name", f"A name has 1 to {NAME_CHARACTERS_MAX} characters.")
    caller = uow.caller
    _mine(uow, caller, device_id)
    renamed = uow.devices.rename(device_id, trimmed, user_id=caller.user_id, at=uow.now)
    if renamed is None:
        raise DeviceUnknown
    platform_actions.record_impersonated(uow, "device.renamed", device_id=str(device_id))
    return renamed


def remove_mine(uow: UnitOfWork, device_id: UUID) -> None:
    """Remove one of the caller's devices, and end what was begun on it; once more changes nothing."""
    caller = uow.caller
    # It would end sessions of the person, and make them give a code again.
    caller.forbid_impersonated()
    _mine(uow, caller, device_id)
    if device_id == caller.device_id:
        raise DeviceInUse
    # The device before its sessions: whoever signs in from it at this moment holds its row until theirs is there.
    if uow.devices.remove(device_id, user_id=caller.user_id, at=uow.now):
        ended = uow.sessions.revoke_of_device(device_id, user_id=caller.user_id)
        sessions.record_ended(uow, caller.user_id, caller.email, ended, reason="device_removed")


def _mine(uow: UnitOfWork, caller: Caller, device_id: UUID) -> KeptDevice:
    """Find a device of the caller, a removed one as well."""
    kept = uow.devices.by_id(device_id, at=uow.now)
    if kept is None:
        raise DeviceUnknown
    if kept.device.user_id != caller.user_id:
        raise DeviceOfAnother
    return kept


def _trust_period(uow: UnitOfWork, caller: Caller) -> timedelta:
    """Say for how long devices are trusted where the caller is signed in."""
    organization = uow.organizations.by_slug(caller.organization_slug) if caller.organization_slug else None
    return organization.device_trust if organization is not None else DEVICE_TRUST_DEFAULT


def _item(kept: KeptDevice, caller: Caller, trust_period: timedelta, now: datetime) -> DeviceItem:
    device = kept.device
    return DeviceItem(
        id=device.id,
        name=device.name,
        device_type=device.device_type,
        browser=device.browser or "",
        os=device.os or "",
        last_used_at=kept.seen_at,
        last_ip=device.last_ip or "",
        is_current=device.id == caller.device_id,
        trusted=is_trusted(kept.mfa_trusted_at, trust_period, at=now),
        created_at=device.created_at,
    )


def _detail(kept: KeptDevice, item: DeviceItem) -> DeviceDetail:
    device = kept.device
    return DeviceDetail(
        id=item.id,
        name=item.name,
        device_type=item.device_type,
        browser=item.browser,
        os=item.os,
        last_used_at=item.last_used_at,
        last_ip=item.last_ip,
        is_current=item.is_current,
        trusted=item.trusted,
        created_at=item.created_at,
        browser_version=device.browser_version or "",
        os_version=device.os_version or "",
        last_location=Whereabouts(city=device.last_city or "", country=device.last_country or ""),
        risk_score=device.risk_score / 100,
    )
