"""Attempts to reach a receiver: the outcome of one, and when the next one is made.

Webhooks and logout tokens are sent on the same schedule.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from core.lazy_dataclasses import dataclass

# The delay after each failed attempt; the attempt after the last delay is the last one.
RETRY_DELAYS: Final = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=2))
ATTEMPTS_MAX: Final = len(RETRY_DELAYS) + 1
# Delays vary by up to a tenth, so that what failed together is not retried together.
JITTER: Final = 0.1
# Longer than the slowest attempt and the time to record it; after it another dispatcher may send.
LEASE: Final = timedelta(seconds=60)
# A target that is inactive, or of an inactive organization, is looked at again after this time.
POSTPONEMENT: Final = timedelta(minutes=1)
# Targets of one organization at once, so that its receivers leave room for those of other organizations.
ORGANIZATION_TARGETS_MAX: Final = 8
RESPONSE_CHARACTERS_MAX: Final = 10_000
ERROR_CHARACTERS_MAX: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What an attempt got: a status and the beginning of the body, or the reason why there is no answer.

    `headers` are the headers that were sent; they hold no secret.
    """

    status_code: int | None
    body: str | None
    error: str | None
    duration_ms: int = field(default=0, compare=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)

    @property
    def is_success(self) -> bool:
        """Whether the receiver took what was sent."""
        return self.status_code is not None and 200 <= self.status_code < 300


def next_attempt_at(item_id: UUID, attempts: int, *, at: datetime) -> datetime | None:
    """Return when to try again after that many attempts, all failed; None when the last one was made."""
    if attempts >= ATTEMPTS_MAX:
        return None
    return at + RETRY_DELAYS[attempts - 1] * _variation(item_id, attempts)


def _variation(item_id: UUID, attempts: int) -> float:
    """Return a factor around one that differs between items, so that they are not all retried at once."""
    digest = hashlib.sha256(item_id.bytes + bytes([attempts])).digest()
    return 1 + JITTER * (int.from_bytes(digest[:4]) / 0x8000_0000 - 1)
