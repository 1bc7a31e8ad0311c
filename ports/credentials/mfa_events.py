"""Port for the separate log about second factors and the security of accounts."""

from typing import Any, Protocol
from uuid import UUID


class MfaEvents(Protocol):
    """The separate log about second factors and about the security of accounts."""

    def add(self, user_id: UUID, event_type: str, *, is_success: bool, details: dict[str, Any]) -> None:
        """Record an event about a second factor or about the security of the account."""
        ...
