"""`ops/bench --beside`: the waits that it names, the bottleneck, the ratios, and the page; its figures are not."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from itertools import combinations, count
from pathlib import Path

import psycopg
import pytest

from ops.benchmarks import beside, page
from ops.benchmarks.beside import (
    COMPARED,
    CONNECTIONS,
    Beside,
    LoadFigures,
    Measured,
    Run,
    bottleneck,
    send_all,
    users_of,
)
from ops.benchmarks.servers import CannotMeasure
from ops.benchmarks.waits import sampled
from tests.documents import MANUAL, README
from tests.waiting import wait_until

[WHO_AM_I, LOGIN, *_] = COMPARED
WAITS_FOR_CLIENT = "SELECT FROM pg_stat_activity WHERE pid = %s AND wait_event = 'ClientRead'"
BEGAN_AT = datetime(2026, 11, 28, 19, 0, tzinfo=UTC)


def load(
    *, loop: float = 1.0, threads: float = 0.0, database: float = 0.5, errors: tuple[str, ...] = ()
) -> LoadFigures:
    """Return a load with these times of one request in milliseconds."""
    return LoadFigures(
        requests_per_second=100.0,
        p50_ms=12.25,
        p95_ms=34.5,
        loop_ms=loop,
        threads_ms=threads,
        database_ms=database,
        errors=errors,
        others_share=0.25,
    )


def measured(*loads: LoadFigures, waits_ms: dict[str, float] | None = None) -> Measured:
    """Return the figures of one side."""
    return Measured(loads=loads, waits_ms=waits_ms or {}, server_megabytes=120.0, database_megabytes=None)


def lines_of(text: str, name: str) -> list[list[str]]:
    """Return the cells of the lines of tables that begin with this."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return [line for line in lines if line[0] == name]


# Measuring


def test_each_connection_has_accounts_of_its_own() -> None:
    accounts = [set(users_of(number)) for number in range(CONNECTIONS)]

    assert all(accounts)
    assert not any(one & another for one, another in combinations(accounts, 2))


def test_refusals_are_kept_as_errors() -> None:
    numbers = count()

    def refuse_the_first() -> None:
        if next(numbers) == 0:
            raise CannotMeasure("/api/user was answered 401")

    times_ms, errors = send_all([refuse_the_first], 0.01)

    assert errors == ["/api/user was answered 401"]
    assert len(times_ms) == next(numbers)


def test_a_wait_for_a_lock_is_named_with_its_statement(empty_database_url: str) -> None:
    with (
        psycopg.connect(empty_database_url) as holder,
        psycopg.connect(empty_database_url) as waiter,
        psycopg.connect(empty_database_url, autocommit=True) as observer,
    ):
        holder.execute("CREATE TABLE accounts AS SELECT 1 AS id")
        holder.commit()
        holder.execute("UPDATE accounts SET id = 2")
        waiting = threading.Thread(target=waiter.execute, args=("UPDATE accounts SET id = 3",))
        with sampled(empty_database_url) as connections:
            waiting.start()
            # The last sample is taken after the block, in which both wait then.
            wait_until(lambda: observer.execute("SELECT FROM pg_locks WHERE NOT granted").rowcount == 1)
            wait_until(lambda: observer.execute(WAITS_FOR_CLIENT, (holder.info.backend_pid,)).rowcount == 1)
        holder.commit()
        waiting.join()

    assert connections["Lock: transactionid (UPDATE accounts SET id = 3)"] > 0
    assert connections["Client: ClientRead"] > 0


# Comparing


def test_a_ratio_is_that_of_the_loads_of_a_round() -> None:
    ours = measured(load(loop=1.0, database=0.0), load(loop=4.0, database=0.0), load(loop=1.0, database=0.0))
    theirs = measured(load(loop=2.0, database=0.0), load(loop=8.0, database=0.0), load(loop=1.0, database=0.0))

    ratio = Beside(operation=WHO_AM_I, ours=ours, theirs=theirs).ratio(lambda each: each.cpu_ms)

    assert (ratio.median, ratio.least, ratio.most) == (0.5, 0.5, 1.0)


