"""The health endpoints (operations 4.11)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from core.errors import DatabaseFailed, ServiceUnavailable
from entrypoints.http.platform.health import DATABASE_PROBLEM, STOPPING_PROBLEM
from ports.actors import ActorReport, ActorState
from tests.application import VERSION, Client, ReportedActors, serving

if TYPE_CHECKING:
    from core.sessions.callers import Origin
    from entrypoints.installation import Installation


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
        ActorReport(name="mail courier", state=ActorState.RUNNING, since=since, crashes=0),
        ActorReport(name="key refresher", state=ActorState.BACKING_OFF, since=since, crashes=3),
    ]

    answer = await client.get("/health/ready")

    assert answer.status == 200
    assert answer.json["actors"] == {"mail courier": "running", "key refresher": "backing_off"}


@pytest.mark.parametrize("path", ["/health", "/health/live", "/health/ready"])
async def test_the_health_endpoints_forbid_caching(client: Client, path: str) -> None:
    answer = await client.get(path)

    assert answer.headers["Cache-Control"] == "no-store"
