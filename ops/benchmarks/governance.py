"""A database with years of data: how long one caller waits for each query, and how long the sweeper locks rows.

Forty thousand organizations, a million memberships, twenty million audit entries. One caller alone requests everything,
so that the figures measure the statements and not a queue. `FULL` has a row for every count of the plan, and
`questions.py` one for every query.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import psycopg

from adapters.postgres.embedded.server import EmbeddedPostgres
from adapters.postgres.schema import migrations
from ops.benchmarks import people, servers
from ops.benchmarks.client import Client, bearer
from ops.benchmarks.console_questions import console_questions
from ops.benchmarks.page_questions import page_questions
from ops.benchmarks.progress import Say
from ops.benchmarks.questions import PLATFORM_OWNER, Question, questions
from ops.benchmarks.servers import RunningServer
from ops.benchmarks.single_caller import REQUESTS, QueryFigures, query
from ops.benchmarks.standing import StandingFigure
from ops.benchmarks.sweeping import sweep
from ops.seeding.console import add_up_sales, count_sign_ins, seed_console
from ops.seeding.copying import seed
from ops.seeding.population import PASSWORD, Plan, address

FULL: Final = {
    "users": 1_000_000,
    "organizations": 40_000,
    "memberships": 1_000_000,
    "services": 20_000,
    "end_users": 1_000_000,
    # Half of them are past their lifetime; some of these belong to organizations that are not active, and stay.
    "invitations": 220_000,
    "login_events": 5_000_000,
    "audit_entries": 20_000_000,
}
EXPIRED_SHARE_MIN: Final = 100_000 / FULL["invitations"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Governed:
    """The result of all queries and of the sweep."""

    queries: Sequence[QueryFigures]
    figures: Sequence[StandingFigure]


def governance(size: float, say: Say) -> Governed:
    """Seed such a database, or a part of it, and measure everything."""
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder:
        plan = plan_of(size)
        data_folder = Path(folder) / "data"
        prepare(data_folder, plan, say)
        return measure(data_folder, plan, say)


def plan_of(size: float) -> Plan:
    """Return the plan of this part of the whole."""
    return Plan(**{rows: max(1, round(count * size)) for rows, count in FULL.items()}, until=datetime.now(UTC))


def prepare(data_folder: Path, plan: Plan, say: Say) -> None:
    """Create and seed the database before the service runs on it."""
    with EmbeddedPostgres(data_folder) as url:
        with migrations.connected(url) as connection:
            migrations.migrate(connection, lambda _line: None)
        with psycopg.connect(url, autocommit=True) as connection:
            seed(connection, plan, say)
            seed_console(connection, plan, say, share=plan.users / FULL["users"])
            count_sign_ins(connection, say)
            add_up_sales(connection, say)
            connection.execute("UPDATE users SET is_platform_owner = true WHERE email = %s", (address(plan.users - 1),))


def measure(
    data_folder: Path, plan: Plan, say: Say, *, chosen: Sequence[Question] | None = None, requests: int = REQUESTS
) -> Governed:
    """Sweep, then start the service and request all queries, or the chosen ones."""
    figures = sweep(data_folder, int(plan.invitations * EXPIRED_SHARE_MIN), say)
    with (
        servers.service(data_folder) as service,
        EmbeddedPostgres(data_folder) as url,
        psycopg.connect(url, autocommit=True) as connection,
        ExitStack() as stack,
    ):
        callers: dict[tuple[str, bool], Client] = {}
        queries: list[QueryFigures] = []
        everything = [*questions(plan), *page_questions(plan), *console_questions(plan)]
        for question in everything if chosen is None else chosen:
            email = address(plan.users - 1) if question.caller == PLATFORM_OWNER else question.caller
            known_as = email, question.is_page
            if known_as not in callers:
                callers[known_as] = stack.enter_context(closing(_signed_in(service, *known_as)))
            queries.append(query(service, connection, question, callers[known_as], requests=requests))
            done = queries[-1]
            whole = f", reads whole: {', '.join(done.read_whole)}" if done.read_whole else ""
            say(
                f"{done.name:45} p50 {done.p50_ms:6.1f} ms, p99 {done.p99_ms:6.1f} ms, CPU {done.cpu_ms:6.1f} ms{whole}"
            )
    return Governed(queries=queries, figures=figures)


def _signed_in(service: RunningServer, email: str, in_browser: bool) -> Client:  # noqa: FBT001 - the key of a caller
    if not in_browser:
        return Client(service, bearer(people.sign_in(service, email)["access_token"]))
    browser = Client(service, {"Accept": "text/html"})
    browser.sign_in(email, PASSWORD)
    return browser
