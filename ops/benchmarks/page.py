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
from ops.benchmarks.beside import CONNECTIONS, Beside, LoadFigures, Measured, Run, bottleneck
from ops.benchmarks.targets import USERS

# Written by hand: what measured something else than it should have, and why.
ATTEMPTS: Final = Path(__file__).with_name("attempts.md")
WAIT_MS_MIN: Final = 0.05
STATES_MAX: Final = 5
SIDES: Final = ("Gatehouse", "better-auth")
INTRODUCTION: Final = """\
# Benchmarks

For operators and for those who compare: what operations cost here and in better-auth, server and PostgreSQL
together.

`ops/bench --beside better-auth --page FILE` measures both in one run and writes this page. It needs Node 20
and, for the first run, the registry of npm.

**Trust the ratios of processor time more than the rest.** Both sides are loaded in turn on the same machine, so
what else runs there disturbs both, and a ratio is that of two loads just after each other. But it makes every
answer later and every request dearer: rates, p50, p95 and milliseconds hold for this machine in this hour. The
line "others" says how much of it other programs used, and [the last section](#attempts-that-failed) how far
the ratios of several runs were apart.

## Summary
"""
READING: Final = """\
Processor time is of one request, in milliseconds, of the server with all its threads and of PostgreSQL with
all its processes. Below 1, Gatehouse costs less. A ratio is the median of the rounds, with the least and the
most of them. The bottleneck is what would be busy all the time first if the rate grew: one event loop has one
core, hashing threads and PostgreSQL have all. Beside its hash, the threads of the server other than that of the
event loop are left out; in Node they also collect garbage.

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
        *(f"### {_heading(each.operation.name)}\n\n{_results(each)}\n" for each in results),
        "## Attempts that failed\n",
        ATTEMPTS.read_text(),
    ]
    return "\n".join(sections)


def conditions(
    software: Mapping[str, str], run: Run, began_at: datetime, ended_at: datetime, seconds: float, rounds: int
) -> dict[str, str]:
    """Return the conditions of a run: the machine with its software, and what was sent."""
    return {
        "began": f"{began_at:%Y-%m-%d %H:%M} UTC, for {(ended_at - began_at).total_seconds() / 60:.0f} minutes",
        "command": f"`ops/bench --beside better-auth --seconds {seconds} --rounds {rounds}`",
        "requests": f"{CONNECTIONS} connections of one client in Python on the same machine, half of them for login and"
        f" signup, each with an account of its own; {rounds} rounds of {seconds} s for each side in turn",
        "servers": "one process each, as in production, without rate limits, with ten connections to PostgreSQL",
        "databases": "a PostgreSQL each, of the same programs and settings: `fsync` and `synchronous_commit` on, 64 MB"
        f" of shared buffers; {USERS} users and those that the run makes",
        "CPU a second without requests": f"Gatehouse {run.our_idle_ms:.1f} ms, better-auth {run.their_idle_ms:.1f} ms;"
        " it is part of what the requests of a second cost",
        **software,
    }


def summary(results: Sequence[Beside]) -> str:
    """Return the table of processor time and bottlenecks."""
    lines: list[Sequence[str]] = []
    for each in results:
        name = each.operation.name
        bottlenecks = [bottleneck(each.operation, measured) for measured in (each.ours, each.theirs)]
        lines.append((name, *_compared(each, lambda load: load.cpu_ms), *bottlenecks))
        if each.operation.has_hash:
            lines.append((f"{name} beside its hash", *_compared(each, lambda load: load.cpu_ms_beside_hash), "", ""))
    return report.table(("operation", *SIDES, "ratio", "bottleneck here", "and there"), lines)


def _compared(each: Beside, figure: Callable[[LoadFigures], float]) -> tuple[str, str, str]:
    ours, theirs, ratio = each.ours.median(figure), each.theirs.median(figure), each.ratio(figure)
    return f"{ours:.2f}", f"{theirs:.2f}", f"**{ratio.median:.2f}** ({ratio.least:.2f}–{ratio.most:.2f})"


def _heading(name: str) -> str:
    return name[0].upper() + name[1:]


def _results(each: Beside) -> str:
    columns = [_column(each, measured) for measured in (each.ours, each.theirs)]
    return report.table(("", *SIDES), [(name, *(column[name] for column in columns)) for name in columns[0]])


def _column(each: Beside, measured: Measured) -> dict[str, str]:
    median = measured.median
    waits = [f"{name} {took:.2f} ms" for name, took in measured.waits_ms.items() if took >= WAIT_MS_MIN][:STATES_MAX]
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
