"""Following an audit log: how many readers may wait for new entries, for how long, and the present end of each log.

Readers wait without a connection to the database. While some wait, one statement a second finds which of their logs
have new entries, however many readers there are; the places of an organization are so few that it fills no process.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import RateLimitExceeded

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# For each organization, and for the platform, in each process.
PLACES_MAX: Final = 20
WAIT_SECONDS_MAX: Final = 20.0
RETRY_SECONDS: Final = 10
# The log of the platform, among those of the organizations.
PLATFORM_LOG: Final = UUID(int=0)


class TailsTaken(RateLimitExceeded):
    """The maximum of readers waits for new entries of this log already."""

    limit = "audit_tails"
    counts = "readers"
    default_message = (
        "This audit log is being followed by 20 people already. This page loads itself again from time to time instead."
    )


def positions(uow: UnitOfWork, logs: Collection[UUID]) -> Mapping[UUID, int]:
    """Return the present position of each log that has one.

    It is the last sealed position; for the platform it is the number of its newest id.
    """
    found = dict(uow.audit_searches.newest_positions([log for log in logs if log != PLATFORM_LOG]))
    newest = uow.audit_searches.newest_of_platform() if PLATFORM_LOG in logs else None
    if newest is not None:
        found[PLATFORM_LOG] = newest.int
    return found
