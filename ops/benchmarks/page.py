"""The page about a comparison with a peer: conditions, results with their bottlenecks, and attempts that failed.

It has the form of ZITADEL's benchmarks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from ops.benchmarks import report
from ops.benchmarks.beside import CONNECTIONS, Beside, LoadFigures, Measured, bottleneck
from ops.benchmarks.targets import USERS

# Written by hand: what measured something else than it should have, and why.
ATTEMPTS: Final = Path(__file__).with_name("attempts.md")
WAIT_MS_MIN: Final = 0.05
SIDES: Final = ("Gatehouse", "better-auth")
INTRODUCTION: Final = """\
# Benchmarks

For operators and for those who compare: what operations cost here and in better-auth, server and PostgreSQL
together.

`ops/bench --beside better-auth --page FILE` measures both in one run and writes this page. It needs Node 20
and, for the first run, the registry of npm.

**The ratios of processor time are reliable, the rest is not.** Both sides are loaded in turn on the same
machine, so what else runs there disturbs both, and a ratio is that of two loads just after each other. But it
makes every answer later: rates, p50 and p95 hold for this machine in this hour. The line "others" says how
much of it other programs used.

## Summary
"""
READING: Final = """\
Processor time is of one request, in milliseconds, of the server with all its threads and of PostgreSQL with
all its processes. Below 1, Gatehouse costs less. A ratio is the median of the rounds, with the least and the
most of them. The bottleneck is what would be busy all the time first if the rate grew: one event loop has one
core, hashing threads and PostgreSQL have all.

## Conditions
"""
HOW_TO_READ_WAITS: Final = """\
## Results

Figures are medians of the rounds, of one request or one whole code flow. What PostgreSQL's connections do in
that time was sampled from `pg_stat_activity`, in a load of its own: `running` uses a processor or waits for
one, `Client: ClientRead` is an open transaction that waits for the server, `IO` and `LWLock` are mostly a
commit that waits for the WAL on disk, and `Lock` is a statement that waits for the row of another
transaction.
"""


def page(conditions: Mapping[str, str], results: Sequence[Beside]) -> str:
    """Return the page in Markdown."""
    does = [(each.operation.name, each.operation.we_do, each.operation.they_do) for each in results]
    sections = [
        INTRODUCTION,
        summary(results) + "\n",
        READING,
        report.table(("", ""), conditions.items()) + "\n",
        "## What each operation does\n",
        report.table(("", *SIDES), does) + "\n",
        HOW_TO_READ_WAITS,
        *(f"### {each.operation.name.capitalize()}\n\n{_results(each)}\n" for each in results),
        "## Attempts that failed\n",
        ATTEMPTS.read_text(),
    ]
    return "\n".join(sections)


def conditions(
    software: Mapping[str, str], began_at: datetime, ended_at: datetime, seconds: float, rounds: int
) -> dict[str, str]:
    """Return the conditions of a run: the machine with its software, and what was sent."""
    return {
        "began": f"{began_at:%Y-%m-%d %H:%M} UTC, for {(ended_at - began_at).total_seconds() / 60:.0f} minutes",
        "command": f"`ops/bench --beside better-auth --seconds {seconds} --rounds {rounds}`",
        "load": f"{CONNECTIONS} connections of one client in Python on the same machine, each with an account of its"
        f" own; {rounds} rounds of {seconds} s for each side in turn",
        "servers": "one process each, as in production, without rate limits, with ten connections to PostgreSQL",
        "databases": "a PostgreSQL each, of the same programs and settings: `fsync` and `synchronous_commit` on, 64 MB"
        f" of shared buffers; {USERS} users and those that the run makes",
        **software,
    }


def summary(results: Sequence[Beside]) -> str:
    """Return the table of processor time and bottlenecks."""
    lines: list[Sequence[str]] = []
    for each in results:
        name = each.operation.name
        lines.append(_summary_line(each, name, lambda load: load.cpu_ms))
        if each.operation.has_hash:
            lines.append(_summary_line(each, f"{name} beside its hash", lambda load: load.cpu_ms_beside_hash))
    return report.table(("operation", *SIDES, "ratio", "bottleneck here", "and there"), lines)


def _summary_line(each: Beside, name: str, figure: Callable[[LoadFigures], float]) -> Sequence[str]:
    ratio = each.ratio(figure)
    return (
        name,
        f"{each.ours.median(figure):.2f}",
        f"{each.theirs.median(figure):.2f}",
        f"**{ratio.median:.2f}** ({ratio.least:.2f}–{ratio.most:.2f})",
        bottleneck(each.operation, each.ours),
        bottleneck(each.operation, each.theirs),
    )


def _results(each: Beside) -> str:
    columns = [_column(each, measured) for measured in (each.ours, each.theirs)]
    return report.table(("", *SIDES), [(name, *(column[name] for column in columns)) for name in columns[0]])


def _column(each: Beside, measured: Measured) -> dict[str, str]:
    median = measured.median
    waits = [f"{name} {took:.2f} ms" for name, took in measured.waits_ms.items() if took >= WAIT_MS_MIN]
    threads = "hashing threads" if each.operation.has_hash else "other threads"
    return {
        "a second": f"{median(lambda load: load.requests_per_second):.0f}",
        "p50, p95": f"{median(lambda load: load.p50_ms):.1f} ms, {median(lambda load: load.p95_ms):.1f} ms",
        "CPU of the event loop": f"{median(lambda load: load.loop_ms):.2f} ms",
        f"CPU of its {threads}": f"{median(lambda load: load.threads_ms):.2f} ms",
        "CPU of PostgreSQL": f"{median(lambda load: load.database_ms):.2f} ms",
        "memory of the server": _megabytes(measured.server_megabytes),
        "memory of PostgreSQL": _megabytes(measured.database_megabytes),
        "PostgreSQL's connections": ", ".join(waits) or "idle",
        "errors": "; ".join(f"{number} × {text}" for text, number in Counter(measured.errors).items()) or "none",
        "others": f"{median(lambda load: load.others_share):.0%} of the machine",
        "bottleneck": bottleneck(each.operation, measured),
    }


def _megabytes(megabytes: float | None) -> str:
    return report.UNKNOWN if megabytes is None else f"{megabytes:.0f} MB"
