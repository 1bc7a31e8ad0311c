"""Twenty times kill -9: after each one the next start recovers, and everything acknowledged is still there.

Some kills come during the first start, the others under load; some kill PostgreSQL as well.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pytest

from adapters.postgres.embedded.server import EmbeddedPostgres
from adapters.postgres.schema import migrations
from tests.clients import answers, load
from tests.processes import Commands, Service, Services
from tests.waiting import wait_until

PATHS = ["/health/ready", "/.well-known/jwks.json"]
KILLS_UNDER_LOAD = 7
# Every so many kills a key is rotated first, and every so many PostgreSQL is killed as well.
ROTATION_PERIOD = 4
POWER_CUT_PERIOD = 3
WARM_ANSWERS = 20
# A step that is not reached by then is never reached; a busy machine needs some seconds for the schema.
STEP_SECONDS_MAX = 120.0

# The observable steps of a first start, in order.
STEPS: dict[str, Callable[[Service], bool]] = {
    "the master key is written": lambda service: (service.data_folder / "master-key").exists(),
    "the cluster is being made": lambda service: (service.data_folder / "postgres.new").exists(),
    "the cluster is made": lambda service: (service.data_folder / "postgres").exists(),
    "PostgreSQL is started": lambda service: (service.data_folder / "postgres" / "postmaster.pid").exists(),
    "the schema is being made": lambda service: "Making the schema" in service.log,
    # A start after one that was killed within the schema applies the rest of it, and says so in other words.
    "the schema is made": lambda service: ", 100 %." in service.log,
}


def cut_power(service: Service) -> None:
    """Kill a server and its PostgreSQL."""
    postmaster = psutil.Process(_postmaster(service.data_folder))
    processes = [postmaster, *postmaster.children()]
    service.kill()
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGKILL)
    psutil.wait_procs(processes)


def active_key(commands: Commands) -> str:
    """Rotate the signing keys, and return the id of the key reported as active."""
    rotated = commands.run("keys", "rotate")
    assert rotated.returncode == 0, rotated.stderr
    return rotated.stdout.split()[1]


@pytest.mark.long
def test_a_start_after_one_that_was_killed_at_any_step_recovers(embedded_services: Services) -> None:
    for step, is_reached in STEPS.items():
        unfinished = embedded_services.start(DEV="on")
        wait_until(
            lambda service=unfinished, is_reached=is_reached: is_reached(service) or not service.is_running(),
            seconds_max=STEP_SECONDS_MAX,
        )
        assert unfinished.is_running(), f"{step}: {unfinished.log}"
        unfinished.kill()

    _check_last_start(embedded_services, set())


@pytest.mark.long
def test_every_start_after_a_kill_under_load_recovers_and_nothing_acknowledged_is_lost(
    embedded_services: Services, embedded_commands: Commands
) -> None:
    acknowledged: set[str] = set()
    for kill in range(KILLS_UNDER_LOAD):
        service = embedded_services.ready(DEV="on")
        published = [key["kid"] for key in service.get("/.well-known/jwks.json").json["keys"]]
        assert acknowledged <= set(published)
        with load(service.port, PATHS, loyal=2, fickle=2) as clients:
            wait_until(lambda clients=clients: len(answers(clients)) > WARM_ANSWERS)
            acknowledged = set(published)
            if kill % ROTATION_PERIOD == 0:
                acknowledged.add(active_key(embedded_commands))
            if kill % POWER_CUT_PERIOD == 0:
                cut_power(service)
            else:
                service.kill()
        assert {answer.status for answer in answers(clients)} == {200}

    _check_last_start(embedded_services, acknowledged)


def _check_last_start(services: Services, acknowledged: set[str]) -> None:
    service = services.ready(DEV="on")
    assert service.get("/health/ready").status == 200
    service.stop()
    with EmbeddedPostgres(service.data_folder) as url, psycopg.connect(url) as connection:
        _check_that_nothing_is_half_written(connection, acknowledged)


def _check_that_nothing_is_half_written(connection: psycopg.Connection, acknowledged: set[str]) -> None:
    assert [row[0] for row in connection.execute("SELECT name FROM schema_migrations ORDER BY version")] == [
        migration.name for migration in migrations.known()
    ]
    assert connection.execute("SELECT email FROM users").fetchall() == [("owner@gatehouse.test",)]
    rsa_keys = dict(connection.execute("SELECT kid, state FROM signing_keys").fetchall())
    elliptic_keys = dict(connection.execute("SELECT kid, state FROM elliptic_signing_keys").fetchall())
    assert acknowledged <= rsa_keys.keys() | elliptic_keys.keys()
    for keys in (rsa_keys, elliptic_keys):
        assert sorted(state for state in keys.values() if state != "retired") == ["active", "next"]


def _postmaster(data_folder: Path) -> int:
    return int((data_folder / "postgres" / "postmaster.pid").read_text().splitlines()[0])
