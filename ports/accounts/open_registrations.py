"""Port for stored registrations of addresses that are not proved."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.accounts.open_registrations import OpenRegistration


class OpenRegistrations(Protocol):
    """Open registrations with their password hashes."""

    def add(self, registration: OpenRegistration) -> None:
        """Store a registration; without its account the same work stores nothing."""
        ...

    def find(self, user_id: UUID, registration_id: UUID, *, at: datetime) -> OpenRegistration | None:
        """Return a registration of an account that has not expired; None when there is none."""
        ...

    def sole(self, user_id: UUID, email: str, *, at: datetime) -> OpenRegistration | None:
        """Return the registration of an account and address that has not expired; None without one, or with several."""
        ...

    def with_hash(self, user_id: UUID, email: str, password_hash: str, *, at: datetime) -> OpenRegistration | None:
        """Return the registration of an account and address that has this hash and has not expired; None without."""
        ...

    def prolong(self, user_id: UUID, registration_id: UUID, *, until: datetime | None) -> None:
        """Keep a registration of an account until then; one without an end stays so."""
        ...

    def remove(self, user_id: UUID, registration_id: UUID) -> None:
        """Delete a registration of an account, and give the account the password of the newest one that is left.

        Without any the account has no password.
        """
        ...

    def remove_all(self, user_id: UUID) -> None:
        """Delete every registration of an account; its password stays."""
        ...
