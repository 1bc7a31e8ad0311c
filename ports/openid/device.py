"""Storage of devices that wait for their users."""

from datetime import timedelta
from typing import Protocol
from uuid import UUID

from core.openid.device import DeviceCode, WaitingDevice


class DeviceCodes(Protocol):
    """Device codes, and the user codes beside them."""

    def add(self, device_code_hash: bytes, user_code_hash: bytes, device: DeviceCode) -> bool:
        """Store a device; False when another one has the same user code."""
        ...

    def waiting(self, user_code_hash: bytes) -> tuple[DeviceCode, WaitingDevice] | None:
        """Return the device with a user code, answered and expired ones too; None when there is none."""
        ...

    def answer(self, user_code_hash: bytes, *, session_id: UUID | None) -> bool:
        """Approve a device with a session, or deny it without one.

        False when there is none with the code, or it has expired or is answered, also by a concurrent call.
        """
        ...

    def lock(self, device_code_hash: bytes) -> DeviceCode | None:
        """Lock a device until this transaction ends, and return it; None when there is none."""
        ...

    def note_poll(self, device_code_hash: bytes, *, interval: timedelta) -> None:
        """Record that a locked device polls now, and how long it has to wait before the next poll."""
        ...

    def use(self, device_code_hash: bytes) -> None:
        """Use up the code of a locked device."""
        ...
