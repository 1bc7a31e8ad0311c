"""What `gatehouse doctor` checks of the replicas that lists and logs are read from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from entrypoints.shared.platform.checks import Finding

if TYPE_CHECKING:
    from entrypoints.database import ReplicaReport

_SUBJECT: Final = "replica"
_PAGE: Final = "ops/docs/database.md, Reading from replicas"


def findings(reports: Sequence[ReplicaReport]) -> Iterator[Finding]:
    """Yield a finding for each replica; one that cannot be used breaks nothing, because the primary is read instead."""
    for report in reports:
        if report.problem is not None:
            advice = f"It is not read from. See {_PAGE}."
            yield Finding(_SUBJECT, False, f"{report.name}: {report.problem}", advice)
        elif report.lag_seconds is not None:
            what = f"{report.name}: behind the primary; what it has replayed last is {report.lag_seconds:.0f} s old"
            yield Finding(_SUBJECT, False, what, f"Look at its log and its load. See {_PAGE}.")
        else:
            yield Finding(_SUBJECT, True, f"{report.name}: follows the primary")
