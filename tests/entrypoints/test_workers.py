"""`serve --workers 2`: one service in several processes, from start to stop, with workers that die."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator, Sequence
from itertools import pairwise

import psutil
import pytest

from tests.clients import Asked, Client, answers, load, losses
from tests.processes import Service, Services, lay_made_cluster
from tests.shown_text import shows
from tests.stopwatch import Stopwatch
from tests.waiting import wait_until

# Each starts servers, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

WORKERS = 2
WARM_ANSWERS = 100
# From the last answer before a worker hung to the next one, which another worker gives.
HUNG_SECONDS_MAX = 15.0


def ready_workers(service: Service) -> list[int]:
    """Wait until all workers are ready, and return their process ids."""
    # The log reports the first one as the server.
    service.wait_for("worker.ready", times=WORKERS - 1)
    wait_until(lambda: len(service.workers()) == WORKERS)
    return sorted(worker.pid for worker in service.workers())


def requests_counted(service: Service) -> float:
    """Return how many requests for the keys the metrics count."""
    exposition = service.get("/metrics").content.decode()
    pattern = r'sso_http_request_duration_seconds_count{.*route="/\.well-known/jwks\.json".*} (\S+)'
    found = re.search(pattern, exposition)
    return float(found[1]) if found else 0.0


def test_all_workers_serve_and_the_metrics_include_all_and_survive_a_worker(services: Services) -> None:
    service = services.ready("--workers", str(WORKERS), DEV="on")
    workers = ready_workers(service)
    before = {pid: psutil.Process(pid).cpu_times().user for pid in workers}

    with load(service.port, ["/health"], loyal=0, fickle=8) as clients:
        wait_until(
            lambda: (
                all(psutil.Process(pid).cpu_times().user > before[pid] for pid in workers)
                and len(answers(clients)) > WARM_ANSWERS
            )
        )

    assert {answer.status for answer in answers(clients)} == {200}
    assert len(service.logged("server.ready")) == 1

    with load(service.port, ["/.well-known/jwks.json"], loyal=0, fickle=4) as clients:
        wait_until(lambda: len(answers(clients)) > WARM_ANSWERS)
    answered = len(answers(clients))

    before = [requests_counted(service) for _ in range(6)]
    os.kill(workers[0], signal.SIGKILL)
    service.wait_for("worker.ready", times=WORKERS)
    after = [requests_counted(service) for _ in range(6)]

    assert before == after == [answered] * 6

    exposition = service.get("/metrics").content.decode()
    memory = dict(re.findall(r'^sso_worker_memory_bytes{kind="proportional",worker="(\d)"} (\S+)$', exposition, re.M))
    cpu_seconds = dict(re.findall(r'^sso_worker_cpu_seconds_total{worker="(\d)"} (\S+)$', exposition, re.M))
    assert memory.keys() == cpu_seconds.keys() == {"0", "1"}
    assert all(float(each) > 2**24 for each in memory.values())
    assert all(float(each) > 0.1 for each in cpu_seconds.values())


def test_a_killed_or_stopped_worker_is_replaced_and_the_other_continues(services: Services) -> None:
    service = services.ready("--workers", str(WORKERS))
    first, other = ready_workers(service)

    os.kill(first, signal.SIGKILL)
    service.wait_for("worker.ready", times=WORKERS)
    [second] = set(ready_workers(service)) - {other}
    os.kill(second, signal.SIGTERM)
    service.wait_for("worker.ready", times=WORKERS + 1)

    assert other in ready_workers(service)
    assert second not in ready_workers(service)
    assert [line["status"] for line in service.logged("worker.died")] == [-signal.SIGKILL, 0]
    assert service.get("/health/ready").status == 200


def test_a_worker_that_hangs_under_load_is_replaced_and_loses_what_it_held(
    services: Services, stopwatch: Stopwatch
) -> None:
    service = services.ready("--workers", str(WORKERS))
    hung, other = ready_workers(service)
    with load(service.port, ["/health"], loyal=4, fickle=4) as clients:
        wait_until(lambda: len(answers(clients)) > WARM_ANSWERS)

        os.kill(hung, signal.SIGSTOP)
        counts = [len(client.answers) for client in clients]
        held = connections_of(service, hung)
        service.wait_for("worker.ready", times=WORKERS)
        after = len(answers(clients))
        # Those that waited for the worker that hung have answers of another.
        wait_until(lambda: all(len(client.answers) > count + 1 for client, count in zip(clients, counts, strict=True)))
        wait_until(lambda: len(answers(clients)) > after + WARM_ANSWERS)

    assert len(losses(clients)) <= held
    waits = [later.ended_at - sooner.ended_at for sooner, later in pairwise_of_each(clients)]
    stopwatch.assert_within(max(waits), HUNG_SECONDS_MAX)
    assert other in ready_workers(service)
    [told] = service.logged("worker.hung")
    assert told["process"] == hung
    # Whichever worker is asked.
    for _ in range(6):
        assert b'sso_workers_replaced_total{reason="hung"} 1.0' in service.get("/metrics").content


def connections_of(service: Service, worker: int) -> int:
    """Return how many connections of clients a worker has accepted, and how many wait to be accepted by any."""
    accepted = [one for one in psutil.Process(worker).net_connections() if one.raddr and one.laddr.port == service.port]
    return len(accepted)


def pairwise_of_each(clients: Sequence[Client]) -> Iterator[tuple[Asked, Asked]]:
    """Yield each answer of a client with its next one."""
    for client in clients:
        yield from pairwise(client.answers)


# A client that the machine keeps from sending for longer than a server waits at its end loses its request.
@pytest.mark.timing
def test_a_signal_to_the_whole_group_stops_all_processes_and_drops_no_request(services: Services) -> None:
    service = services.ready("--workers", str(WORKERS))
    workers = ready_workers(service)
    with load(service.port, ["/health"], loyal=4, fickle=0) as clients:
        wait_until(lambda: len(answers(clients)) > WARM_ANSWERS)
        # As systemd does: the workers get the signal from the supervisor and again from their parent.
        os.killpg(service.process.pid, signal.SIGTERM)

        status = service.wait()

    assert status == 0
    assert losses(clients) == []
    assert not any(psutil.pid_exists(worker) for worker in workers)
    assert [line["event"] for line in service.events if line["event"].startswith("server.")][-2:] == [
        "server.stopping",
        "server.stopped",
    ]


def test_ctrl_c_at_the_terminal_is_handled_by_the_parent(services: Services) -> None:
    service = services.ready("--workers", str(WORKERS))
    ready_workers(service)

    os.killpg(service.process.pid, signal.SIGINT)

    assert service.wait() == 0
    assert not shows(service.log, "Traceback")


def test_workers_end_when_their_parent_is_killed_and_a_new_server_can_start(services: Services) -> None:
    service = services.ready("--workers", str(WORKERS))
    workers = ready_workers(service)

    service.kill()

    wait_until(lambda: not any(psutil.pid_exists(worker) for worker in workers))
    assert services.ready().get("/health/ready").status == 200


def test_the_workers_share_the_embedded_database_and_it_stops_with_them(
    embedded_services: Services, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lay_made_cluster(embedded_services, tmp_path_factory)
    service = embedded_services.ready("--workers", str(WORKERS))
    ready_workers(service)

    assert service.get("/health/ready").json["database"] == "connected"
    assert service.stop() == 0
    assert not (service.data_folder / "postgres" / "postmaster.pid").exists()
