"""The databases in which plans are read: their rows and statistics are the same in each run."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Final, LiteralString

import pytest

from adapters.postgres.driver.connection import Connection
from tests.plans import explained
from tests.postgres import ROWS_OF_PLANS_MAX, Databases

ROWS: Final = b"""
    SELECT   gen_random_uuid(), random(), current_schema()::text, current_setting('default_statistics_target')::integer
    FROM     generate_series(1, 100)
"""


def test_statements_draw_the_same_ids_and_numbers_in_each_database_for_plans(databases: Databases) -> None:
    found = list[list[Any]]()
    for _ in range(2):
        with databases.for_plans() as url, databases.connection(url) as connection:
            found.append(connection.execute(ROWS).fetchall())

    assert found[0] == found[1]
    ids, numbers, schemas, targets = (set(column) for column in zip(*found[0], strict=True))
    assert len(ids) == len(numbers) == 100
    assert all(0 <= number < 1 for number in numbers)
    assert schemas == {"public"}
    # ANALYZE reads so many rows for each unit.
    assert targets == {ROWS_OF_PLANS_MAX / 300}


@pytest.mark.parametrize("kept", ["", "PARTITION BY HASH (number)"], ids=["plain", "partitioned"])
def test_a_table_of_which_analyze_would_read_a_part_is_refused(databases: Databases, kept: LiteralString) -> None:
    with ExitStack() as stack:
        connection = stack.enter_context(databases.connection(stack.enter_context(databases.for_plans())))
        connection.execute("CREATE TABLE numbers (number integer) " + kept)
        if kept:
            connection.execute("CREATE TABLE even PARTITION OF numbers FOR VALUES WITH (MODULUS 2, REMAINDER 0)")
            connection.execute("CREATE TABLE odd PARTITION OF numbers FOR VALUES WITH (MODULUS 2, REMAINDER 1)")
        connection.execute("INSERT INTO numbers SELECT generate_series(0, %s)", (ROWS_OF_PLANS_MAX,))
        connection.execute("ANALYZE")

        with pytest.raises(AssertionError, match=rf"'numbers', {ROWS_OF_PLANS_MAX + 1}\..*insert fewer rows"):
            stack.close()


@pytest.mark.plans
def test_a_marked_test_reads_plans(connection: Connection) -> None:
    assert explained(connection, "SELECT id FROM users", {})["Relation Name"] == "users"


def test_a_plan_is_read_nowhere_else(connection: Connection) -> None:
    with pytest.raises(AssertionError, match="mark it `plans`"):
        explained(connection, "SELECT id FROM users", {})
