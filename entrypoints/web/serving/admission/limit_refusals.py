"""Which limit has refused a request, and what that limit counts, for the metrics: words of a bounded vocabulary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from core.accounts.own_accounts import TooManyConflicts
from core.audit.browser import TailsTaken
from core.errors import ErrorCode, RateLimitExceeded, Refusal
from core.invitations.invitations import TooManyWaiting
from core.mail.limits import MailLimit
from core.rate_limits import RateLimit
from core.tables import PartialTable

_BY_CODE: Final = PartialTable(
    {
        ErrorCode.PAYLOAD_TOO_LARGE: ("body", "bytes"),
        ErrorCode.REQUEST_TIMEOUT: ("body", "seconds"),
        ErrorCode.SERVICE_LIMIT_EXCEEDED: ("tier", "services"),
        ErrorCode.TEAM_LIMIT_EXCEEDED: ("tier", "members"),
    }
)
# Limits that a use case names where it refuses, and limits with a refusal of their own.
_NAMED: Final = (
    ("customer_domains", "domains"),
    ("customer_offers", "offers"),
    ("made_customers", "customers"),
    ("mailed_codes", "failures"),
    ("sign_in_failures", "failures"),
    ("unclaimed_customers", "customers"),
)
_OWN: Final[tuple[type[RateLimitExceeded], ...]] = (RateLimitExceeded, TailsTaken, TooManyConflicts, TooManyWaiting)


def limit_of(refusal: Refusal) -> tuple[str, str] | None:
    """Return the limit and what it counts; None for a refusal of another cause."""
    if isinstance(refusal, RateLimitExceeded):
        return refusal.limit, refusal.counts
    return _BY_CODE.get(refusal.code)


def vocabulary() -> Iterator[tuple[str, str]]:
    """Yield all that `limit_of` may return."""
    yield from _BY_CODE.values()
    yield from _NAMED
    for refusal in _OWN:
        yield refusal.limit, refusal.counts
    for limit in RateLimit:
        yield limit.name.lower(), RateLimitExceeded.counts
    for mails in MailLimit:
        if mails.refusal is not None:
            yield mails.name.lower(), "mails"
