"""The command `ops/bench`: its options, the order of the measurements, and the exit status.

What can be measured is data: operations in `operations.py`, queries in `questions.py`, and everything else here in
`STANDING`, each by a function that returns figures with their limits.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from ops.benchmarks import beside, better_auth, machine, page, people, report, servers, standing
from ops.benchmarks.billing import billing
from ops.benchmarks.comparing import Comparison, Row
from ops.benchmarks.deliveries import deliveries
from ops.benchmarks.evenness import evenness
from ops.benchmarks.flood import flood
from ops.benchmarks.governance import FULL, Governed, governance
from ops.benchmarks.large_database import FULL as LARGE_DATABASE
from ops.benchmarks.load import LOADERS, LoaderFailed, best_loader
from ops.benchmarks.log_months import log_months
from ops.benchmarks.migrating import MigrationCheck, check_migrations
from ops.benchmarks.openid import openid
from ops.benchmarks.operation import BARE, Operation
from ops.benchmarks.operations import OPERATIONS
from ops.benchmarks.people import LOGIN_EVENTS, USERS
from ops.benchmarks.periodic import periodic
from ops.benchmarks.progress import say
from ops.benchmarks.release_check import ReleaseCheck, SideBySide, check_release, compare_with
from ops.benchmarks.saml import saml
from ops.benchmarks.scale import TIMES, scale
from ops.benchmarks.sign_in import sign_in

CONNECTIONS: Final = (1, 16, 64)
SECONDS: Final = 3
ROUNDS: Final = 5
STANDING: Final = {
    "starts": standing.starts,
    "hashing": standing.hashing,
    "sign-in": sign_in,
    "flood": flood,
    "evenness": evenness,
    "billing": billing,
    "webhooks": deliveries,
    "months": log_months,
    "openid": openid,
    "saml": saml,
}


def main() -> int:
    """Measure what the options name, and print the results."""
    options = _parser().parse_args()
    # Exit through SystemExit, so that the started servers are stopped.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(128 + signal.SIGTERM))
    check = _check(options)
    if check is not None:
        return _checked(check)
    if options.periodic:
        print(periodic(is_full=options.full, say=say).table())
        return 0
    if options.beside:
        return _beside(options)
    names: list[str] = options.only or ([] if options.scale or options.governance else _everything())
    description = machine.description() | {"loader": options.loader}
    try:
        figures = [figure for name in STANDING if name in names for figure in STANDING[name](say)]
        rows = _compare([operation for operation in OPERATIONS if operation.name in names], options)
        scaled = _scaled(options) if options.scale else []
        governed = governance(options.size, say) if options.governance else Governed(queries=(), figures=())
    except (servers.CannotMeasure, LoaderFailed, ProcessLookupError, ConnectionError) as failure:
        say(f"Cannot measure. {failure}")
        return 1
    except KeyboardInterrupt:
        return 130

    figures += governed.figures
    tables = [report.machine_table(description)]
    if rows:
        tables.append(report.operations_table(rows))
    # Each is compared with itself, so each needs a table of its own.
    tables += [report.operations_table([row], beside=f"with {USERS:,}") for row in scaled]
    if governed.queries:
        tables.append(report.queries_table(governed.queries))
    if figures:
        tables.append(report.standing_table(figures))
    print("\n\n".join(tables))
    if options.json:
        options.json.write_text(
            json.dumps(report.as_json(description, [*rows, *scaled], figures, governed.queries), indent=2) + "\n"
        )
    is_within_limits = not any(row.is_over or row.errors for row in (*rows, *scaled)) and not any(
        each.is_over for each in (*figures, *governed.queries)
    )
    return 1 if options.strict and not is_within_limits else 0


def _check(options: argparse.Namespace) -> Callable[[], ReleaseCheck | SideBySide | MigrationCheck] | None:
    """Return the check that the options name, which is all that is measured; None for figures."""
    if options.check:
        return lambda: check_release(say)
    if options.against:
        return lambda: compare_with(options.against, say)
    if options.migrations:
        return lambda: check_migrations(is_full=options.full, say=say)
    return None


def _checked(check: Callable[[], ReleaseCheck | SideBySide | MigrationCheck]) -> int:
    try:
        checked = check()
    except (servers.CannotMeasure, ProcessLookupError, ConnectionError) as failure:
        say(f"Cannot measure. {failure}")
        return 1
    except KeyboardInterrupt:
        return 130
    print(checked.table())
    return 1 if checked.is_over else 0


def _beside(options: argparse.Namespace) -> int:
    began_at = datetime.now(UTC)
    try:
        software = machine.description() | {"better-auth": better_auth.versions()}
        run = beside.compare(say, seconds=options.seconds, rounds=options.rounds)
    except (servers.CannotMeasure, ProcessLookupError, ConnectionError) as failure:
        say(f"Cannot measure. {failure}")
        return 1
    except KeyboardInterrupt:
        return 130
    conditions = page.conditions(software, run, began_at, datetime.now(UTC), options.seconds, options.rounds)
    text = page.page(conditions, run.results)
    if options.page:
        options.page.write_text(text)
    print(page.summary(run.results) if options.page else text)
    return 0


def _compare(operations: Sequence[Operation], options: argparse.Namespace) -> list[Row]:
    if not operations:
        return []
    with (
        tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder,
        servers.service(Path(folder) / "data") as service,
        servers.bare(Path(folder), answer=service.get(BARE.path)) as bare,
    ):
        comparison = Comparison(
            service=people.seed_users(service, Path(folder) / "data", say, users=options.users),
            bare=bare,
            loader=LOADERS[options.loader],
            seconds=options.seconds,
            rounds=options.rounds,
            say=say,
        )
        return [row for connections in options.connections for row in comparison.rows(operations, connections)]


def _scaled(options: argparse.Namespace) -> list[Row]:
    return scale(LOADERS[options.loader], seconds=options.seconds, rounds=options.rounds, say=say)


def _everything() -> list[str]:
    return [*STANDING, *(operation.name for operation in OPERATIONS)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ops/bench",
        description='Measures Gatehouse beside a bare Quart-Trio "hello", with the same load on the same machine at the'
        " same time. Progress goes to standard error, the tables to standard output.",
    )
    add = parser.add_argument
    add("--seconds", type=_positive, default=SECONDS, help=f"how long each load lasts (default: {SECONDS})")
    add("--rounds", type=_positive, default=ROUNDS, help=f"how often each is repeated (default: {ROUNDS})")
    add(
        "--connections",
        type=_positive_numbers,
        default=CONNECTIONS,
        metavar="N,N",
        help=f"how many connections, one after the other (default: {','.join(map(str, CONNECTIONS))})",
    )
    add(
        "--users",
        type=_positive,
        default=USERS,
        help=f"how many users are seeded, who all use one service (default: {USERS:,})",
    )
    add(
        "--only",
        action="append",
        choices=_everything(),
        help="measure only this; may be given several times",
    )
    add(
        "--scale",
        action="store_true",
        help=f"compare {USERS * TIMES:,} users who signed in {LOGIN_EVENTS * TIMES:,} times with {USERS:,} and"
        f" {LOGIN_EVENTS:,}, and measure nothing else unless --only names it; seeding takes some minutes",
    )
    add(
        "--governance",
        action="store_true",
        help=f"fill a database with {FULL['organizations']:,} organizations, {FULL['memberships']:,} memberships and"
        f" {FULL['audit_entries']:,} audit entries, and query it as one caller; measure nothing else unless --only"
        " names it. Seeding takes some ten minutes and 20 GB in the folder for temporary files (TMPDIR)",
    )
    add("--size", type=_share, default=1.0, metavar="SHARE", help="take only this part of --governance, such as 0.01")
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
        help=f"for --migrations and --periodic, seed {LARGE_DATABASE['users']:,} users and their logs, which takes some"
        " minutes, and judge migrations by the time as well",
    )
    add("--loader", choices=LOADERS, default=best_loader(), help="what sends the requests (default: wrk, if present)")
    add("--json", type=Path, metavar="FILE", help="also write all results there, each round separately")
    add("--strict", action="store_true", help="end with status 1 when a limit is exceeded or a request failed")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _share(text: str) -> float:
    share = float(text)
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError("must be more than 0, and at most 1")
    return share


def _positive_numbers(text: str) -> list[int]:
    return [_positive(number) for number in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
