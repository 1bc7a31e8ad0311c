"""The command `ops/bench`: its options, and the exit status.

Without options it measures all of `FIGURES`, each by a function that returns figures with their limits.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from ops.benchmarks import beside, better_auth, machine, page, report, servers
from ops.benchmarks.evenness import evenness
from ops.benchmarks.figures import Figure
from ops.benchmarks.flood import flood
from ops.benchmarks.large_database import FULL
from ops.benchmarks.migrating import MigrationCheck, check_migrations
from ops.benchmarks.periodic import periodic
from ops.benchmarks.progress import Say, say
from ops.benchmarks.release_check import ReleaseCheck, SideBySide, check_release, compare_with
from ops.benchmarks.starts import starts

SECONDS: Final = 3
ROUNDS: Final = 5
FIGURES: Final[Mapping[str, Callable[[Say], list[Figure]]]] = {"starts": starts, "flood": flood, "evenness": evenness}


def main() -> int:
    """Measure what the options name, and print the results."""
    options = _parser().parse_args()
    # Exit through SystemExit, so that the started servers are stopped.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(128 + signal.SIGTERM))
    try:
        return _measure(options)
    except (servers.CannotMeasure, ProcessLookupError, ConnectionError) as failure:
        say(f"Cannot measure. {failure}")
        return 1
    except KeyboardInterrupt:
        return 130


def _measure(options: argparse.Namespace) -> int:
    check = _check(options)
    if check is not None:
        print(check.table())
        return 1 if check.is_over else 0
    if options.periodic:
        print(periodic(is_full=options.full, say=say).table())
        return 0
    if options.beside:
        return _beside(options)
    return _figures(options)


def _check(options: argparse.Namespace) -> ReleaseCheck | SideBySide | MigrationCheck | None:
    """Return the check that the options name, which is all that is measured; None for anything else."""
    if options.check:
        return check_release(say)
    if options.against:
        return compare_with(options.against, say)
    if options.migrations:
        return check_migrations(is_full=options.full, say=say)
    return None


def _beside(options: argparse.Namespace) -> int:
    began_at = datetime.now(UTC)
    software = machine.description() | {"better-auth": better_auth.versions()}
    run = beside.compare(say, seconds=options.seconds, rounds=options.rounds)
    conditions = page.conditions(software, run, began_at, datetime.now(UTC), options.seconds, options.rounds)
    text = page.page(conditions, run.results)
    if options.page:
        options.page.write_text(text)
    print(page.summary(run.results) if options.page else text)
    return 0


def _figures(options: argparse.Namespace) -> int:
    description = machine.description()
    figures = [each for name in FIGURES if name in (options.only or FIGURES) for each in FIGURES[name](say)]
    print(report.machine_table(description), report.figures_table(figures), sep="\n\n")
    return 1 if options.strict and any(each.is_over for each in figures) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ops/bench",
        description="Measures Gatehouse as it runs in production. Without options it measures starts, floods and the"
        " evenness of refused sign-ins. Progress goes to standard error, the tables to standard output.",
    )
    add = parser.add_argument
    add("--only", action="append", choices=FIGURES, help="measure only this; may be given several times")
    add("--strict", action="store_true", help="end with status 1 when one of these figures is above its limit")
    add(
        "--check",
        action="store_true",
        help="compare what the hottest operations cost with what they cost in an earlier release (0004-measuring.md),"
        " end with status 1 when one is above the limit, and measure nothing else; takes some three minutes",
    )
    add(
        "--against",
        metavar="COMMIT",
        help="print what the same operations cost at another commit, and signup and a new user of a directory, each"
        " five times, and measure nothing else; takes some twelve minutes",
    )
    add(
        "--beside",
        choices=["better-auth"],
        help="measure the same operations here and in this program, which npm installs into .gatehouse-peers, and"
        " nothing else; takes some ten minutes",
    )
    add("--page", type=Path, metavar="FILE", help="for --beside, write the page of the manual there")
    add("--seconds", type=_positive, default=SECONDS, help=f"for --beside, how long a load lasts (default: {SECONDS})")
    add("--rounds", type=_positive, default=ROUNDS, help=f"for --beside, how often it is repeated (default: {ROUNDS})")
    add(
        "--migrations",
        action="store_true",
        help="apply the migrations after the last release to a seeded database, end with status 1 when one locks a"
        " large table for more than a moment, and measure nothing else; takes a minute",
    )
    add(
        "--periodic",
        action="store_true",
        help="let the actors run on a seeded database, print how long each of their transactions took, and measure"
        " nothing else; takes two minutes",
    )
    add(
        "--full",
        action="store_true",
        help=f"for --migrations and --periodic, seed {FULL['users']:,} users and their logs, which takes some"
        " minutes, and judge migrations by the time as well",
    )
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


if __name__ == "__main__":
    sys.exit(main())
