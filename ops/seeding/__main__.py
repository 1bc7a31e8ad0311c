"""What `ops/seed` runs: the options, and which database they are for."""

from __future__ import annotations

import argparse
import os
import sys
import time
from datetime import UTC, datetime

import psycopg

from entrypoints import database, settings
from entrypoints import main as installation
from ops.seeding.copying import seed
from ops.seeding.population import MEMBERS_PER_ORGANIZATION, PASSWORD, CannotSeed, Plan, address


def main() -> int:
    """Seed the database of the settings, and say how to use it."""
    options = _parser().parse_args()
    return installation.exit_status_of(lambda: _run(options))


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
        _say("Stopped half-way. Take an empty database for the next try.")
        return 130
    print(
        f"Seeded in {time.monotonic() - started:.0f} s. Sign in as {address(0)} to {address(plan.users - 1)},"
        f" everybody with the password: {PASSWORD}"
    )
    return 0


def _plan(options: argparse.Namespace) -> Plan:
    memberships = options.memberships
    if memberships is None:
        memberships = options.organizations * min(MEMBERS_PER_ORGANIZATION, options.users)
    return Plan(
        users=options.users,
        login_events=options.login_events,
        organizations=options.organizations,
        memberships=memberships,
        services=options.services,
        end_users=options.end_users,
        invitations=options.invitations,
        audit_entries=options.audit_entries,
        until=options.until,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ops/seed",
        description="Fills a database for measurements and for looking at the product under load: with people who can"
        " sign in, with what they did over two years, and with organizations, of which a few have most of everything."
        " The same options make the same rows. Stopped half-way, it leaves whole tables and empty ones, all with their"
        " indexes; take an empty database then. Nothing should use the database meanwhile."
        " Which database is said by GATEHOUSE_DATABASE_URL, else it is the embedded one of GATEHOUSE_DATA_DIR. Never"
        " use one that real people sign in to: everybody in it has the same, well-known password.",
    )
    add = parser.add_argument
    add("--users", type=_count, default=1_000, metavar="N", help="accounts (default: 1000)")
    add("--login-events", type=_count, default=0, metavar="N", help="attempts to sign in (default: none)")
    add("--organizations", type=_count, default=0, metavar="N", help="organizations (default: none)")
    add("--memberships", type=_count, metavar="N", help=f"default: {MEMBERS_PER_ORGANIZATION} for each organization")
    add("--services", type=_count, default=0, metavar="N", help="services of the organizations (default: none)")
    add("--end-users", type=_count, default=0, metavar="N", help="who signs in to a service (default: none)")
    add(
        "--invitations",
        type=_count,
        default=0,
        metavar="N",
        help="invitations: half of them answered, the others run out and not expired yet (default: none)",
    )
    add("--audit-entries", type=_count, default=0, metavar="N", help="lines of audit logs (default: none)")
    add("--until", type=_day, default=_today(), metavar="DATE", help="the day on which it ends (default: today)")
    return parser


def _count(text: str) -> int:
    number = int(text.replace("_", "").replace(",", ""))
    if number < 0:
        raise argparse.ArgumentTypeError("it takes 0 or more")
    return number


def _day(text: str) -> datetime:
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise argparse.ArgumentTypeError("it takes a date such as 2026-01-31") from None


def _today() -> datetime:
    return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
