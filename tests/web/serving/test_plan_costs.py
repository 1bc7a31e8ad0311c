"""What the statements of requests and of periodic work cost by PostgreSQL's estimate, on a database without statistics.

PostgreSQL compiles a statement whose estimate is high (`jit_above_cost`) unless the session forbids it, and plans badly
what it estimates wrongly. The statements are those that the application and the actors send here.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
import trio

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.schema import migrations
from adapters.postgres.webhooks import sequencing
from core.platform.lifetimes import LIFETIMES, OneRow
from core.platform.log_months import Log
from core.secrets import Secret
from core.webhooks.sequencing import assign_positions
from entrypoints import capabilities, main
from entrypoints import settings as settings_of
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.routes import Route
from tests.clock import SettableClock
from tests.other_postgres import other_postgres
from tests.plan_costs import PlanCost, Sent, plan_costs, statements_as_sent
from tests.postgres import Databases
from tests.signing_keys import MASTER_KEY
from tests.world.backend import KEY, insert_key
from tests.world.builder import EMAIL, PASSWORD
from tests.world.callers import ACME, Caller, Callers, insert_callers
from tests.world.directory import TOKEN, insert_scim_token
from tests.world.relying_party import insert_relying_party
from tests.world.world import World

# PostgreSQL compiles from 100,000 on. Without statistics it takes each table, and each month of a log, for ten pages of
# rows; the dearest of the statements is then expected to cost 9,200.
COST_MAX: Final = 12_000.0
# Of Debian's version it is 29,400.
DEBIAN_COST_MAX: Final = 40_000.0
MONTHS: Final = 39
# From PostgreSQL 18 on, statistics can be forgotten.
FORGETS_FROM: Final = 180_000
ACTORS_SECONDS: Final = 1.5
ROUTES: Final = sorted(capabilities.routes(is_development=True), key=lambda route: route.name)
ONE_ROW: Final = {table for table, lifetime in LIFETIMES.items() if isinstance(lifetime, OneRow)}


async def sign_in_in_every_way(world: World) -> None:
    """Send what an installation is asked most often."""
    world.user(EMAIL)
    tokens = await world.sign_in(EMAIL)
    await world.sign_in(EMAIL, headers={"X-Device-Token": tokens.device_token})
    await world.client.post("/api/auth/login", body={"email": EMAIL, "password": f"not {PASSWORD}"})
    refreshed = await world.client.post("/api/auth/refresh", body={"refresh_token": tokens.refresh_token})
    assert (await world.client.get("/api/user", token=refreshed.json["access_token"])).status == 200


async def use_a_service(world: World) -> None:
    """Sign in to a service, and let its backend and a directory ask for its users."""
    party = insert_relying_party(world, slug="shops")
    issued = await party.tokens()
    await party.token("refresh_token", refresh_token=issued["refresh_token"])
    await party.token("client_credentials")
    assert (await party.post("/auth/introspect", {"token": issued["access_token"]})).status == 200
    insert_key(world, party.organization_id, party.service_id, KEY)
    for path in ("/api/service/users", "/api/service/users?search=a"):
        assert (await world.client.get(path, headers={"X-Api-Key": KEY})).status == 200
    insert_scim_token(world, party.organization_id, TOKEN)
    for path in ("/scim/v2/Users", "/scim/v2/Users?filter=userName%20eq%20%22a%22", "/scim/v2/Groups"):
        assert (await world.client.get(path, token=TOKEN)).status == 200


async def read_everything(callers: Callers) -> None:
    """Open every page and every list of an organization and of the platform."""
    service = callers.world.service(callers.acme_id, "shop")
    callers.world.plan(callers.acme_id, service.id)
    for route in ROUTES:
        if route.method == "GET" and (route.who.operation is not None or route.who.governs_platform):
            assert await _open(callers, route) < 500, route.name


async def _open(callers: Callers, route: Route) -> int:
    ids = {"org_slug": ACME, "slug": ACME, "service_slug": "shop", "id": str(callers.acme_id)}
    ids |= {"org_id": str(callers.acme_id), "user_id": str(callers.people[Caller.MEMBER]), "role_slug": "intern"}
    path = re.sub(r":([a-z_]+)", lambda part: ids.get(part[1], str(callers.acme_id)), route.path)
    caller = Caller.OWNER if route.who.operation is not None else Caller.PLATFORM_OWNER
    is_page = route.who.kind is CredentialKind.BROWSER_SESSION
    headers = callers.cookie(caller) if is_page else callers.credentials(caller)
    return (await callers.world.client.get(path, headers=headers)).status


async def let_the_actors_work(url: str, folder: Path, clock: SettableClock) -> None:
    """Let every actor begin its first period, as in the service."""
    read = settings_of.load({"GATEHOUSE_DATA_DIR": str(folder), "GATEHOUSE_MASTER_KEYS": MASTER_KEY.encoded()})
    async with main.connected(read, Secret(url), clock=clock) as installed:
        await installed.load_secrets()
        installed.start_actors()
        await trio.sleep(ACTORS_SECONDS)


@pytest.fixture
async def sent(world: World, database_url: str, tmp_path: Path, clock: SettableClock) -> list[Sent]:
    """The statements of what requests and actors do."""
    with statements_as_sent() as recorded:
        await sign_in_in_every_way(world)
        await use_a_service(world)
        await read_everything(insert_callers(world))
        await let_the_actors_work(database_url, tmp_path, clock)
    return list(recorded.values())


@contextmanager
def new_database(databases: Databases) -> Generator[RawConnection]:
    """Yield a connection to a database as it is after its migrations."""
    with databases.untouched() as url, closing(psycopg.connect(url, autocommit=True)) as connection:
        yield connection


def forget_statistics(connection: RawConnection) -> None:
    """Leave the tables as a copy of the database without statistics has them, for instance one by pg_upgrade."""
    if connection.info.server_version < FORGETS_FROM:
        pytest.skip("statistics are forgotten from PostgreSQL 18 on")
    connection.execute(
        """
        SELECT pg_clear_relation_stats('public', relname)
        FROM   pg_class
        WHERE  relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'i', 'I')
        """
    )


def add_months(connection: RawConnection) -> None:
    """Make the months of three years and a quarter, none of which was ever analyzed."""
    for log, month in product(Log, range(MONTHS)):
        connection.execute("SELECT add_log_month(%s, %s)", (log.value, date(2027 + month // 12, month % 12 + 1, 1)))


def joined(plan: dict[str, Any], *, is_beside: bool = False) -> set[str]:
    """Return the tables of one row that a plan joins with other rows."""
    if plan.get("Parent Relationship") in {"InitPlan", "SubPlan"}:
        is_beside = False
    found = {plan["Relation Name"]} & ONE_ROW if is_beside and "Relation Name" in plan else set[str]()
    is_join = plan["Node Type"] == "Nested Loop" or plan["Node Type"].endswith("Join")
    return found.union(*(joined(child, is_beside=is_beside or is_join) for child in plan.get("Plans", [])))


def dear(costs: Iterable[PlanCost], cost_max: float = COST_MAX) -> list[str]:
    """Describe the plans that cost too much, the dearest first."""
    return [str(one) for one in sorted(costs, key=lambda one: -one.cost) if one.cost >= cost_max]


async def test_no_statement_of_requests_and_actors_is_expected_to_be_dear(
    sent: list[Sent], databases: Databases, subtests: pytest.Subtests
) -> None:
    assert any("event_sequencing" in one.text for one in sent), "the actors have not handed events on"
    with new_database(databases) as connection:
        with subtests.test("as migrated"):
            costs = plan_costs(connection, sent)
            assert dear(costs) == []
            assert {str(one.sent): joined(one.plan) for one in costs if joined(one.plan)} == {}
        add_months(connection)
        with subtests.test("with the months of three years"):
            assert dear(plan_costs(connection, sent)) == []
        with subtests.test("without statistics"):
            forget_statistics(connection)
            assert dear(plan_costs(connection, sent)) == []


async def test_a_statement_that_crosses_a_table_of_one_row_is_found(
    database: PostgresDatabase, databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    crossed = sequencing.WAITING.replace(
        "FROM   events\n",
        "FROM   event_sequencing s CROSS JOIN LATERAL"
        " (SELECT * FROM events WHERE occurred_at >= s.backlog_before OFFSET 0) events\n",
    )
    monkeypatch.setattr(sequencing, "WAITING", crossed)
    with statements_as_sent() as recorded:
        await database.transact(assign_positions, 10_000)
    [statement] = [one for one in recorded.values() if "event_sequencing s" in one.text]

    with new_database(databases) as connection:
        add_months(connection)
        forget_statistics(connection)
        costs = plan_costs(connection, [statement])

    assert [joined(one.plan) for one in costs] == [{"event_sequencing"}] * 2
    assert [one.is_generic for one in costs] == [False, True]
    assert len(dear(costs)) == len(costs)
    for one in dear(costs):
        assert re.search(r"because of Nested Loop of event_sequencing, .*: SELECT organization_id", one)


@pytest.mark.long
async def test_no_statement_is_expected_to_be_dear_by_the_postgresql_of_debian(sent: list[Sent]) -> None:
    with other_postgres() as postgres:
        postgres.start()
        with migrations.connected(postgres.create_database("gatehouse")) as connection:
            migrations.migrate(connection, lambda _line: None)
            assert dear(plan_costs(connection, sent), DEBIAN_COST_MAX) == []
            add_months(connection)
            assert dear(plan_costs(connection, sent), DEBIAN_COST_MAX) == []
