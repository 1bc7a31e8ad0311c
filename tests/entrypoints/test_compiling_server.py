"""PostgreSQL as Debian installs it, which compiles statements whose estimate is high: none of ours is, or is cancelled.

Nothing was ever analyzed there. One that no pooler passes our settings on to has sessions that may compile.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
import trio

from adapters.postgres.driver import timed_connection
from adapters.postgres.schema import migrations
from core.platform.log_months import Log
from core.secrets import Secret
from entrypoints import capabilities, main
from entrypoints import settings as settings_of
from entrypoints.installation import Installation
from entrypoints.web.serving.application import Application
from tests.application import Client
from tests.other_postgres import OtherPostgres, other_postgres
from tests.waiting import eventually
from tests.world.builder import PASSWORD

# It starts a PostgreSQL of its own, which takes seconds; CI runs it.
pytestmark = pytest.mark.long

PEOPLE: Final = 12
MONTHS: Final = 39
# The last use case of an actor that has begun with the start is done by then.
ACTORS_SECONDS: Final = 3.0
HANDED_ON_SECONDS_MAX: Final = 60.0
# An extension of PostgreSQL that counts, and no other setting than those that Debian installs.
COUNTING: Final = "shared_preload_libraries = 'pg_stat_statements'\npg_stat_statements.track = 'all'\n"
COMPILED: Final = """
    SELECT query FROM pg_stat_statements WHERE jit_functions > 0 AND dbid = (
        SELECT oid FROM pg_database WHERE datname = current_database())
"""


@pytest.fixture(scope="module")
def postgres() -> Iterator[OtherPostgres]:
    """A PostgreSQL of Debian with its settings."""
    with other_postgres() as postgres:
        with (postgres.data / "postgresql.conf").open("a") as settings:
            settings.write(COUNTING)
        postgres.start()
        yield postgres


@pytest.fixture(params=["off", "on"])
def jit(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether sessions may compile: as we ask for, or as behind a pooler that drops the parameter."""
    monkeypatch.setitem(timed_connection.ADVISED_SETTINGS, "jit", request.param)
    return request.param


@pytest.fixture(params=["new", "39 months"])
def url(request: pytest.FixtureRequest, postgres: OtherPostgres, jit: str) -> str:
    """The address of a database that was just migrated, or has the months of three years and a quarter as well."""
    url = postgres.create_database(f"{request.param[:3].strip()}_{jit}".replace("39", "old"))
    with migrations.connected(url) as connection:
        migrations.migrate(connection, lambda _line: None)
        connection.execute("CREATE EXTENSION pg_stat_statements")
        if request.param != "new":
            for log, month in product(Log, range(MONTHS)):
                first = date(2027 + month // 12, month % 12 + 1, 1)
                connection.execute("SELECT add_log_month(%s, %s)", (log.value, first))
    return url


def test_what_is_compiled_there_is_counted(postgres: OtherPostgres) -> None:
    with psycopg.connect(postgres.create_database("counted"), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION pg_stat_statements")
        assert connection.execute("SHOW jit").fetchone() == ("on",)
        connection.execute("SET jit_above_cost = 0")
        connection.execute("SELECT count(*) FROM pg_class WHERE relpages >= 0")

        assert "SELECT count(*) FROM pg_class WHERE relpages >= $1" in compiled(connection)


async def test_nothing_is_compiled_or_cancelled_and_every_event_is_handed_on(
    url: str, jit: str, postgres: OtherPostgres, tmp_path: Path
) -> None:
    read = settings_of.load({"GATEHOUSE_DATA_DIR": str(tmp_path), "GATEHOUSE_RATE_LIMITS": "off"})
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT pg_stat_statements_reset()")
        async with main.connected(read, Secret(url)) as installed:
            await installed.load_secrets()
            installed.start_actors()
            await register_and_use(installed.installation, connection)
            await eventually(partial(handed_on, connection), seconds_max=HANDED_ON_SECONDS_MAX)
            await trio.sleep(ACTORS_SECONDS)

        assert compiled(connection) == []
        [sent] = connection.execute("SELECT sum(calls) FROM pg_stat_statements WHERE query ~ 'login_events'").fetchall()
        assert sent[0] > PEOPLE
    assert "canceling statement" not in (postgres.folder / "log").read_text()


def compiled(connection: psycopg.Connection[Any]) -> list[str]:
    """Return the texts of the statements of a database that were compiled."""
    return [text for (text,) in connection.execute(COMPILED).fetchall()]


async def handed_on(connection: psycopg.Connection[Any]) -> bool:
    """Return whether there are events, and each has its place in the feed."""
    return connection.execute("SELECT count(*) > 0 AND bool_and(position > 0) FROM events").fetchone() == (True,)


async def register_and_use(installation: Installation, connection: psycopg.Connection[Any]) -> None:
    """Let people register, prove their addresses and sign in, often enough for plans with any values."""
    client = Client(Application(installation, capabilities.routes(is_development=True)))
    for number in range(PEOPLE):
        email = f"person-{number}@example.com"
        registered = await client.post("/api/auth/register", body={"email": email, "password": PASSWORD})
        assert registered.status < 300, registered.text
        connection.execute("UPDATE users SET email_verified_at = now(), unproved_since = NULL")
        answer = await client.post("/api/auth/login", body={"email": email, "password": PASSWORD})
        assert answer.status == 200, answer.text
        tokens = answer.json
        slug = f"acme-{number}"
        made = await client.post(
            "/api/organizations", body={"slug": slug, "name": "Acme"}, token=tokens["access_token"]
        )
        assert made.status == 200, made.text
        connection.execute("UPDATE organizations SET status = 'active'")
        refreshed = await client.post("/api/auth/refresh", body={"refresh_token": tokens["refresh_token"]})
        assert refreshed.status == 200, refreshed.text
        for path in ("/api/user", "/api/organizations", f"/api/organizations/{slug}/members"):
            assert (await client.get(path, token=refreshed.json["access_token"])).status == 200, path
