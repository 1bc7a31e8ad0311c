"""A database outage under load: every answer comes within a second, as a 503, and service resumes with the database."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.postgres.embedded.server import EmbeddedPostgres
from entrypoints.settings import Settings
from tests.clients import Asked, Client, answers, load, losses
from tests.postgres import data_folder
from tests.processes import Services, given_database
from tests.shown_text import shows
from tests.stopwatch import Stopwatch
from tests.waiting import wait_until

# Each starts processes, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

# A path that reads from the database, the one that checks it, and one that does not need it.
MAILBOX, READINESS, KEYS = "/dev/mailbox", "/health/ready", "/.well-known/jwks.json"
WARM_ANSWERS = 50
REFUSED_ANSWERS = 50
# So many answers in a row are full service.
GOOD_ANSWERS = 50
# A second, two seconds, and what a busy machine may add.
REFUSAL_SECONDS_MAX = 1.5
RECOVERY_SECONDS_MAX = 2.5


@pytest.fixture
def postgres() -> Iterator[EmbeddedPostgres]:
    """A PostgreSQL that the test may stop."""
    with data_folder() as folder:
        postgres = EmbeddedPostgres(folder)
        postgres.start()
        yield postgres
        postgres.release()


@pytest.fixture
def services_on_it(postgres: EmbeddedPostgres, tmp_path: Path) -> Iterator[Services]:
    """Servers on that PostgreSQL, in development mode, because the mailbox reads from the database."""
    services = Services(tmp_path, given_database(postgres.start()) | {"GATEHOUSE_DEV": "on"})
    yield services
    services.close()


def refused(clients: list[Client]) -> list[Asked]:
    """Return the answers with another status than 200."""
    return [answer for answer in answers(clients) if answer.status != 200]


def refused_at(path: str, clients: list[Client]) -> list[Asked]:
    """Return the ones of one path."""
    return refused([client for client in clients if client.path == path])


@pytest.mark.long
def test_an_outage_under_load_is_answered_with_503_until_the_database_returns(
    services_on_it: Services, postgres: EmbeddedPostgres, stopwatch: Stopwatch
) -> None:
    service = services_on_it.ready()
    with load(service.port, [MAILBOX, READINESS, KEYS], loyal=6, fickle=3) as clients:
        wait_until(lambda: len(answers(clients)) > WARM_ANSWERS)
        postgres.release()
        wait_until(lambda: len(refused(clients)) > REFUSED_ANSWERS)
        postgres.start()
        with stopwatch.within(RECOVERY_SECONDS_MAX):
            wait_until(lambda: all(answer.status == 200 for answer in answers(clients)[-GOOD_ANSWERS:]))

    assert losses(clients) == []
    assert refused_at(KEYS, clients) == []
    for answer in refused_at(MAILBOX, clients):
        assert (answer.status, json.loads(answer.body)["error_code"]) == (503, "SERVICE_UNAVAILABLE")
        assert int(answer.headers["retry-after"]) >= 1
    for answer in refused_at(READINESS, clients):
        assert answer.status == 503
        assert json.loads(answer.body)["database"] == "disconnected"
    slowest = max(line["duration_ms"] for line in service.logged("request"))
    stopwatch.assert_within(slowest / 1000, REFUSAL_SECONDS_MAX)
    assert not shows(service.log, "Traceback")


def test_a_server_without_its_database_can_be_stopped(
    services_on_it: Services, postgres: EmbeddedPostgres, stopwatch: Stopwatch
) -> None:
    service = services_on_it.ready()
    postgres.release()
    wait_until(lambda: service.get(READINESS).status == 503)

    with stopwatch.within(Settings().shutdown_seconds):
        status = service.stop()

    assert status == 0


def test_workers_that_all_died_while_the_database_was_away_are_replaced_when_it_is_back(
    services_on_it: Services, postgres: EmbeddedPostgres
) -> None:
    service = services_on_it.ready("--workers", "2")
    service.wait_for("worker.ready")
    postgres.release()
    for worker in service.workers():
        os.kill(worker.pid, signal.SIGKILL)

    # Their replacements cannot start, and die as well.
    service.wait_for("worker.died", times=4)
    postgres.start()
    service.wait_for("worker.ready", times=3)

    assert service.get(READINESS).status == 200
    assert service.stop() == 0
