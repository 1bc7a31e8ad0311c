"""Which limit has refused a request, and what that limit counts, for the metrics: words of a bounded vocabulary."""

from __future__ import annotations

from typing import Final

from core.errors import ErrorCode, RateLimitExceeded, Refusal
from core.tables import PartialTable

_BY_CODE: Final = PartialTable(
    {
        ErrorCode.PAYLOAD_TOO_LARGE: ("body", "bytes"),
        ErrorCode.REQUEST_TIMEOUT: ("body", "seconds"),
        ErrorCode.SERVICE_LIMIT_EXCEEDED: ("tier", "services"),
        ErrorCode.TEAM_LIMIT_EXCEEDED: ("tier", "members"),
    }
)


def limit_of(refusal: Refusal) -> tuple[str, str] | None:
    """Return the limit and what it counts; None for a refusal of another cause."""
    if isinstance(refusal, RateLimitExceeded):
        return refusal.limit, refusal.counts
    return _BY_CODE.get(refusal.code)
