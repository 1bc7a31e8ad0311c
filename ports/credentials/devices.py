"""What the core asks of the stored devices, and of whoever knows where an address is."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.credentials.devices import Device, KeptDevice, RenamedDevice
from core.deferred import Deferred
from core.sign_in.recognition import DeviceToken
from core.sign_in.risk import Location


class Devices(Protocol):
    """Devices and their tokens. A removed device keeps its row, and nothing here finds it but `by_id`."""

    def defer_recognized(
        self, user_id: UUID, token_hash: bytes | None, user_agent: str | None, *, at: datetime
    ) -> Deferred[tuple[Device | None, DeviceToken | None]]:
        """Ask for the device of this person that the token belongs to, and the token.

        Without a token that is good, find the device that last used this User-Agent. One statement in any case.
        """
        ...

    def add(self, device: Device) -> None:
        """Store a new device."""
        ...

    def save_visit(self, device: Device) -> Deferred[bool]:
        """Store what a sign-in says of a device, which is all but its name; False when it was removed meanwhile.

        Nobody removes it before this transaction ends.
        """
        ...

    def by_id(self, device_id: UUID, *, at: datetime) -> KeptDevice | None:
        """Find a device of anybody, a removed one as well."""
        ...

    def of_user(self, user_id: UUID, *, at: datetime, limit: int) -> tuple[Sequence[KeptDevice], int]:
        """List the devices of this person, the one used last first and at most `limit`, and count all of them."""
        ...

    def rename(self, device_id: UUID, name: str, *, user_id: UUID, at: datetime) -> RenamedDevice | None:
        """Give a device of this person a name; None when it was removed."""
        ...

    def remove(self, device_id: UUID, *, user_id: UUID, at: datetime) -> bool:
        """Remove a device of this person and delete its tokens; False when it was removed before. One racer removes."""
        ...

    def add_token(self, token: DeviceToken) -> None:
        """Store a new token."""
        ...

    def trust(self, token_hash: bytes, *, at: datetime) -> None:
        """Let a token remember the second factor from now on."""
        ...

    def forget_tokens(self, user_id: UUID) -> None:
        """Let no device of this person be known, and so none be trusted, until somebody signs in from it again."""
        ...

    def forget_trust(self, user_id: UUID) -> None:
        """Let no device of this person remember a second factor any longer."""
        ...


class Locations(Protocol):
    """Knows where an address seems to be, if a database of such things was given."""

    def find(self, ip_address: str | None) -> Location | None:
        """Find an address; quick, without the network, and never an error."""
        ...