@pytest.mark.parametrize(
    ("figures", "named"),
    [
        (measured(load(loop=1.0, database=1.5)), "the server's event loop"),
        (measured(load(loop=1.0, database=2.5)), "PostgreSQL's processor time"),
        (measured(load(loop=1.0, threads=2.5)), "hashing"),
        (
            measured(load(), waits_ms={"Lock: tuple (SELECT)": 0.5, "Lock: transactionid (SELECT)": 0.6}),
            "waiting for locks",
        ),
        (measured(load(), waits_ms={"IO: WalSync": 4.0}), "the server's event loop"),
    ],
)
def test_the_bottleneck_is_what_has_the_least_room(
    figures: Measured, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "PROCESSORS", 2)

    assert bottleneck(LOGIN, figures) == named


# The page


def test_the_summary_has_an_operation_with_a_hash_a_second_time_without_it() -> None:
    ours, theirs = measured(load(threads=10.0)), measured(load(loop=2.0, threads=98.0, database=1.0))

    text = page.summary([Beside(operation=LOGIN, ours=ours, theirs=theirs)])

    assert lines_of(text, "login")[0][1:4] == ["11.50", "101.00", "**0.11** (0.11–0.11)"]
    assert lines_of(text, "login beside its hash")[0][1:4] == ["1.50", "3.00", "**0.50** (0.50–0.50)"]


def test_the_page_has_conditions_results_errors_bottlenecks_and_attempts() -> None:
    ours = measured(load(errors=("refused", "refused")), waits_ms={"IO: WalSync": 2.0})
    run = Run(
        results=[Beside(operation=WHO_AM_I, ours=ours, theirs=measured(load()))], our_idle_ms=8.0, their_idle_ms=1.0
    )
    conditions = page.conditions({"PostgreSQL": "18.4"}, run, BEGAN_AT, BEGAN_AT + timedelta(minutes=8), 3, 5)

    text = page.page(conditions, run.results)

    assert lines_of(text, "began")[0][1] == "2026-11-28 19:00 UTC, for 8 minutes"
    assert "Gatehouse 8.0 ms, better-auth 1.0 ms" in lines_of(text, "CPU a second without requests")[0][1]
    assert lines_of(text, "PostgreSQL") == [["PostgreSQL", "18.4"]]
    assert lines_of(text, "who am I")[1][1:] == [WHO_AM_I.we_do, WHO_AM_I.they_do]
    assert lines_of(text, "p50, p95") == [["p50, p95", "12.2 ms, 34.5 ms", "12.2 ms, 34.5 ms"]]
    assert lines_of(text, "CPU of PostgreSQL") == [["CPU of PostgreSQL", "0.50 ms", "0.50 ms"]]
    assert lines_of(text, "memory of the server") == [["memory of the server", "120 MB", "120 MB"]]
    assert lines_of(text, "PostgreSQL's connections")[0][1:] == ["IO: WalSync 2.00 ms", "idle"]
    assert lines_of(text, "errors") == [["errors", "2 × refused", "none"]]
    assert lines_of(text, "bottleneck")[0][1:] == ["the server's event loop"] * 2
    assert text.endswith(page.ATTEMPTS.read_text())


def test_every_compared_operation_says_what_both_do() -> None:
    assert len({compared.name for compared in COMPARED}) == len(COMPARED)
    assert all(compared.we_do and compared.they_do for compared in COMPARED)


def test_the_readme_has_the_summary_of_the_published_page() -> None:
    published = (MANUAL / "benchmarks.md").read_text()

    summary = published.partition("## Summary\n\n")[2].partition("\n\n")[0]

    assert summary.startswith("| operation ")
    assert summary in README.read_text()


def test_the_packages_of_the_peer_have_exact_versions() -> None:
    versions = (Path(beside.__file__).with_name("peers") / "better_auth/package.json").read_text()

    assert "better-auth" in versions
    assert not any(sign in versions for sign in ("^", "~", "latest", "*"))
