"""The command `ops/seed`: its options, and the database that they are for."""

from __future__ import annotations

import argparse
import os
import sys
import time
from datetime import UTC, datetime

import psycopg

from entrypoints import database, exits, settings
from ops.seeding.copying import seed
from ops.seeding.population import COUNTS, MEMBERS_PER_ORGANIZATION, PASSWORD, CannotSeed, Plan, address


def main() -> int:
    """Seed the database of the settings, and print how to use it."""
    options = _parser().parse_args()
    return exits.exit_status_of(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    started = time.monotonic()
    try:
        plan = _plan(options)
        with database.address_of(settings.load(os.environ)) as found:
            database.wait_for(found, _say)
            database.migrate(found, _say)
            with psycopg.connect(found.reveal(), autocommit=True) as connection:
                seed(connection, plan, _say)
    except CannotSeed as refused:
        _say(f"Cannot seed. {refused}")
        return 1
    except KeyboardInterrupt:
        _say("Stopped half-way. Use an empty database for the next try.")
        return 130
    print(
        f"Seeded in {time.monotonic() - started:.0f} s. Sign in as {address(0)} to {address(plan.users - 1)},"
        f" each with the password: {PASSWORD}"
    )
    return 0


def _plan(options: argparse.Namespace) -> Plan:
    if options.memberships is None:
        options.memberships = options.organizations * min(MEMBERS_PER_ORGANIZATION, options.users)
    return Plan(**{count.name: getattr(options, count.name) for count in COUNTS}, until=options.until)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ops/seed",
        description="Fills a database for measurements and load tests: with users who can sign in, with two years of"
        " their activity, and with organizations, of which a few have most of the rows. The same options make the same"
        " rows. Stopped half-way, it leaves complete tables and empty ones, all with their indexes; use an empty"
        " database then. Nothing else should use the database meanwhile. GATEHOUSE_DATABASE_URL names the database,"
        " else it is the embedded one of GATEHOUSE_DATA_DIR. Never use one that real users sign in to: every seeded"
        " account has the same, well-known password.",
    )
    add = parser.add_argument
    for count in COUNTS:
        is_derived = count.name == "memberships"
        default = f"{MEMBERS_PER_ORGANIZATION} for each organization" if is_derived else count.default
        add(
            f"--{count.name.replace('_', '-')}",
            type=_number,
            default=None if is_derived else count.default,
            metavar="N",
            help=f"{count.metadata['help']} (default: {default})",
        )
    add("--until", type=_day, default=_today(), metavar="DATE", help="the last day (default: today)")
    return parser


def _number(text: str) -> int:
    number = int(text.replace("_", "").replace(",", ""))
    if number < 0:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return number


def _day(text: str) -> datetime:
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise argparse.ArgumentTypeError("must be a date such as 2026-01-31") from None


def _today() -> datetime:
    return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
