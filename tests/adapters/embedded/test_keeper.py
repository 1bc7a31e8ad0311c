"""The keeper of the embedded PostgreSQL, with a real one that is really killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import structlog

from adapters.postgres.embedded import keeper as keepers
from adapters.postgres.embedded import server
from adapters.postgres.embedded.folder import poll_until
from adapters.postgres.embedded.keeper import Keeper
from adapters.postgres.embedded.programs import account_for, programs_for
from adapters.postgres.embedded.server import EmbeddedPostgres, EmbeddedPostgresError
from tests.adapters.embedded.clusters import DEADLINE_SECONDS, USER, Starter, is_dead, postmaster_pid, value

# Each starts processes, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

STARTS_MAX = 2


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The keeper looks and starts whenever it is asked, and soon gives up."""
    monkeypatch.setattr(keepers, "STARTS_MAX", STARTS_MAX)
    monkeypatch.setattr(keepers, "PERIOD_SECONDS", 0.0)
    monkeypatch.setattr(keepers, "PAUSE_SECONDS_MIN", 0.0)


@pytest.fixture
def postgres(folder: Path) -> Iterator[EmbeddedPostgres]:
    """A running PostgreSQL in `folder`."""
    postgres = EmbeddedPostgres(folder)
    postgres.start()
    yield postgres
    postgres.release()


def kill(folder: Path) -> None:
    """Send SIGKILL to the postmaster, without waiting for its children."""
    postmaster = psutil.Process(postmaster_pid(folder))
    postmaster.kill()
    postmaster.wait()


def test_a_postgresql_that_runs_is_left_alone(folder: Path, postgres: EmbeddedPostgres) -> None:
    keeper, pid = Keeper(postgres), postmaster_pid(folder)

    keeper.attend()

    assert postmaster_pid(folder) == pid
    assert keeper.restarts == 0


def test_a_killed_postgresql_is_started_again_at_the_same_address(folder: Path, postgres: EmbeddedPostgres) -> None:
    address = postgres.start()
    keeper = Keeper(postgres)

    kill(folder)
    with structlog.testing.capture_logs() as lines:
        keeper.attend()

    assert value(address, "SELECT word FROM remembered") == "kept"
    assert keeper.restarts == 1
    assert [line["event"] for line in lines] == ["database.embedded_died", "database.embedded_started_again"]
    assert str(postgres.log) in lines[0]["advice"]


def test_a_postgresql_that_was_stopped_by_hand_is_started_again(folder: Path, postgres: EmbeddedPostgres) -> None:
    keeper, cluster = Keeper(postgres), folder / "postgres"
    programs = programs_for(account_for(cluster), cluster, log=folder / "postgres.log")
    assert programs.run("pg_ctl", "stop", "--mode=fast", "--wait", f"--pgdata={cluster}")

    keeper.attend()

    assert value(postgres.start(), "SELECT 1") == 1


def test_a_postgresql_that_another_process_started_again_is_used(
    folder: Path, postgres: EmbeddedPostgres, start_process: Starter
) -> None:
    keeper = Keeper(postgres)
    kill(folder)
    start_process(USER, folder).first_line()
    pid = postmaster_pid(folder)

    keeper.attend()

    assert postmaster_pid(folder) == pid
    assert keeper.restarts == 0


def test_a_postgresql_that_was_started_by_hand_after_a_failure_is_used_and_kept(
    folder: Path, postgres: EmbeddedPostgres
) -> None:
    keeper, cluster = Keeper(postgres), folder / "postgres"
    moved = (cluster / "global" / "pg_control").rename(folder / "pg_control")
    kill(folder)
    keeper.attend()
    moved.rename(cluster / "global" / "pg_control")
    address = postgres.start()

    keeper.attend()
    kill(folder)
    with structlog.testing.capture_logs() as lines:
        keeper.attend()

    assert value(address, "SELECT word FROM remembered") == "kept"
    assert [line["event"] for line in lines] == ["database.embedded_died", "database.embedded_started_again"]


def test_a_postgresql_that_cannot_be_checked_is_left_alone(folder: Path, postgres: EmbeddedPostgres) -> None:
    keeper, file = Keeper(postgres), folder / "postgres" / "postmaster.pid"
    moved = file.rename(folder / "postmaster.pid")
    file.mkdir()

    with structlog.testing.capture_logs() as lines:
        keeper.attend()

    file.rmdir()
    moved.rename(file)
    assert [(line["event"], line["reason"]) for line in lines] == [("database.embedded_not_checked", "Is a directory")]
    assert keeper.restarts == 0


def test_a_process_of_a_killed_postgresql_that_does_not_end_is_killed(
    folder: Path, postgres: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "LEFT_OVER_SECONDS_MAX", 0.1)
    keeper = Keeper(postgres)
    stuck = psutil.Process(postmaster_pid(folder)).children()[0]
    stuck.suspend()

    kill(folder)
    keeper.attend()

    assert not stuck.is_running() or stuck.status() == psutil.STATUS_ZOMBIE
    assert value(postgres.start(), "SELECT word FROM remembered") == "kept"


def test_a_postgresql_that_does_not_start_is_given_up_after_several_attempts(
    folder: Path, postgres: EmbeddedPostgres
) -> None:
    keeper, control = Keeper(postgres), folder / "postgres" / "global" / "pg_control"
    moved = control.rename(folder / "pg_control")
    kill(folder)

    for _ in range(STARTS_MAX - 1):
        keeper.attend()
    with pytest.raises(EmbeddedPostgresError, match=f"None of {STARTS_MAX} attempts .* succeeded") as given_up:
        keeper.attend()

    assert "pg_control" in str(given_up.value)
    assert "start Gatehouse again" in str(given_up.value)
    assert keeper.restarts == 0
    moved.rename(control)


def test_a_postgresql_that_dies_after_every_start_is_given_up(folder: Path, postgres: EmbeddedPostgres) -> None:
    keeper = Keeper(postgres)
    for _ in range(STARTS_MAX):
        kill(folder)
        keeper.attend()
    kill(folder)

    with pytest.raises(EmbeddedPostgresError, match=f"It died again soon after each of {STARTS_MAX} starts"):
        keeper.attend()

    assert keeper.restarts == STARTS_MAX


def test_deaths_after_a_long_run_are_no_reason_to_give_up(
    folder: Path, postgres: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keepers, "HEALTHY_SECONDS_MIN", 0.0)
    keeper = Keeper(postgres)

    for _ in range(STARTS_MAX + 1):
        kill(folder)
        keeper.attend()

    assert keeper.restarts == STARTS_MAX + 1


def test_a_start_waits_for_longer_after_each_attempt(
    folder: Path, postgres: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keepers, "PAUSE_SECONDS_MIN", 1000.0)
    keeper = Keeper(postgres)
    kill(folder)
    keeper.attend()
    kill(folder)

    keeper.attend()

    assert keeper.restarts == 1
    assert poll_until(lambda: is_dead(folder), DEADLINE_SECONDS)


def test_no_empty_cluster_takes_the_place_of_one_that_is_gone(folder: Path, postgres: EmbeddedPostgres) -> None:
    kill(folder)
    assert poll_until(lambda: is_dead(folder), DEADLINE_SECONDS)
    moved = (folder / "postgres").rename(folder / "elsewhere")

    with pytest.raises(EmbeddedPostgresError, match="Mount it, or restore it from the backup"):
        postgres.start_again()

    assert not (folder / "postgres").exists()
    moved.rename(folder / "postgres")
