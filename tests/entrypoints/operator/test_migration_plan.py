"""What `gatehouse migrate --plan` prints about a database with rows, and that it needs no right to write."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.schema import migrations
from adapters.postgres.schema.migration_files import NO_TRANSACTION, Migration
from adapters.postgres.schema.migration_steps import Step, steps
from adapters.postgres.schema.statement_locks import Work
from entrypoints.operator.migration_plan import described

USERS = Migration(
    version=1,
    name="users",
    sql="""
        CREATE TABLE users (id integer, age integer);
        INSERT INTO users SELECT n, n FROM generate_series(1, 20000) AS n;
        CREATE INDEX users_by_age ON users (age);
        ANALYZE users;
    """,
)
WIDER = "ALTER TABLE users ADD COLUMN size integer;"


@pytest.fixture
def users(empty_database_url: str) -> Iterator[RawConnection]:
    """A connection that can only read a database of a released version."""
    with migrations.connected(empty_database_url) as connection:
        migrations.migrate(connection, lambda _line: None, [USERS])
        connection.execute("SET default_transaction_read_only = on")
        yield connection


def planned(connection: RawConnection, *files: str) -> tuple[list[str], list[Step]]:
    """Return the printed lines, and the steps, for further migrations."""
    further = [Migration(version=number, name=f"step_{number}", sql=file) for number, file in enumerate(files, start=2)]
    plan = migrations.plan(connection, [USERS, *further])
    found = steps(connection, plan)
    return described(plan.pending, found).splitlines(), found


def test_a_plan_names_locks_rows_time_and_whether_the_previous_version_goes_on(users: RawConnection) -> None:
    lines, _ = planned(
        users,
        f"-- gatehouse: compatible from 0001\n{WIDER}",
        f"{NO_TRANSACTION}\n-- gatehouse: compatible from 0001\n"
        "CREATE INDEX CONCURRENTLY IF NOT EXISTS users_by_size ON users (size);\n"
        "ALTER TABLE users VALIDATE CONSTRAINT adult;",
    )

    assert [" ".join(line.split()) for line in lines] == [
        "Would apply 0002_step_2.",
        "Would apply 0003_step_3 (no transaction).",
        "",
        "Step Table Rows Lock Blocks Time Previous version",
        "0002_step_2 users 20,000 ACCESS EXCLUSIVE reads and writes below 0.1 s goes on",
        "0003_step_3, 1 of 2 users 20,000 SHARE UPDATE EXCLUSIVE nothing below 0.1 s goes on",
        "0003_step_3, 2 of 2 users 20,000 SHARE UPDATE EXCLUSIVE nothing below 0.1 s goes on",
        "",
        "The previous version works with the schema after every step. Leave its processes running, run"
        " `gatehouse migrate`, and then replace them one by one.",
        "Back up first, with this version: `gatehouse backup FILE`. A restore of that is a way back.",
        "Pending migrations: 2. To apply them, run `gatehouse migrate`.",
    ]


def test_a_plan_says_when_the_previous_version_must_be_stopped(users: RawConnection) -> None:
    lines, found = planned(users, f"-- gatehouse: compatible from 0001\n{WIDER}", "DROP INDEX users_by_age;")

    assert [step.goes_with_previous for step in found] == [True, False]
    assert lines[-3] == (
        "The previous version does not work with the schema after 0003_step_3. Stop its processes, run"
        " `gatehouse migrate`, and start this version."
    )
    assert found[1].tables[0].table == "users"


def test_a_plan_warns_of_a_lock_that_lasts(users: RawConnection) -> None:
    lines, [step] = planned(users, f"{WIDER}\nUPDATE users SET size = age;")

    assert step.is_bound
    assert step.seconds > 0.5
    assert lines[-4] == "0002_step_2 lets nothing read or write users for at most 0.7 s. Choose a quiet hour."


@pytest.mark.parametrize(("proof", "work"), [("age IS NOT NULL", Work.NONE), ("age > 0", Work.READ)])
def test_a_column_whose_values_a_constraint_proves_is_declared_without_reading(
    users: RawConnection, proof: str, work: Work
) -> None:
    _, found = planned(
        users,
        f"""{NO_TRANSACTION}
        ALTER TABLE users ADD CONSTRAINT users_of_an_age CHECK ({proof}) NOT VALID;
        ALTER TABLE users VALIDATE CONSTRAINT users_of_an_age;
        ALTER TABLE users ALTER COLUMN age SET NOT NULL;
        """,
    )

    assert [use.work for use in found[-1].tables] == [work]


def test_a_step_that_makes_tables_and_one_that_is_not_understood_say_so(users: RawConnection) -> None:
    lines, _ = planned(users, "CREATE TABLE shelf (id integer);", "CLUSTER users USING users_by_age;", WIDER)

    rows = [line for line in lines if line.startswith("000")]
    assert "(new tables only)" in rows[0]
    assert "unknown: read the file" in rows[1]


def test_a_plan_for_an_empty_database_lists_the_migrations(empty_database_url: str) -> None:
    with migrations.connected(empty_database_url) as connection:
        plan = migrations.plan(connection, [USERS])

        assert described(plan.pending, steps(connection, plan)).splitlines() == [
            "Would apply 0001_users.",
            "Pending migrations: 1. To apply them, run `gatehouse migrate`.",
        ]


def test_a_plan_names_the_logs_that_the_workers_of_a_cluster_are_to_take() -> None:
    plan = described([], [], ["audit_entries", "mails"])

    assert plan.startswith("Would distribute audit_entries, mails over the workers of the cluster")
    assert plan.endswith("Pending migrations: 0. To distribute the logs, run `gatehouse migrate`.")
