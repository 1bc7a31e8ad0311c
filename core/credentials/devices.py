"""Devices that users sign in from: list them, rename them, remove them.

How a sign-in recognizes a device, and how the device becomes trusted, is in `core/sign_in/recognition.py`. A removed
device keeps its row for a while, so that removing it twice is no error; everything else treats it as deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import (
    datetime,
    timedelta,
)
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.credentials.user_agents import DeviceType
from core.errors import BadRequest, Forbidden, NotFound
from core.events import actions
from core.lazy_dataclasses import dataclass
from core.organizations.organizations import DEVICE_TRUST_DEFAULT, is_device_trusted
from core.sessions import sessions
from core.sessions.caller_limits import Act, ConfinedElsewhere
from core.sessions.callers import Caller
from core.text import checked_name

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# A user with more devices created them with a script. The most recently used are listed; removing some reveals others.
LISTED_MAX: Final = 200


class DeviceUnknown(NotFound):
    """No device has this id, or it was removed."""

    default_message = "You have no such device."


class DeviceOfAnother(Forbidden):
    """The device is another user's: the only refusal that distinguishes this from an unknown id."""

    default_message = "This device belongs to another user."


class DeviceInUse(BadRequest):
    """The device belongs to the caller's own session."""

    default_message = "You are using this device now. To end its session, sign out."


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A device that a user signs in from; `risk_score` is the score of the last sign-in, from 0 to 100."""

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
class DeviceState:
    """A device, since when it is trusted as a second factor, and when a session on it was last begun or refreshed."""

    device: Device
    mfa_trusted_at: datetime | None
    seen_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceItem:
    """A device in its owner's list. A text is empty where the value is unknown."""

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
class DeviceLocation:
    """The location of the last sign-in from a device; the country as a two-letter code (ISO 3166)."""

    city: str
    country: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceDetails(DeviceItem):
    """Everything known about a device. `risk_score` is the score of the last sign-in from it, from 0 to 1."""

    browser_version: str
    os_version: str
    last_location: DeviceLocation
    risk_score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RenamedDevice:
    """A device with its new name."""

    id: UUID
    name: str
    device_type: DeviceType
    updated_at: datetime


def list_mine(uow: UnitOfWork) -> tuple[Sequence[DeviceItem], int]:
    """Return the caller's devices, the most recently used first, and how many there are in total.

    A session with limits shows those on which a session within them is alive.
    """
    caller = uow.caller
    devices, total = uow.devices.of_user(caller.account.id, at=uow.now, limit=LISTED_MAX)
    shown = _shown(uow, caller)
    if shown is not None:
        devices = [state for state in devices if state.device.id in shown]
        total = len(devices)
    period = _trust_period(uow, caller)
    return [_item(state, caller, period, uow.now) for state in devices], total


def show_mine(uow: UnitOfWork, device_id: UUID) -> DeviceDetails:
    """Return one of the caller's devices."""
    caller = uow.caller
    state = _own_device(uow, caller, device_id)
    if state.device.revoked_at is not None:
        raise DeviceUnknown
    return _detail(state, _item(state, caller, _trust_period(uow, caller), uow.now))


def rename_mine(uow: UnitOfWork, device_id: UUID, name: str) -> RenamedDevice:
    """Rename one of the caller's devices."""
    new_name = checked_name(name, characters_min=1)
    caller = uow.caller
    _own_device(uow, caller, device_id)
    renamed = uow.devices.rename(device_id, new_name, user_id=caller.account.id, at=uow.now)
    if renamed is None:
        raise DeviceUnknown
    actions.record_impersonated(uow, "device.renamed", device_id=str(device_id))
    return renamed


def remove_mine(uow: UnitOfWork, device_id: UUID) -> None:
    """Remove one of the caller's devices and end its sessions; removing it again changes nothing."""
    caller = uow.caller
    # An impersonator must not end the user's sessions, nor make the user enter a second factor again.
    caller.require(Act.WHOLE_ACCOUNT)
    if caller.shown_within is not None:
        # Sessions beyond the limits may be alive on the device.
        raise ConfinedElsewhere
    _own_device(uow, caller, device_id)
    if device_id == caller.session.device_id:
        raise DeviceInUse
    uow.users.lock(caller.account.id)
    # A concurrent sign-in from the device holds the account until its session is stored, and so ends with the others.
    if uow.devices.remove(device_id, user_id=caller.account.id, at=uow.now):
        # One of them may have begun on this device; a challenge does not record its device.
        uow.unfinished_sign_ins.end_all(caller.account.id)
        ended = uow.sessions.revoke_of_device(device_id, user_id=caller.account.id)
        sessions.record_ended(uow, caller.account.id, caller.account.email, ended, reason="device_removed")


def _own_device(uow: UnitOfWork, caller: Caller, device_id: UUID) -> DeviceState:
    """Return a device of the caller within the limits of the session, also a removed one."""
    state = uow.devices.by_id(device_id, at=uow.now)
    if state is None:
        raise DeviceUnknown
    if state.device.user_id != caller.account.id:
        raise DeviceOfAnother
    shown = _shown(uow, caller)
    if shown is not None and device_id not in shown:
        raise DeviceUnknown
    return state


def _shown(uow: UnitOfWork, caller: Caller) -> set[UUID | None] | None:
    """Return the ids of the devices that the session shows; None for all of them."""
    if caller.shown_within is None:
        return None
    return {session.device_id for session in sessions.shown_to(uow, caller)}


def _trust_period(uow: UnitOfWork, caller: Caller) -> timedelta:
    """Return how long devices are trusted in the organization of the caller's session."""
    organization = uow.organizations.by_slug(caller.place.organization_slug) if caller.place.organization_slug else None
    return organization.device_trust if organization is not None else DEVICE_TRUST_DEFAULT


def _item(state: DeviceState, caller: Caller, trust_period: timedelta, now: datetime) -> DeviceItem:
    device = state.device
    return DeviceItem(
        id=device.id,
        name=device.name,
        device_type=device.device_type,
        browser=device.browser or "",
        os=device.os or "",
        last_used_at=state.seen_at,
        last_ip=device.last_ip or "",
        is_current=device.id == caller.session.device_id,
        trusted=is_device_trusted(state.mfa_trusted_at, trust_period, at=now),
        created_at=device.created_at,
    )


def _detail(state: DeviceState, item: DeviceItem) -> DeviceDetails:
    device = state.device
    return DeviceDetails(
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
        last_location=DeviceLocation(city=device.last_city or "", country=device.last_country or ""),
        risk_score=device.risk_score / 100,
    )
