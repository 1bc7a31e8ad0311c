"""What is due for the actors that send and hand on: one process asks for all of it at once, for all processes.

The names are those of `WorkKind`, by which actors are told. What is due has a time that has passed; a retry has its
time, so that it can be looked for then. Which of it an actor takes is decided when it leases.
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
    """Return from when on something is due, for each kind of work that has something; it is one statement.

    Without `finds_seals`, entries without a seal are left out, of which it is not known since when they wait.
    """
    return uow.due_work.next(now=uow.now, events_since=uow.now - RETENTION, mode=mode, finds_seals=finds_seals)
