"""What `gatehouse migrate --plan` prints: the pending migrations, a table of their steps, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from entrypoints.database import Step

HEADING: Final = ("Step", "Table", "Rows", "Lock", "Blocks", "Time", "Previous version")
SECONDS_SHOWN_MIN: Final = 0.1
SECONDS_PER_MINUTE: Final = 60
# From this many seconds on, minutes are shown.
MINUTES_FROM: Final = 120


def described(pending: Sequence[object], steps: Sequence[Step], undistributed: Sequence[str] = ()) -> str:
    """Return the lines to print for pending migrations, and for logs that the workers of a cluster are to take."""
    lines = [f"Would apply {migration}." for migration in pending]
    # An empty database has no rows to lock, and no process that works on it.
    if any(step.tables for step in steps):
        lines += ["", *_table([HEADING, *(row for step in steps for row in _rows(step))]), "", *_advice(steps)]
        lines.append("Back up first, with this version: `gatehouse backup FILE`. A restore of that is a way back.")
    if undistributed:
        lines.append(
            f"Would distribute {', '.join(undistributed)} over the workers of the cluster, one by one. Each can be read"
            " and not written until its rows are copied; ops/docs/cluster.md says how long that takes."
        )
    todo = "apply them" if pending else "distribute the logs"
    lines.append(f"Pending migrations: {len(pending)}. To {todo}, run `gatehouse migrate`.")
    return "\n".join(lines)


def _rows(step: Step) -> Iterator[tuple[str, ...]]:
    time = _time(step.seconds, is_bound=step.is_bound) if step.is_understood else "unknown: read the file"
    last = (time, "goes on" if step.goes_with_previous else "must be stopped")
    if not step.tables:
        yield (step.name, "(new tables only)" if step.is_understood else "unknown", "", "", "nothing", *last)
    for number, use in enumerate(step.tables):
        cells = (use.table, f"{use.rows:,}", use.lock.title, use.lock.blocks)
        yield (step.name, *cells, *last) if number == 0 else ("", *cells, "", "")


def _time(seconds: float, *, is_bound: bool) -> str:
    if seconds < SECONDS_SHOWN_MIN:
        return "below 0.1 s"
    amount = f"{seconds / SECONDS_PER_MINUTE:.0f} min" if seconds >= MINUTES_FROM else f"{seconds:.1f} s"
    return f"{'at most' if is_bound else 'about'} {amount}"


def _advice(steps: Sequence[Step]) -> Iterator[str]:
    for step in steps:
        if step.blocking and step.seconds >= SECONDS_SHOWN_MIN:
            tables = ", ".join(use.table for use in step.blocking)
            yield (
                f"{step.name} lets nothing read or write {tables} for {_time(step.seconds, is_bound=step.is_bound)}."
                " Choose a quiet hour."
            )
    stopped = [step.name for step in steps if not step.goes_with_previous]
    if stopped:
        yield (
            f"The previous version does not work with the schema after {stopped[0]}. Stop its processes, run"
            " `gatehouse migrate`, and start this version."
        )
    else:
        yield (
            "The previous version works with the schema after every step. Leave its processes running, run"
            " `gatehouse migrate`, and then replace them one by one."
        )


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADING))]
    # Numbers stand below each other at their last digit.
    return ["  ".join(_cell(row, column, widths[column]) for column in range(len(HEADING))).rstrip() for row in rows]


def _cell(row: Sequence[str], column: int, width: int) -> str:
    return row[column].rjust(width) if HEADING[column] == "Rows" else row[column].ljust(width)
