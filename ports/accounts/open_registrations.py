"""Port for stored registrations of addresses that are not proved."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.accounts.open_registrations import OpenRegistration


class OpenRegistrations(Protocol):
    """Open registrations with their password hashes."""

    def add(self, registration: OpenRegistration) -> None:
        """Store a registration; if its account does not exist, do the same work and store nothing."""
        ...

    def find(self, user_id: UUID, registration_id: UUID, *, at: datetime) -> OpenRegistration | None:
        """Return a registration of an account that has not expired; None when there is none."""
        ...

    def sole(self, user_id: UUID, email: str, *, at: datetime) -> OpenRegistration | None:
        """Return the registration of an account and address that has not expired; None without one, or with several."""
        ...

    def with_hash(self, user_id: UUID, email: str, password_hash: str, *, at: datetime) -> OpenRegistration | None:
        """Return the unexpired registration of an account and address with this hash; None when there is none."""
        ...

    def prolong(self, user_id: UUID, registration_id: UUID, *, until: datetime | None) -> None:
        """Keep a registration of an account until then; one that never expires stays so."""
        ...

    def remove(self, user_id: UUID, registration_id: UUID) -> None:
        """Delete a registration of an account. The account gets the password of the newest one left, or none."""
        ...

    def remove_all(self, user_id: UUID) -> None:
        """Delete every registration of an account; its password stays."""
        ...
