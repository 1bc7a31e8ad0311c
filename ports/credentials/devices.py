"""Ports for stored devices and for the locations of IP addresses."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.credentials.devices import Device, DeviceState, RenamedDevice
from core.deferred import Deferred
from core.sign_in.recognition import DeviceToken
from core.sign_in.risk import Location


class Devices(Protocol):
    """Devices and their tokens. A removed device keeps its row, which only `by_id` finds."""

    def defer_recognized(
        self, user_id: UUID, token_hash: bytes | None, user_agent: str | None, *, at: datetime
    ) -> Deferred[tuple[Device | None, DeviceToken | None]]:
        """Defer reading the user's device that a token belongs to, with the token.

        Without a valid token: the device that last used this User-Agent, and None. Without either: None twice. Each
        case takes one statement.
        """
        ...

    def defer_owner(self, token_hash: bytes, *, at: datetime) -> Deferred[UUID | None]:
        """Defer reading which user's device a valid token belongs to; None without a valid token."""
        ...

    def add(self, device: Device) -> None:
        """Store a new device."""
        ...

    def save_visit(self, device: Device) -> None:
        """Store what a sign-in reports about a device, which is everything but its name."""
        ...

    def by_id(self, device_id: UUID, *, at: datetime) -> DeviceState | None:
        """Return a device of any user, also a removed one; None when there is none."""
        ...

    def of_user(self, user_id: UUID, *, at: datetime, limit: int) -> tuple[Sequence[DeviceState], int]:
        """Return at most `limit` devices of a user, the most recently used first, and the number of all of them."""
        ...

    def rename(self, device_id: UUID, name: str, *, user_id: UUID, at: datetime) -> RenamedDevice | None:
        """Rename a user's device; None when it was removed."""
        ...

    def remove(self, device_id: UUID, *, user_id: UUID, at: datetime) -> bool:
        """Remove a user's device and delete its tokens; False when it was removed before, also by a concurrent call."""
        ...

    def add_token(self, token: DeviceToken) -> None:
        """Store a new token."""
        ...

    def trust(self, token_hash: bytes, *, at: datetime) -> None:
        """Trust a token in place of the second factor from now on."""
        ...

    def delete_tokens(self, user_id: UUID) -> None:
        """Delete the tokens of a user's devices: none is known or trusted until the next sign-in from it."""
        ...

    def remove_all(self, user_id: UUID, *, at: datetime) -> None:
        """Remove a user's devices and delete their tokens."""
        ...

    def revoke_trust(self, user_id: UUID) -> None:
        """Stop trusting a user's devices in place of the second factor."""
        ...


class Locations(Protocol):
    """Locations of IP addresses, if a database of them is configured."""

    def find(self, ip_address: str | None) -> Location | None:
        """Return the location of an address, None when unknown. Fast, without network access; never raises."""
        ...
