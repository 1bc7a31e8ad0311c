"""The people of the platform's support."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.platform.support import PlatformSupport


class PlatformSupportStaff(Protocol):
    """Appointments to the platform's support; `Users.end_support` ends one."""

    def all(self) -> Sequence[PlatformSupport]:
        """List the appointed people, by their addresses."""
        ...

    def has(self, user_id: UUID) -> bool:
        """Return whether an account is appointed."""
        ...

    def add(self, user_id: UUID) -> bool:
        """Appoint a locked account; False when it is appointed already."""
        ...
