"""The sign-ins that a SIEM gets beside the audit log, outside of its chain (decisions 15.7).

They are those of the organization's context, and of its people at products and by its connections; refused ones too.
One that waits for a second factor is none yet. They are read from the log of sign-ins in the order of their times, from
a stored place on: a row may be written or finished a moment after its time, so that what is younger than
`SETTLED_AFTER` waits, and none is passed over. Who it was is told as in `sign_in_log.py`: of the organization's own
people, since they have confirmed that they are.
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
# Clocks differ, and a transaction that began at a time is committed within this one more.
SETTLED_AFTER: Final = CLOCKS_DIFFER_MAX + timedelta(minutes=1)
# How much of the log one statement puts in the order of times.
WINDOW: Final = timedelta(minutes=10)
# How often a stream looks for new ones.
LOOKED_FOR_EVERY: Final = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedSignIn:
    """A sign-in as the log has it. Who it was and from where is None where the organization may not know."""

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
        """What became of it."""
        return "success" if self.success else "refused"

    @property
    def payload(self) -> dict[str, Any]:
        """What a receiver gets."""
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
    """A part of the log in the order of times: what is to be sent, up to which place, and whether more follows."""

    found: Sequence[StreamedSignIn]
    through: SignInCursor
    has_more: bool


def next_part(uow: UnitOfWork, organization_id: UUID, after: SignInCursor, *, limit: int) -> SignInPart:
    """Return the next sign-ins after a place, at most so many."""
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
