"""The lists of users and of mails read an index or a bounded number of rows, however many there are."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.letter_groups import groups_in
from adapters.postgres.platform.mails import browsed_page_of, count_of, count_undelivered_of
from adapters.postgres.platform.users import (
    BEGINNING,
    CONTAINING,
    COUNT_BEGINNING,
    COUNT_CONTAINING,
    COUNT_NEWEST,
    LISTED,
    NEWEST,
)
from core.platform.mails import ListedMailState
from tests.postgres import Databases

pytestmark = pytest.mark.long

ROWS = 10_000
VALUES = {
    "part": "ody1234@",
    "groups": groups_in("ody1234@"),
    "end": "ody1234@\U0010ffff",
    "after_email": "",
    "before": datetime(9999, 1, 1, tzinfo=UTC),
    "before_id": UUID(int=2**128 - 1),
    "newest": 100,
    "limit": 26,
    "counted_max": 101,
    "organizations_max": 4,
    "ids": [UUID(int=1)],
    "hides_owners": True,
    "known": ["welcome"],
    "recipient": "recipient1@example.com",
    "at": "2026-02-03T04:05:06Z",
    "id": UUID(int=1),
}


@pytest.fixture(scope="module")
def crowd(databases: Databases) -> Iterator[Connection]:
    """A database with very many users and mails, for tests that only explain queries."""
    with databases.for_plans() as url, databases.connection(url) as connection:
        connection.execute(
            """
            INSERT INTO users (id, email, created_at, updated_at)
            SELECT gen_random_uuid(), 'recipient' || n || '@example.com', now(), now() FROM generate_series(1, %s) AS n
            """,
            (ROWS,),
        )
        # Their ids put half of them into each part of the log: of a small one, no index would be read.
        connection.execute(
            """
            INSERT INTO mails (organization_id, id, recipient, template, state, attempts, due_at, created_at)
            SELECT '00000000-0000-0000-0000-000000000000',
                   (CASE WHEN n / 60 %% 2 = 0 THEN '00' ELSE 'ff' END || substr(gen_random_uuid()::text, 3))::uuid,
                   'recipient' || n || '@example.com', 'welcome',
                   CASE WHEN n %% 20 = 0 THEN 'failed' WHEN n %% 30 = 1 THEN 'queued' ELSE 'sent' END, 0, now(),
                   now() - n * interval '1 second'
            FROM   generate_series(1, %s) AS n
            """,
            (ROWS,),
        )
        connection.execute("ANALYZE users, mails")
        yield connection


def plan_of(connection: Connection, statement: str) -> str:
    """Return the plan of a statement."""
    rows = connection.execute(b"EXPLAIN " + statement.encode(), VALUES).fetchall()
    return "\n".join(line for (line,) in rows)


def test_users_are_found_by_an_index(crowd: Connection) -> None:
    for statement, index in (
        (BEGINNING, "users_email_prefix"),
        (COUNT_BEGINNING, "users_email_prefix"),
        (CONTAINING, "users_letter_groups"),
        (COUNT_CONTAINING, "users_letter_groups"),
        (NEWEST, "users_newest"),
        (COUNT_NEWEST, "users_newest"),
        (LISTED, "users_pkey"),
    ):
        plan = plan_of(crowd, statement)
        assert "Seq Scan on users" not in plan, plan
        assert index in plan, plan


def test_mails_are_found_by_an_index(crowd: Connection) -> None:
    for is_oldest_first, is_from_begin, state in product((False, True), (False, True), (ListedMailState.FAILED, None)):
        statement = browsed_page_of(
            state, is_of_recipient=False, is_oldest_first=is_oldest_first, is_from_begin=is_from_begin
        )
        plan = plan_of(crowd, statement)
        assert "Seq Scan on mails" not in plan, plan
        assert "using mails_" in plan, plan
    assert "undelivered" in plan_of(crowd, count_undelivered_of(ListedMailState.KEPT))
    assert "mails_before_of_recipient" in plan_of(crowd, count_of(ListedMailState.SENT, is_of_recipient=True))
