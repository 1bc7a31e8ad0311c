"""The sign-ins that a SIEM gets beside the audit log, outside of its chain.

These are the sign-ins in the organization's context, and of its people at products and by its connections, also refused
ones; not those that still wait for a second factor. They are read from the log of sign-ins in the order of their times,
from a stored place on. A row may be written or finished a moment after its time, so rows younger than `SETTLED_AFTER`
wait, and none is missed. As in `sign_in_log.py`, they name the organization's own people alone, from the time of their
confirmation on.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.audit.chain import time_text
from core.audit.siem import SignInCursor
from core.ids import CLOCKS_DIFFER_MAX, moment_of
from core.lazy_dataclasses import dataclass
from core.sign_in.reasons import SignInReason, reason_of

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

TYPE: Final = "sign_in"
# Clocks differ, and a transaction is committed within a minute after its time.
SETTLED_AFTER: Final = CLOCKS_DIFFER_MAX + timedelta(minutes=1)
# One statement puts so much of the log in the order of times.
WINDOW: Final = timedelta(minutes=10)
# How often a stream looks for new ones.
LOOKED_FOR_EVERY: Final = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedSignIn:
    """A sign-in of the log; the person and the address are None where the organization may not know them."""

    id: UUID
    created_at: datetime
    success: bool
    reason: str | None
    user_id: UUID | None
    email: str | None
    service: str | None
    customer: str | None
    connection_id: UUID | None
    ip_address: str | None

    @property
    def cursor(self) -> SignInCursor:
        """The place behind it."""
        return SignInCursor(at=self.created_at, id=self.id)

    @property
    def outcome(self) -> str:
        """The outcome."""
        return "success" if self.success else "refused"

    @property
    def payload(self) -> dict[str, Any]:
        """The form for a receiver."""
        known = None if self.success else reason_of(self.reason) or SignInReason.NOT_RECORDED
        return {
            "type": TYPE,
            "id": str(self.id),
            "outcome": self.outcome,
            "reason": known.value if known is not None else None,
            "user": {"id": str(self.user_id), "email": self.email} if self.user_id is not None else None,
            "service": self.service,
            "customer": self.customer,
            "connection_id": str(self.connection_id) if self.connection_id is not None else None,
            "ip": self.ip_address,
            "created_at": time_text(self.created_at),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInPart:
    """A part of the log in the order of times: the sign-ins to send, the place behind them, and whether more follow."""

    found: Sequence[StreamedSignIn]
    through: SignInCursor
    has_more: bool


def next_part(uow: UnitOfWork, organization_id: UUID, after: SignInCursor, *, limit: int) -> SignInPart:
    """Return the next sign-ins after a place, at most `limit`."""
    settled = uow.now - SETTLED_AFTER
    if settled <= after.at:
        return SignInPart(found=(), through=after, has_more=False)
    first_id = uow.siem_sign_ins.first_after(organization_id, after, until=settled)
    if first_id is None:
        return SignInPart(found=(), through=SignInCursor(at=settled), has_more=False)
    # No row with this id or a later one has an earlier time.
    begin = max(after.at, moment_of(first_id) - CLOCKS_DIFFER_MAX)
    until = min(settled, begin + WINDOW)
    found = uow.siem_sign_ins.page(organization_id, after, first_id=first_id, until=until, limit=limit + 1)
    if len(found) > limit:
        return SignInPart(found=found[:limit], through=found[limit - 1].cursor, has_more=True)
    return SignInPart(found=found, through=SignInCursor(at=until), has_more=until < settled)
