"""Due work of the actors that send and hand on: one process asks for all of it at once, for all processes.

The names are those of `WorkKind`, which wake the actors. Due work has a time that has passed; a retry has a later time,
at which the process looks for it. An actor decides which work it takes when it leases.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from core.billing.provider import BillingMode
from core.webhooks.events import RETENTION

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def due(uow: UnitOfWork, mode: BillingMode, *, finds_seals: bool = True) -> Mapping[str, datetime]:
    """Return the time since when work is due, for each kind that has any, in one statement.

    Without `finds_seals`, unsealed entries are left out, because the start of their waiting is not known.
    """
    return uow.due_work.next(now=uow.now, events_since=uow.now - RETENTION, mode=mode, finds_seals=finds_seals)
