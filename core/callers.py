"""Who asks, and from where. Every use case finds its caller in the unit of work."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a request came from, as the audit log and the login events will remember it; empty for background work."""

    request_id: str | None = None
    ip_address: str | None = None
    user_agent: str | None = None


BACKGROUND = Origin()
