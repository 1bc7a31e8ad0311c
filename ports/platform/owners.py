"""Reading the platform owners, for their list."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.platform.owners import ListedPlatformOwner


class PlatformOwners(Protocol):
    """The platform owners; `Users` changes them."""

    def all(self) -> Sequence[ListedPlatformOwner]:
        """List them by their addresses."""
        ...

    def ids(self) -> Sequence[UUID]:
        """List the ids of their accounts."""
        ...
