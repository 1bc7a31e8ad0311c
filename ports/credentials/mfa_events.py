"""The separate log about second factors and the security of accounts."""

from typing import Any, Protocol
from uuid import UUID


class MfaEvents(Protocol):
    """The separate log about second factors and about the security of accounts."""

    def add(self, user_id: UUID, event_type: str, *, is_success: bool, details: dict[str, Any]) -> None:
        """Write an event of operations 6.3 down, or another one that the security of the account is about."""
        ...
