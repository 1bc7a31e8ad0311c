"""Mails that leave through the mail server of their organization: leased by server, one after the other.

A server that is down or refuses the login pauses as a whole: its mails wait without using up their attempts, and are
tried again with growing delays. So a dead server costs one connection for each delay, and delays no other organization.
The settings and the notice to the owner are in `core/organizations/settings/smtp.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.mail.mail import ERROR_CHARACTERS_MAX, LEASE, RETRY_DELAYS, Mail, attemptable
from core.mail.servers import MailServer

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# A mail that has waited so long is no use to its recipient any more.
WAIT_MAX: Final = timedelta(days=7)
EXPIRED: Final = "The mail server of the organization took no mail for 7 days."
# The owner gets a notice with this failure in a row: after half an hour, so that a restart of the server causes none.
FAILURES_BEFORE_NOTICE: Final = 4
# An address in the answer of a mail server is personal data, which the settings of an organization must not keep.
_ADDRESS: Final = re.compile(r"<?[^\s<>@]+@[^\s<>@]+>?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerHealth:
    """How a mail server has worked lately; without failures in a row it is working."""

    failures: int = 0
    failing_since: datetime | None = None
    next_attempt_at: datetime | None = None
    last_error: str | None = None
    last_success_at: datetime | None = None

    def working(self, *, at: datetime) -> ServerHealth:
        """Return the health after a mail was accepted."""
        return ServerHealth(last_success_at=at)

    def failed(self, error: str, *, at: datetime) -> ServerHealth:
        """Return the health after one more failure."""
        failures = self.failures + 1
        return ServerHealth(
            failures=failures,
            failing_since=self.failing_since or at,
            next_attempt_at=at + RETRY_DELAYS[min(failures, len(RETRY_DELAYS)) - 1],
            last_error=kept_answer(error),
            last_success_at=self.last_success_at,
        )


def kept_answer(text: str) -> str:
    """Return the kept part of a mail server's answer: its beginning, without the addresses of persons."""
    return _ADDRESS.sub("…", text)[:ERROR_CHARACTERS_MAX]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedServer:
    """The mail server of an organization, with the next mails for it; `settings_at` identifies its settings."""

    organization_id: UUID
    server: MailServer
    health: ServerHealth
    settings_at: datetime
    leased_until: datetime
    mails: Sequence[Mail]


def lease(uow: UnitOfWork, servers_max: int, mails_max: int) -> Sequence[LeasedServer]:
    """Lease mail servers of organizations for which mails are due."""
    leased = uow.routed_mail.lease(servers_max, mails_max, leased_until=uow.now + LEASE)
    return [replace(server, mails=attemptable(uow, server.mails)) for server in leased]


def release(uow: UnitOfWork, leased: LeasedServer, *, has_accepted: bool) -> None:
    """End a lease after all its mails were attempted."""
    if has_accepted:
        uow.routed_mail.save_health(leased, leased.health.working(at=uow.now))
    uow.routed_mail.release(leased)


def return_unsent(uow: UnitOfWork, leased: LeasedServer, unsent: Sequence[Mail]) -> None:
    """End a lease without an attempt for these of its mails."""
    uow.routed_mail.put_back(leased.organization_id, [mail.id for mail in unsent])
    uow.routed_mail.release(leased)


def expire(uow: UnitOfWork, limit: int) -> int:
    """Mark at most `limit` mails as failed that have waited too long, and return how many."""
    return uow.routed_mail.expire(uow.now - WAIT_MAX, limit, error=EXPIRED)
