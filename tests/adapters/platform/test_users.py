"""The search for users among very many always uses an index."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.letter_groups import groups_in
from adapters.postgres.platform.users import WITH_BEGINNING, WITH_ID, WITH_PART
from tests.postgres import Databases

pytestmark = pytest.mark.long

USERS = 10_000


@pytest.fixture(scope="module")
def crowd(databases: Databases) -> Iterator[Connection]:
    """A database with very many users, for tests that only explain queries."""
    with databases.for_plans() as url, databases.connection(url) as connection:
        connection.execute(
            """
            INSERT INTO users (id, email, created_at, updated_at)
            SELECT gen_random_uuid(), 'somebody' || n || '@example.com', now(), now() FROM generate_series(1, %s) AS n
            """,
            (USERS,),
        )
        connection.execute("ANALYZE users")
        yield connection


@pytest.mark.parametrize("part", ["somebody1234", "1234", "ody99@exa", "example.com", "nobody"])
def test_a_part_of_an_address_is_found_by_an_index(crowd: Connection, part: str) -> None:
    plan = plan_of(crowd, WITH_PART, part)

    assert "Seq Scan on users" not in plan
    assert "users_email_prefix" in plan


def test_a_rare_part_is_found_by_its_letter_groups(crowd: Connection) -> None:
    assert "users_letter_groups" in plan_of(crowd, WITH_PART, "ody1234@")


def test_a_prefix_and_an_id_are_found_by_an_index(crowd: Connection) -> None:
    assert "Seq Scan on users" not in plan_of(crowd, WITH_BEGINNING, "so")
    assert "Seq Scan on users" not in plan_of(crowd, WITH_ID, "so")


def plan_of(connection: Connection, statement: str, part: str) -> str:
    values = {
        "part": part,
        "groups": groups_in(part),
        "after": part + "\U0010ffff",
        "limit": 20,
        "organizations_max": 100,
        "hides_owners": True,
        "user_id": "0191d3c1-0000-7000-8000-00000000000f",
    }
    rows = connection.execute(b"EXPLAIN " + statement.encode(), values).fetchall()
    return "\n".join(line for (line,) in rows)
