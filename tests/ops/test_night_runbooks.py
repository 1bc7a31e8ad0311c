"""Faults as they happen at night, for real: the doctor finds each, and its runbook, followed as written, ends it."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import textwrap
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from tests.documents import ROOT, RUNBOOKS
from tests.mail_server import PostOffice
from tests.other_postgres import OtherPostgres, other_postgres
from tests.payment_provider import KEY, PaymentProvider, running_provider
from tests.processes import Commands, Services, commands, given_database, services
from tests.stopwatch import Stopwatch
from tests.waiting import wait_until

__all__ = ["commands", "services"]

# Each starts servers and the command as processes, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

MAILS: Final = 6
# The doctor gives a quarter of a minute; the machine of the tests is busy with others.
DOCTOR_SECONDS_MAX: Final = 25.0
SHELL_SECONDS_MAX: Final = 120.0
PRODUCTION: Final = {"BASE_URL": "https://id.example.com", "RATE_LIMITS": "on"}


def blocks(runbook: str, language: str) -> list[str]:
    """Return the code blocks of a runbook in a language, also those in lists, as they are written."""
    [path] = [one for one in RUNBOOKS if one.name == runbook]
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```$", path.read_text(), re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(block).strip() for _indentation, block in found]


def block_with(runbook: str, language: str, words: str) -> str:
    """Return the one block that has these words."""
    [found] = [block for block in blocks(runbook, language) if words in block]
    return found


@contextmanager
def hanging_server(port: int = 0) -> Generator[int]:
    """Listen, and never answer; yield the port."""
    with socket.create_server(("127.0.0.1", port), backlog=50) as listener:
        yield listener.getsockname()[1]


def doctor(
    commands: Commands, runbook: str, stopwatch: Stopwatch, **settings: str
) -> tuple[dict[str, tuple[str, str, str]], int]:
    """Run the first command of a runbook, which asks the doctor; return verdict, finding and advice by subject."""
    asked = next(line for block in blocks(runbook, "sh") for line in block.splitlines() if line == "gatehouse doctor")
    with stopwatch.within(DOCTOR_SECONDS_MAX):
        done = commands.run(*asked.split()[1:], **PRODUCTION, **settings)
    assert done.stderr == ""
    found: dict[str, tuple[str, str, str]] = {}
    subject = ""
    for line in done.stdout.splitlines()[:-2]:
        verdict, what = line[:8].strip(), line[28:]
        if verdict:
            subject = line[8:28].strip()
            found[subject] = (verdict, what, "")
        else:
            found[subject] = (*found[subject][:2], what)
    return found, done.returncode


def run_in_shell(block: str, environment: dict[str, str]) -> None:
    """Run a block as an operator does."""
    done = subprocess.run(
        ["sh", "-e", "-c", block],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


def value(url: str, statement: str) -> Any:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        row = cursor.fetchone() if cursor.description else None
    return row[0] if row is not None else None


@pytest.fixture
def provider() -> Iterator[PaymentProvider]:
    """A payment provider that answers."""
    with running_provider() as provider:
        yield provider


def test_a_mail_server_that_hangs_and_the_mails_that_wait_for_it(
    commands: Commands, services: Services, database_url: str, stopwatch: Stopwatch
) -> None:
    assert commands.run("migrate").returncode == 0
    with hanging_server() as port:
        smtp = {"SMTP_URL": f"smtp://127.0.0.1:{port}?from=id@example.com"}
        # Given up by the server after ten seconds; four are sent at once, so six take two rounds.
        service = services.ready(**smtp)
        for number in range(MAILS):
            body = f'{{"email": "ann{number}@example.org", "password": "correct horse battery {number}"}}'
            assert service.request("POST", "/api/auth/register", body=body.encode()).status == 200
        # One line in ten seconds says how many.
        wait_until(lambda: value(database_url, "SELECT count(*) FROM mails WHERE last_error IS NOT NULL") == MAILS)

        found, status = doctor(commands, "mail.md", stopwatch, **smtp)

        assert status == 1
        verdict, what, advice = found["mail"]
        assert verdict == "NOT OK"
        assert what == "The mail server accepts the connection and does not answer. It hangs: 8 s have passed."
        assert "ops/runbooks/mail.md" in advice
        verdict, what, advice = found["mails waiting"]
        assert verdict == "NOT OK"
        assert what.startswith(f"waiting: {MAILS}, the oldest for ")
        assert what.endswith(f"to be tried again: {MAILS}; the last error: The mail server did not answer in time.")
        assert "ops/runbooks/mail.md" in advice
        assert found["database"][0] == "ok"
        assert service.stop() == 0

    post_office = PostOffice()
    with post_office.open():
        smtp = {"SMTP_URL": f"smtp://127.0.0.1:{post_office.port}?from=id@example.com"}
        assert doctor(commands, "mail.md", stopwatch, **smtp)[0]["mail"][0] == "ok"
        # As the runbook says: all of them now.
        [again] = re.findall(r"`gatehouse (mail retry all)`", (ROOT / "ops/runbooks/mail.md").read_text())
        retried = commands.run(*again.split(), **smtp)
        assert retried.returncode == 0, retried.stderr
        services.ready(**smtp)
        wait_until(lambda: len(post_office.received) == MAILS, seconds_max=120)
        wait_until(lambda: value(database_url, "SELECT count(*) FROM mails WHERE state = 'queued'") == 0)

        found, _ = doctor(commands, "mail.md", stopwatch, **smtp)

    assert found["mail"][:2] == ("ok", "the mail server answers")
    assert found["mails waiting"][:2] == ("ok", "nothing waits")


def test_a_payment_provider_that_is_away_refuses_the_key_or_hangs(
    commands: Commands, provider: PaymentProvider, stopwatch: Stopwatch
) -> None:
    assert commands.run("migrate").returncode == 0
    key = {"BILLING_SECRET_KEY": KEY, "BILLING_WEBHOOK_SECRET": "whsec_of_the_tests_of_the_night"}
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]

    away, status = doctor(commands, "billing.md", stopwatch, **key, BILLING_URL=f"http://127.0.0.1:{port}")
    provider.misbehave(401, {"error": {"type": "invalid_request_error"}})
    refused, _ = doctor(commands, "billing.md", stopwatch, **key, BILLING_URL=provider.url)
    with hanging_server() as port:
        hanging, _ = doctor(commands, "billing.md", stopwatch, **key, BILLING_URL=f"http://127.0.0.1:{port}")
    answering, _ = doctor(commands, "billing.md", stopwatch, **key, BILLING_URL=provider.url)

    assert status == 1
    assert away["payment provider"][:2] == (
        "NOT OK",
        "The provider cannot be reached: it refused the connection.",
    )
    assert refused["payment provider"][:2] == ("NOT OK", "The provider refuses the key (401).")
    assert "GATEHOUSE_BILLING_SECRET_KEY" in refused["payment provider"][2]
    assert hanging["payment provider"][0] == "NOT OK"
    assert "hangs: there was no answer within 8 s" in hanging["payment provider"][1]
    assert {found["payment provider"][2].rpartition(" ")[2] for found in (away, refused, hanging)} == {
        "ops/runbooks/billing.md."
    }
    assert answering["payment provider"][:2] == ("ok", "it answers, and takes the key")
    # Nothing but reading, with the key.
    assert {request.method for request in provider.requests} == {"GET"}
    assert all(request.headers["Authorization"].startswith("Basic ") for request in provider.requests)


def test_events_that_are_not_handed_on_while_no_process_runs(
    commands: Commands, services: Services, database_url: str, stopwatch: Stopwatch
) -> None:
    assert commands.run("migrate").returncode == 0
    value(
        database_url,
        """
        INSERT INTO events (id, type, organization_id, data, occurred_at)
        SELECT first_id_at(now() - interval '10 minutes' + number * interval '1 millisecond'), 'user.created',
               '00000000-0000-0000-0000-000000000000', '{}', now() - interval '10 minutes'
        FROM   generate_series(1, 80) AS number
        """,
    )

    found, status = doctor(commands, "late-work.md", stopwatch)

    assert status == 1
    verdict, what, advice = found["events"]
    assert (verdict, what) == ("NOT OK", "waiting: 80, the oldest for 10 min")
    assert "ops/runbooks/late-work.md" in advice
    # The runbook: no process runs, so start one.
    services.ready()
    wait_until(lambda: value(database_url, "SELECT count(*) FROM events WHERE position = 0") == 0, seconds_max=120)
    assert doctor(commands, "late-work.md", stopwatch)[0]["events"][:2] == ("ok", "nothing waits")


def test_a_statement_that_waits_for_a_lock_and_the_session_that_holds_it(
    commands: Commands, services: Services, database_url: str
) -> None:
    assert commands.run("migrate").returncode == 0
    service = services.ready()
    ask = ("POST", "/api/auth/login")
    body = b'{"email": "ann@example.org", "password": "correct horse battery"}'
    with psycopg.connect(database_url, application_name="a report") as report:
        report.execute("LOCK TABLE sign_in_failures, users IN ACCESS EXCLUSIVE MODE")

        answer = service.request(*ask, body=body)

        assert answer.status == 503
        [line, *_] = service.logged("database.statement_cancelled")
        assert (line["limit"], line["sqlstate"]) == ("lock_timeout", "55P03")
        assert line["use_case"].count(".") >= 2
        metrics = service.get("/metrics").content.decode()
        assert f'sso_db_use_cases_cancelled_total{{limit="lock_timeout",use_case="{line["use_case"]}"}}' in metrics
        # The runbook: who holds the lock that others wait for, and its end.
        question = block_with("cancelled-statements.md", "sql", "pg_blocking_pids")
        ending = block_with("cancelled-statements.md", "sql", "pg_terminate_backend")
        with psycopg.connect(database_url, autocommit=True) as operator:
            waiting = subprocess.Popen(
                ["psql", database_url, "-c", "SELECT count(*) FROM users"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            wait_until(lambda: bool(operator.execute(question.encode()).fetchall()))
            [holder, *_] = operator.execute(question.encode()).fetchall()
            assert (holder[0], holder[2], holder[3]) == (report.info.backend_pid, "a report", "idle in transaction")
            operator.execute(ending.replace("12345", str(holder[0])).encode())
            assert waiting.wait(60) == 0
            assert operator.execute(question.encode()).fetchall() == []
        assert service.request(*ask, body=body).status == 401
        report.close()
    assert len(service.logged("database.statement_cancelled")) >= 1


@pytest.fixture
def other() -> Iterator[OtherPostgres]:
    """A PostgreSQL of Debian with its defaults."""
    with other_postgres() as postgres:
        postgres.start()
        yield postgres


def test_a_database_without_statistics_and_the_plan_before_and_after(
    other: OtherPostgres, tmp_path: Path, stopwatch: Stopwatch
) -> None:
    url = other.create_database("gatehouse")
    commands = Commands(tmp_path, {**given_database(url), "GATEHOUSE_DATABASE_URL": url})
    assert commands.run("migrate").returncode == 0
    with psycopg.connect(url, autocommit=True) as connection:
        # As after `pg_upgrade`, and autovacuum does not come to it.
        connection.execute("ALTER TABLE memberships SET (autovacuum_enabled = false)")
        connection.execute("ALTER TABLE users SET (autovacuum_enabled = false)")
        connection.execute(PEOPLE.encode())
        connection.execute("DELETE FROM pg_statistic")
    organization = value(url, "SELECT id FROM organizations WHERE slug = 'acme'")

    def plan() -> dict[str, Any]:
        return value(url, f"EXPLAIN (ANALYZE, FORMAT JSON) {MEMBERS.format(organization)}")[0]["Plan"]

    def question() -> list[tuple[Any, ...]]:
        with psycopg.connect(url) as connection:
            [asked, _resetting] = blocks("planner-statistics.md", "sql")
            return connection.execute(asked.encode()).fetchall()

    checked = commands.run("doctor", **PRODUCTION)
    before = plan()

    assert checked.returncode == 1
    [line] = [line for line in checked.stdout.splitlines() if line[8:28].strip() == "statistics"]
    assert line.startswith("NOT OK")
    assert "users" in line
    assert "memberships" in line
    assert "ops/runbooks/planner-statistics.md" in checked.stdout
    shown = {row[0]: row for row in question()}
    assert {"users", "memberships"} <= shown.keys()
    assert shown["memberships"][5] == ["autovacuum_enabled=false"]
    assert before["Actual Rows"] > 10 * before["Plan Rows"]

    # The runbook, as it is written.
    [upgrading, in_one_database] = blocks("planner-statistics.md", "sh")
    environment = {"PGHOST": str(other.folder), "PGPORT": "5432", "PGUSER": "postgres", "GATEHOUSE_DATABASE_URL": url}
    run_in_shell(upgrading, environment)

    after = plan()
    assert after["Actual Rows"] == before["Actual Rows"]
    assert 0.5 < after["Plan Rows"] / after["Actual Rows"] < 2
    assert question() == []
    found, _ = doctor(commands, "late-work.md", stopwatch)
    assert found["statistics"][0] == "ok"

    # And in one database, with autovacuum turned on again.
    value(url, "DELETE FROM pg_statistic")
    assert question() != []
    run_in_shell(in_one_database, environment)
    value(url, blocks("planner-statistics.md", "sql")[1])
    assert question() == []
    assert value(url, "SELECT reloptions FROM pg_class WHERE oid = 'memberships'::regclass") is None


# One organization has most of the people.
PEOPLE: Final = """
    WITH acme AS (
        INSERT INTO organizations (id, name, slug, status, tier_id, created_at, updated_at)
        SELECT gen_random_uuid(), 'Acme', 'acme', 'active', id, now(), now() FROM tiers LIMIT 1
        RETURNING id
    ), people AS (
        INSERT INTO users (id, email, created_at, updated_at)
        SELECT gen_random_uuid(), 'person' || number || '@example.org', now(), now()
        FROM   generate_series(1, 20000) AS number
        RETURNING id
    )
    INSERT INTO memberships (id, organization_id, user_id, role, created_at)
    SELECT gen_random_uuid(), acme.id, people.id, 'member', now() FROM acme, people
"""
MEMBERS: Final = """
    SELECT m.user_id, u.email
    FROM   memberships m
    JOIN   users u ON u.id = m.user_id
    WHERE  m.organization_id = '{}' AND m.role = 'member'
"""
