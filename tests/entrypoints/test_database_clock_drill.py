"""A database whose clock is moved while accounts are registered and workers are killed: nothing goes, all agree.

PostgreSQL runs by a clock of its own (libfaketime). Small, it is moved once; `GATEHOUSE_TEST_DRILL=full` moves it by an
hour, a month and 500 days each way, with more clients and many more questions each time:

    GATEHOUSE_TEST_DRILL=full ops/test tests/entrypoints/test_database_clock_drill.py -m long
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, Final

import psutil
import psycopg
import pytest

from core.platform import log_months
from core.platform.log_months import Log
from tests.entrypoints.confirmed_writes import Registrant, registering
from tests.other_postgres import OtherPostgres, other_postgres
from tests.processes import Commands, Service, Services, given_database
from tests.waiting import wait_until
from tests.wall_clocks import WallClock

pytestmark = pytest.mark.long

IS_FULL: Final = os.environ.get("GATEHOUSE_TEST_DRILL") == "full"
MOVES: Final = ("+1h", "-1h", "+30d", "-30d", "+500d", "-500d") if IS_FULL else ("+500d",)
ROUNDS_OF_EACH: Final = 3 if IS_FULL else 1
WORKERS: Final = 2
CLIENTS: Final = 8 if IS_FULL else 2
# Each on a connection of its own, so that every worker gets some.
QUESTIONS: Final = 40
OWNER: Final = "owner@example.com"
PASSWORD: Final = "correct horse battery"
REGISTRATION: Final = "accounts.registration.register"
BACK_SECONDS_MAX: Final = 120.0
# Rows that a right clock keeps for days at least; an account takes some of the first three with it, and none goes here.
KEPT: Final = (
    *("users", "sessions", "one_time_tokens", "open_registrations", "mails", "events", "login_events"),
    *("platform_audit_entries", "signing_keys", "elliptic_signing_keys"),
)
WATCH: Final = """
    CREATE TABLE gone (of_table text NOT NULL, row_was jsonb NOT NULL);
    CREATE FUNCTION note_gone() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO gone VALUES (TG_TABLE_NAME, to_jsonb(OLD));
        RETURN NULL;
    END $$;
