"""The embedded PostgreSQL dies under load: it is started again, or the server ends with a sentence that says why."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import psutil
import pytest

from tests.clients import answers, load, losses
from tests.processes import Service, Services, lay_made_cluster
from tests.shown_text import shows
from tests.waiting import wait_until

# Each starts processes, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

# A path that reads from the database, and the one that checks it.
MAILBOX, READINESS = "/dev/mailbox", "/health/ready"
WARM_ANSWERS = 50
KILLS = 3
GIVE_UP_SECONDS_MAX = 180.0
with_and_without_workers = pytest.mark.parametrize("workers", ["1", "2"])


@pytest.fixture
def services_with_cluster(embedded_services: Services, tmp_path_factory: pytest.TempPathFactory) -> Services:
    """Servers on an embedded database that was made before."""
    lay_made_cluster(embedded_services, tmp_path_factory)
    embedded_services.environment["GATEHOUSE_DEV"] = "on"
    return embedded_services


def postmaster_of(service: Service) -> psutil.Process:
    pid = (service.data_folder / "postgres" / "postmaster.pid").read_text().splitlines()[0]
    return psutil.Process(int(pid))


def restarts_shown(service: Service) -> float:
    exposition = service.get("/metrics").content.decode()
    found = re.search(r"^sso_embedded_database_restarts_total (\S+)", exposition, re.MULTILINE)
    assert found is not None
    return float(found[1])


@with_and_without_workers
def test_a_killed_postgresql_is_started_again_and_requests_in_between_are_refused(
    services_with_cluster: Services, workers: str
) -> None:
    service = services_with_cluster.ready("--workers", workers)
    with load(service.port, [MAILBOX, READINESS], loyal=4, fickle=4) as clients:
        for kill in range(KILLS):
            warm = len(answers(clients)) + WARM_ANSWERS
            wait_until(lambda warm=warm: len(answers(clients)) > warm)
            postmaster_of(service).kill()
            service.wait_for("database.embedded_started_again", times=kill + 1)
            wait_until(lambda: service.get(READINESS).status == 200)

    assert losses(clients) == []
    refused = [answer for answer in answers(clients) if answer.status != 200]
    assert {answer.status for answer in refused} <= {503}
    for answer in refused:
        body = json.loads(answer.body)
        assert body.get("database") == "disconnected" or int(answer.headers["retry-after"]) >= 1
    assert len(service.logged("database.embedded_died")) == KILLS
    assert {restarts_shown(service) for _ in range(6)} == {KILLS}
    assert service.stop() == 0
    assert not (service.data_folder / "postgres" / "postmaster.pid").exists()
    assert not shows(service.log, "Traceback")


def test_a_killed_connection_of_postgresql_is_left_to_postgresql(services_with_cluster: Services) -> None:
    service = services_with_cluster.ready()
    postmaster = postmaster_of(service)
    with load(service.port, [MAILBOX, READINESS], loyal=4, fickle=0) as clients:
        wait_until(lambda: len(answers(clients)) > WARM_ANSWERS)
        next(child for child in postmaster.children() if "gatehouse" in " ".join(child.cmdline())).kill()
        log = service.data_folder / "postgres.log"
        wait_until(lambda: "all server processes terminated; reinitializing" in log.read_text())
        wait_until(lambda: service.get(READINESS).status == 200)

    assert losses(clients) == []
    assert {answer.status for answer in answers(clients)} <= {200, 503}
    assert postmaster_of(service).pid == postmaster.pid
    assert service.logged("database.embedded_died") == []
    assert restarts_shown(service) == 0


@with_and_without_workers
def test_a_server_whose_postgresql_cannot_start_again_ends_with_the_reason(
    services_with_cluster: Services, workers: str, tmp_path: Path
) -> None:
    service = services_with_cluster.ready("--workers", workers)
    control = service.data_folder / "postgres" / "global" / "pg_control"
    control.rename(tmp_path / "pg_control")
    try:
        postmaster_of(service).kill()
        wait_until(lambda: service.get(READINESS).status == 503)
        wait_until(lambda: not service.is_running(), seconds_max=GIVE_UP_SECONDS_MAX)
    finally:
        (tmp_path / "pg_control").rename(control)

    assert service.wait() == 1
    assert "gatehouse: The embedded PostgreSQL died and does not run any more." in service.log
    assert "pg_control" in service.log
    assert "and start Gatehouse again." in service.log
    assert not shows(service.log, "Traceback")
    attempts = [line["attempt"] for line in service.logged("database.embedded_not_started")]
    assert attempts == [1, 2, 3, 4, 5]
    # Nothing is lost: with its file back, it starts.
    assert services_with_cluster.ready().get(READINESS).status == 200


@with_and_without_workers
def test_a_server_whose_postgresql_is_away_can_be_stopped(services_with_cluster: Services, workers: str) -> None:
    service = services_with_cluster.ready("--workers", workers)
    control = service.data_folder / "postgres" / "global" / "pg_control"
    moved = control.rename(service.data_folder / "pg_control")
    postmaster_of(service).kill()
    service.wait_for("database.embedded_not_started")

    os.kill(service.process.pid, signal.SIGTERM)

    assert service.wait() == 0
    moved.rename(control)
