"""`serve --workers 2`: one service in several processes, in starting, working, dying and stopping."""

from __future__ import annotations

import os
import re
import signal
from typing import TYPE_CHECKING

import psutil

from tests.clients import answers, load, losses
from tests.processes import lay_made_cluster
from tests.waiting import wait_until

if TYPE_CHECKING:
    import pytest

    from tests.processes import Service, Services

WORKERS = 2
WARM_ANSWERS = 100


def crew(service: Service) -> list[int]:
    """Wait until all workers are there and ready; give their processes."""
    # The first is announced as the server.
    service.wait_for("worker.ready", times=WORKERS - 1)
    wait_until(lambda: len(service.workers()) == WORKERS)
    return sorted(worker.pid for worker in service.workers())


def counted(service: Service) -> float:
    """Read from the metrics how many keys were asked for."""
    exposition = service.get("/metrics").content.decode()
    pattern = r'sso_http_request_duration_seconds_count{.*route="/\.well-known/jwks\.json".*} (\S+)'
    found = re.search(pattern, exposition)
    return float(found[1]) if found else 0.0


def test_all_workers_serve_and_the_metrics_are_those_of_all_and_survive_one(services: Services) -> None:
    service = services.ready("--workers", str(WORKERS), DEV="on")
    workers = crew(service)
    before = {pid: psutil.Process(pid).cpu_times().user for pid in workers}

    with load(service.port, ["/health"], loyal=0, fickle=8) as clients:
        wait_until(
            lambda: (
                all(psutil.Process(pid).cpu_times().user > before[pid] for pid in workers)
                and len(answers(clients)) > WARM_ANSWERS
            )
        )

    assert {answer.status for answer in answers(clients)} == {200}
    assert len(service.said("server.ready")) == 1

    with load(service.port, ["/.well-known/jwks.json"], loyal=0, fickle=4) as clients:
        wait_until(lambda: len(answers(clients)) > WARM_ANSWERS)
    asked = len(answers(clients))

    before = [counted(service) for _ in range(6)]
    os.kill(workers[0], signal.SIGKILL)
    service.wait_for("worker.ready", times=WORKERS)
    after = [counted(service) for _ in range(6)]

    assert before == after == [asked] * 6


def test_a_worker_that_is_killed_or_stopped_by_hand_is_replaced_and_the_other_goes_on(services: Services) -> None:
    service = services.ready("--workers", str(WORKERS))
    first, other = crew(service)

    os.kill(first, signal.SIGKILL)
    service.wait_for("worker.ready", times=WORKERS)
    [second] = set(crew(service)) - {other}
    os.kill(second, signal.SIGTERM)
    service.wait_for("worker.ready", times=WORKERS + 1)

    assert other in crew(service)
    assert second not in crew(service)
    assert [line["status"] for line in service.said("worker.died")] == [-signal.SIGKILL, 0]
    assert service.get("/health/ready").status == 200


def test_a_supervisor_that_tells_everybody_ends_them_all_and_cuts_nobody_short(services: Services) -> None:
    service = services.ready("--workers", str(WORKERS))
    workers = crew(service)
    with load(service.port, ["/health"], loyal=4, fickle=0) as clients:
        wait_until(lambda: len(answers(clients)) > WARM_ANSWERS)
        # As systemd does: the workers hear it from the supervisor, and once more from their parent.
        os.killpg(service.process.pid, signal.SIGTERM)

        status = service.wait()

    assert status == 0
    assert losses(clients) == []
    assert not any(psutil.pid_exists(worker) for worker in workers)
    assert [line["event"] for line in service.events if line["event"].startswith("server.")][-2:] == [
        "server.stopping",
        "server.stopped",
    ]


def test_ctrl_c_at_the_terminal_is_the_parents_affair(services: Services) -> None:
    service = services.ready("--workers", str(WORKERS))
    crew(service)

    os.killpg(service.process.pid, signal.SIGINT)

    assert service.wait() == 0
    assert "Traceback" not in service.log


def test_when_the_parent_is_killed_the_workers_end_and_a_new_one_can_start(services: Services) -> None:
    service = services.ready("--workers", str(WORKERS))
    workers = crew(service)

    service.kill()

    wait_until(lambda: not any(psutil.pid_exists(worker) for worker in workers))
    assert services.ready().get("/health/ready").status == 200


def test_the_embedded_database_is_shared_and_stops_with_the_last(
    embedded_services: Services, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lay_made_cluster(embedded_services, tmp_path_factory)
    service = embedded_services.ready("--workers", str(WORKERS))
    crew(service)

    assert service.get("/health/ready").json["database"] == "connected"
    assert service.stop() == 0
    assert not (service.data_folder / "postgres" / "postmaster.pid").exists()
