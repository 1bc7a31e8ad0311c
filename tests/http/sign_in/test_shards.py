"""On a cluster, each statement of a sign-in asks one shard at most."""

from __future__ import annotations

import re
from typing import Final

import psycopg
import pytest

from tests.citus_databases import CitusDatabases
from tests.plan_costs import Sent, statements_as_sent
from tests.world.builder import EMAIL, PASSWORD
from tests.world.world import World

pytestmark = pytest.mark.long

TASKS: Final = re.compile(r"Task Count: (\d+)")


@pytest.fixture(scope="session")
def databases(citus_databases: CitusDatabases) -> CitusDatabases:
    """The maker of databases for this module: on a cluster."""
    return citus_databases


def shards_asked(url: str, sent: Sent) -> int:
    """Return how many shards a statement asks with its values; none where it names no log."""
    with psycopg.connect(url, autocommit=True) as connection:
        text = b"EXPLAIN (COSTS OFF) " + sent.text.encode()
        answer = connection.pgconn.exec_params(text, sent.values, sent.types, sent.formats)
        plan = "\n".join((answer.get_value(row, 0) or b"").decode() for row in range(answer.ntuples))
        assert plan, (answer.error_message, str(sent))
    return sum(int(tasks) for tasks in TASKS.findall(plan))


async def test_no_statement_of_a_sign_in_asks_more_than_one_shard(world: World, database_url: str) -> None:
    user_id = world.user(EMAIL)
    world.member(world.organization("acme"), user_id)
    known = await world.sign_in(EMAIL)

    with statements_as_sent() as recorded:
        first = await world.log_in(EMAIL, PASSWORD)
        again = await world.log_in(EMAIL, PASSWORD, headers={"X-Device-Token": known.device_token})
        refused = await world.log_in(EMAIL, "wrong")
        unknown = await world.log_in("unknown@example.com", "wrong")

    assert [answer.status for answer in (first, again, refused, unknown)] == [200, 200, 401, 401]
    asked = {str(sent): shards_asked(database_url, sent) for sent in recorded.values()}
    assert {statement: shards for statement, shards in asked.items() if shards > 1} == {}
    # The event of the sign-in, and what it publishes.
    assert list(asked.values()).count(1) >= 2
