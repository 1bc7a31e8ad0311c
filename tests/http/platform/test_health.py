"""The health endpoints."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from adapters.postgres.driver.connection import Connection
from adapters.postgres.embedded.cluster import SUPERUSER
from adapters.postgres.schema.migration_files import newest_version
from core.errors import DatabaseFailed, ServiceUnavailable
from core.platform.health_figures import SchemaTooNew, WritesFailing
from core.sessions.origins import Origin
from entrypoints.http.platform.health import DATABASE_PROBLEM, STOPPING_PROBLEM
from entrypoints.installation import Installation
from ports.actors import ActorReport, BackgroundTaskState
from tests.application import VERSION, Client, ReportedActors, serving
from tests.world.world import World


class BrokenDatabase:
    """A fake of the port `Database`, which raises the given error."""

    def __init__(self, failure: Exception) -> None:
        self.failure = failure

    def on_behalf_of(
        self,
        origin: Origin,
        session_id: object = None,
        client_id: object = None,
        api_key: object = None,
        scim_token: object = None,
        organization_credential: object = None,
        use: object = None,
    ) -> BrokenDatabase:
        """Return this same database."""
        return self

    async def read(self, use_case: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Raise the given error."""
        raise self.failure

    transact = step = read


async def test_health_returns_the_status_and_the_version(client: Client) -> None:
    answer = await client.get("/health")

    assert answer.status == 200
    assert answer.json == {"status": "healthy", "version": VERSION}


async def test_liveness_answers_without_a_body(client: Client) -> None:
    answer = await client.get("/health/live")

    assert answer.status == 200
    assert answer.content == b""


async def test_readiness_reports_a_connected_database(client: Client) -> None:
    answer = await client.get("/health/ready")

    assert answer.status == 200
    assert answer.json == {
        "status": "ready",
        "version": VERSION,
        "database": "connected",
        "problem": None,
        "actors": {},
    }


async def test_readiness_is_503_while_writes_fail_and_200_when_one_succeeds_again(
    client: Client, world: World, database_url: str
) -> None:
    superuser = make_conninfo(database_url, user=SUPERUSER)
    with psycopg.connect(superuser, autocommit=True) as admin:
        admin.execute(
            """
            CREATE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
            CREATE TRIGGER disk_is_full BEFORE INSERT ON sessions EXECUTE FUNCTION disk_is_full();
            CREATE FUNCTION disk_is_full_too() RETURNS event_trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
            CREATE EVENT TRIGGER disk_is_full_too ON ddl_command_start WHEN TAG IN ('CREATE TABLE AS')
                EXECUTE FUNCTION disk_is_full_too();
            """
        )
        world.user()
        before = await client.get("/health/ready")
        refused = await world.log_in()
        during = [await client.get("/health/ready") for _ in range(2)]
        admin.execute("DROP EVENT TRIGGER disk_is_full_too; DROP TRIGGER disk_is_full ON sessions")
        after = [await client.get("/health/ready") for _ in range(2)]
        admin.execute("DROP FUNCTION disk_is_full(); DROP FUNCTION disk_is_full_too()")

    assert (before.status, refused.status) == (200, 503)
    assert [answer.status for answer in during] == [503, 503]
    assert during[0].json["problem"] == WritesFailing.default_message
    assert during[0].json["database"] == "connected"
    assert [answer.status for answer in after] == [200, 200]


async def test_readiness_writes_nothing_while_writes_succeed(client: Client, connection: Connection) -> None:
    def last_transaction() -> object:
        return connection.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text").fetchone()

    before = last_transaction()
    await client.get("/health/ready")

    assert last_transaction() == before


@pytest.mark.parametrize(
    ("compatible_from", "problem"),
    [
        (newest_version(), None),
        (newest_version() + 1, SchemaTooNew.default_message),
        (None, SchemaTooNew.default_message),
    ],
)
async def test_readiness_is_503_when_the_schema_became_too_new_for_the_running_process(
    client: Client, connection: Connection, compatible_from: int | None, problem: str | None
) -> None:
    connection.execute(
        """
        INSERT INTO schema_migrations (version, name, checksum, seconds, compatible_from)
        VALUES (%s, 'of_a_newer_version', '', 0, %s)
        """,
        (newest_version() + 1, compatible_from),
    )

    answer = await client.get("/health/ready")
    connection.execute("DELETE FROM schema_migrations WHERE version = %s", (newest_version() + 1,))

    assert answer.status == (200 if problem is None else 503)
    assert (answer.json["database"], answer.json["problem"]) == ("connected", problem)


@pytest.mark.parametrize(
    "failure", [ServiceUnavailable(retry_after_seconds=1), DatabaseFailed()], ids=["unavailable", "broken"]
)
async def test_readiness_is_503_when_a_trivial_query_fails(installation: Installation, failure: Exception) -> None:
    client = serving(replace(installation, database=BrokenDatabase(failure)))

    answer = await client.get("/health/ready")

    assert answer.status == 503
    assert answer.json == {
        "status": "unhealthy",
        "version": VERSION,
        "database": "disconnected",
        "problem": DATABASE_PROBLEM,
        "actors": {},
    }


async def test_readiness_is_503_after_the_service_is_told_to_stop(installation: Installation, client: Client) -> None:
    installation.stopping.set()

    answer = await client.get("/health/ready")

    assert answer.status == 503
    assert answer.json == {
        "status": "unhealthy",
        "version": VERSION,
        "database": "connected",
        "problem": STOPPING_PROBLEM,
        "actors": {},
    }


@pytest.mark.parametrize("path", ["/health", "/health/live"])
async def test_only_readiness_queries_the_database(installation: Installation, path: str) -> None:
    client = serving(replace(installation, database=BrokenDatabase(ServiceUnavailable(retry_after_seconds=1))))

    answer = await client.get(path)

    assert answer.status == 200


async def test_readiness_shows_the_state_of_each_actor_and_does_not_depend_on_them(
    client: Client, actors: ReportedActors
) -> None:
    since = datetime(2026, 2, 3, tzinfo=UTC)
    actors.told = [
        ActorReport(name="mail courier", state=BackgroundTaskState.RUNNING, since=since, crashes=0),
        ActorReport(name="key refresher", state=BackgroundTaskState.BACKING_OFF, since=since, crashes=3),
    ]

    answer = await client.get("/health/ready")

    assert answer.status == 200
    assert answer.json["actors"] == {"mail courier": "running", "key refresher": "backing_off"}


async def test_the_health_endpoints_forbid_caching(client: Client, subtests: pytest.Subtests) -> None:
    for path in ("/health", "/health/live", "/health/ready"):
        with subtests.test(path=path):
            answer = await client.get(path)

            assert answer.headers["Cache-Control"] == "no-store"
