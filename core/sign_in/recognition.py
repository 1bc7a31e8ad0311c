"""Recognition of the device of a sign-in by its token, and how a device becomes trusted.

Only the token identifies a device. A browser with the same User-Agent but without the token is listed as the same
device, because its owner would call it so, but it is new for the risk assessment and never trusted. A device becomes
trusted when the user enters a second factor and requests it. Trust belongs to the token and lasts as long as the
organization configures.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.credentials import user_agents
from core.credentials.devices import Device
from core.lazy_dataclasses import dataclass
from core.organizations.organizations import is_device_trusted
from core.secrets import Secret, hash_token
from core.sign_in.risk import Risk

if TYPE_CHECKING:
    from core.deferred import Deferred
    from ports.unit_of_work import UnitOfWork

TOKEN_LIFETIME: Final = timedelta(days=90)
# A browser that goes from service to service signs in to each; the same visit is not stored again so soon.
VISIT_PERIOD: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceToken:
    """The stored form of a device's token, with its hash."""

    token_hash: bytes
    device_id: UUID
    created_at: datetime
    expires_at: datetime
    mfa_trusted_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceMatch:
    """What is known about the device of a request: the device it seems to be, and the token that proves it, if any."""

    device: Device | None = None
    token: DeviceToken | None = None
    presented: Secret | None = None

    @property
    def is_known(self) -> bool:
        """Whether the device presented a valid token."""
        return self.token is not None

    @property
    def known_device_id(self) -> UUID | None:
        """The id of the device, if a valid token proves it."""
        return self.token.device_id if self.token is not None else None

    def is_trusted(self, period: timedelta, *, at: datetime) -> bool:
        """Return whether the device is trusted in place of a second factor."""
        return self.token is not None and is_device_trusted(self.token.mfa_trusted_at, period, at=at)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedDevice:
    """The device that a session begins on, and its token.

    `name` is for a mail about this sign-in: the owner's name for the device, if a token proves that device.
    """

    device_id: UUID
    name: str
    token: Secret


def defer_owner(uow: UnitOfWork, presented: str | None) -> Deferred[UUID | None]:
    """Defer reading whose device has this token, before it is known who signs in; None for an unknown device."""
    if presented is None:
        return lambda: None
    return uow.devices.defer_owner(hash_token(presented), at=uow.now)


def defer_recognition(uow: UnitOfWork, user_id: UUID, presented: str | None) -> Deferred[DeviceMatch]:
    """Defer recognizing the device of this request: one statement for any user, which changes nothing."""
    token_hash = hash_token(presented) if presented is not None else None
    recognized = uow.devices.defer_recognized(user_id, token_hash, uow.origin.user_agent, at=uow.now)

    def device_match() -> DeviceMatch:
        device, token = recognized()
        return DeviceMatch(
            device=device,
            token=token,
            presented=Secret(presented) if presented is not None and token is not None else None,
        )

    return device_match


def admit(uow: UnitOfWork, user_id: UUID, device_match: DeviceMatch, risk: Risk, *, trust: bool) -> AdmittedDevice:
    """Store the sign-in from the device, and issue a token if it has none.

    The device was recognized behind the lock of the account, which a removal of the device takes first.
    """
    visit = _visit(uow, user_id, device_match.device, risk)
    if device_match.device is None:
        uow.devices.add(visit)
    elif not _is_stored(visit, device_match.device):
        uow.devices.save_visit(visit)

    presented, token = device_match.presented, device_match.token
    if presented is None or token is None:
        presented = uow.randomness.token()
        token = _token(uow, visit.id, presented)
        uow.devices.add_token(token)
    if trust:
        uow.devices.trust(token.token_hash, at=uow.now)
    # A mail must not name a different device with the same User-Agent as the owner's device.
    name = visit.name if device_match.is_known else user_agents.describe(visit.user_agent).name
    return AdmittedDevice(device_id=visit.id, name=name, token=presented)


def _visit(uow: UnitOfWork, user_id: UUID, device: Device | None, risk: Risk) -> Device:
    """Return the device with the values of this sign-in; an updated browser has a new version."""
    description = user_agents.describe(uow.origin.user_agent)
    return Device(
        id=device.id if device is not None else uow.randomness.new_id(),
        user_id=user_id,
        name=device.name if device is not None else description.name,
        device_type=description.device_type,
        browser=description.browser,
        browser_version=description.browser_version,
        os=description.os,
        os_version=description.os_version,
        user_agent=uow.origin.user_agent,
        last_used_at=uow.now,
        last_ip=uow.origin.ip_address,
        last_city=risk.location.city if risk.location is not None else None,
        last_country=risk.location.country if risk.location is not None else None,
        risk_score=risk.percent,
        created_at=device.created_at if device is not None else uow.now,
        updated_at=device.updated_at if device is not None else uow.now,
    )


def _is_stored(visit: Device, stored: Device) -> bool:
    """Return whether a visit says nothing that the previous one, a moment ago, has not said."""
    is_soon = visit.last_used_at - stored.last_used_at < VISIT_PERIOD
    return is_soon and replace(visit, last_used_at=stored.last_used_at) == stored


def _token(uow: UnitOfWork, device_id: UUID, presented: Secret) -> DeviceToken:
    return DeviceToken(
        token_hash=hash_token(presented.reveal()),
        device_id=device_id,
        created_at=uow.now,
        expires_at=uow.now + TOKEN_LIFETIME,
    )
