"""Why sign-ins by a connection failed lately, for the people who set it up: problems, never persons.

One row for each problem of a connection, with its first and last time and how often it occurred: strangers who cause
one problem again and again hide no other. Why the sign-in of one person failed is a login event (`refused.py`).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.sign_in.upstream.connections import setup_states
from core.sign_in.upstream.connections.setup_states import ConnectionSetupState
from core.sign_in.upstream.provider_problems import ProviderProblem

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

SHOWN_MAX: Final = 10
# A problem that did not occur for this long begins anew.
SERIES: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamFailure:
    """A problem of a connection; `last_request_id` is the last request that met it."""

    problem: ProviderProblem
    first_at: datetime
    last_at: datetime
    occurrences: int
    last_request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionProgress:
    """The progress of a connection: when it was checked as it is stored, and how sign-ins by it went.

    `checked_at` is None before a check, and `problem` is the finding of the check. `failing_since` is the first known
    failure after the last sign-in, apart from failures of a single sign-in; None when there is none. `off_reason` is
    why it was switched off automatically; None when it was not.
    """

    connection_id: UUID
    checked_at: datetime | None
    problem: ProviderProblem | None
    last_sign_in_at: datetime | None
    failing_since: datetime | None
    off_reason: str | None = None


def note(
    uow: UnitOfWork, organization_id: UUID, connection_id: UUID, problem: ProviderProblem, *, request_id: str
) -> None:
    """Record that a sign-in by a connection failed; nothing when the connection is gone."""
    uow.upstream_failures.add(organization_id, connection_id, problem, at=uow.now, request_id=request_id, series=SERIES)
    if not problem.is_of_one_sign_in:
        setup_states.change(uow, organization_id, connection_id, ConnectionSetupState.FAILING, reason=problem)