"""


@pytest.fixture
def postgres() -> Iterator[OtherPostgres]:
    """A PostgreSQL that is not started."""
    with other_postgres() as postgres:
        yield postgres


@pytest.fixture
def clock(postgres: OtherPostgres) -> WallClock:
    """The clock of its machine."""
    clock = WallClock(postgres.folder / "clock")
    postgres.environment.update(clock.environment)
    return clock


@pytest.fixture
def servers(postgres: OtherPostgres, clock: WallClock, tmp_path: Path) -> Iterator[Services]:
    """Servers on a database of that PostgreSQL, with what watches it."""
    postgres.start()
    url = postgres.create_database("gatehouse")
    settings = given_database(url) | {"GATEHOUSE_OWNER_EMAIL": OWNER, "GATEHOUSE_OWNER_PASSWORD": PASSWORD}
    migrated = Commands(tmp_path, settings).run("migrate")
    assert migrated.returncode == 0, migrated.stderr
    with psycopg.connect(url) as connection:
        connection.execute(WATCH.encode())
        for table in KEPT:
            connection.execute(
                f"CREATE TRIGGER gone AFTER DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION note_gone()".encode()
            )
    services = Services(tmp_path, settings)
    yield services
    services.close()


def ask(service: Service, method: str, path: str, *, token: str = "", **body: Any) -> tuple[int, Any]:
    """Send a request, again where a worker has ended without answering."""
    while True:
        try:
            answer = service.request(
                method,
                path,
                headers={"Authorization": f"Bearer {token}"} if token else {},
                body=json.dumps(body).encode() if body else None,
            )
        except OSError:
            continue
        return answer.status, answer.json


def sign_in(service: Service) -> str:
    """Sign in the owner; return the access token, which is of this moment."""
    status, tokens = ask(service, "POST", "/api/auth/login", email=OWNER, password=PASSWORD)
    assert status == 200, tokens
    return tokens["access_token"]


def expect_agreement(service: Service, *tokens: str) -> None:
    """Expect that every worker takes what any of them has issued."""
    fresh = sign_in(service)
    for token in (*tokens, fresh):
        statuses = {ask(service, "GET", "/api/user", token=token)[0] for _ in range(QUESTIONS)}
        assert statuses == {200}


def replace_workers(service: Service) -> None:
    """Kill all workers, and return when others serve in their places."""
    before = {worker.pid for worker in service.workers()}
    for worker in service.workers():
        try:
            worker.kill()
        except psutil.NoSuchProcess:
            continue
    ready = len(service.logged("worker.ready")) + WORKERS
    service.wait_for("worker.ready", times=ready)
    assert before.isdisjoint(worker.pid for worker in service.workers())


def test_a_moved_clock_of_the_database_deletes_nothing_and_all_workers_agree(
    servers: Services, postgres: OtherPostgres, clock: WallClock
) -> None:
    service = servers.ready("--workers", str(WORKERS))
    service.wait_for("worker.ready", times=WORKERS - 1)
    first = sign_in(service)
    months = _months(postgres)

    with registering([service.port], name="drill", clients=CLIENTS) as registrants:
        for number, offset in enumerate(MOVES, start=1):
            _confirmed_again(registrants)
            clock.set(offset)
            replace_workers(service)
            expect_agreement(service, first)
            _confirmed_again(registrants)
            for _ in range(ROUNDS_OF_EACH):
                expect_agreement(service, first)
            assert service.logged("clock.database_wrong")

            clock.set("+0")
            wait_until(
                lambda number=number: len(service.logged("clock.right_again")) >= number,
                seconds_max=BACK_SECONDS_MAX,
            )
            replace_workers(service)
            expect_agreement(service, first)

    statuses = sum((one.statuses for one in registrants), Counter[int]())
    # PostgreSQL measures its time limits by the clock that is moved, and may end a commit with it.
    unclear = [line for line in service.logged("database.commit_unknown") if line["use_case"] == REGISTRATION]
    with psycopg.connect(postgres.url("gatehouse")) as connection:
        gone = connection.execute("SELECT of_table, row_was FROM gone").fetchall()
        [[today]] = connection.execute("SELECT current_date").fetchall()
        [times] = connection.execute(
            "SELECT min(created_at) > now() - interval '1 h', max(created_at) <= now() + interval '1 min' FROM users"
        ).fetchall()
    assert gone == []
    assert times == (True, True)
    assert months <= _months(postgres) <= months | _months_of(today)
    assert statuses.keys() <= {200, 503}
    assert statuses[503] == len(unclear)
    assert not service.logged("clock.moved")
    _expect_deletion_by_the_right_time(service, postgres)


def _confirmed_again(registrants: list[Registrant]) -> None:
    before = [len(one.confirmed) for one in registrants]
    wait_until(
        lambda: all(len(one.confirmed) > number for one, number in zip(registrants, before, strict=True)),
        seconds_max=BACK_SECONDS_MAX,
    )


def _months(postgres: OtherPostgres) -> set[str]:
    with psycopg.connect(postgres.url("gatehouse")) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM log_partitions").fetchall()}


def _months_of(today: date) -> set[str]:
    """Return what is made ahead by the right time."""
    return {f"{log.value}_{month:%Y_%m}" for log in Log for month in log_months.months(today)}


def _expect_deletion_by_the_right_time(service: Service, postgres: OtherPostgres) -> None:
    """Expect that what is old goes as soon as a worker looks."""
    with psycopg.connect(postgres.url("gatehouse"), autocommit=True) as connection:
        connection.execute(
            """
            INSERT INTO mails (id, organization_id, recipient, template, state, attempts, due_at, created_at)
            SELECT gen_random_uuid(), '00000000-0000-0000-0000-000000000000', '', 'test', 'sent', 1, at, at
            FROM   (SELECT now() - interval '8 days' AS at) AS long_ago
            """
        )
        replace_workers(service)
        # A row of a log has the name of its partition.
        wait_until(lambda: [name[:5] for (name,) in connection.execute("SELECT of_table FROM gone")] == ["mails"])
