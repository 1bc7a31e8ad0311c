"""The embedded PostgreSQL, with real processes that are really killed; nothing is faked.

Only the owner may open pytest's temporary folders, so under root each of these tests also shows that PostgreSQL works
below a folder that its own user cannot open.
"""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import psycopg
import pytest

from adapters.postgres.embedded.cluster import SOCKET_NAME
from adapters.postgres.embedded.folder import poll_until
from adapters.postgres.embedded.programs import account_for, programs_for
from adapters.postgres.embedded.server import EmbeddedPostgres
from tests.adapters.embedded.clusters import DEADLINE_SECONDS, USER, Starter, is_dead, postmaster_pid, remember, value

# Each starts processes, which takes seconds; CI runs them.
pytestmark = pytest.mark.long


def kill_postgres(folder: Path) -> None:
    """Send SIGKILL to the postmaster, upon which its children end by themselves."""
    os.kill(postmaster_pid(folder), signal.SIGKILL)
    assert poll_until(lambda: is_dead(folder), DEADLINE_SECONDS)


def remembered(address: str) -> list[str]:
    with psycopg.connect(address) as connection:
        return [word for (word,) in connection.execute("SELECT word FROM remembered ORDER BY word")]


def test_a_stopped_postgresql_starts_again_with_its_data(folder: Path) -> None:
    with EmbeddedPostgres(folder) as address:
        remember(address, "new")
    was_stopped = is_dead(folder)

    with EmbeddedPostgres(folder) as address:
        words = remembered(address)

    assert was_stopped
    assert words == ["kept", "new"]


def test_the_last_process_to_release_postgresql_stops_it(folder: Path, start_process: Starter) -> None:
    other = start_process(USER, folder)
    other.first_line()
    postgres = EmbeddedPostgres(folder)
    address = postgres.start()

    other.stop()
    remember(address, "still running")
    postgres.release()

    assert is_dead(folder)


def test_a_release_does_not_stop_postgresql_for_another_process(folder: Path, start_process: Starter) -> None:
    postgres = EmbeddedPostgres(folder)
    postgres.start()
    address = start_process(USER, folder).first_line()

    postgres.release()

    assert value(address, "SELECT 1") == 1


def test_two_processes_that_start_at_once_share_one_postgresql(new_folder: Path, start_process: Starter) -> None:
    first, second = start_process(USER, new_folder), start_process(USER, new_folder)

    addresses = {first.first_line(), second.first_line()}
    first.stop()
    runs_for_second = not is_dead(new_folder)
    second.stop()

    assert len(addresses) == 1
    assert runs_for_second
    assert is_dead(new_folder)


def test_releasing_twice_or_without_a_start_does_nothing(folder: Path) -> None:
    postgres = EmbeddedPostgres(folder)

    postgres.release()
    postgres.start()
    postgres.release()
    postgres.release()

    assert is_dead(folder)


def test_a_dropped_database_is_created_again(folder: Path) -> None:
    postgres = EmbeddedPostgres(folder)
    address = postgres.start()
    with psycopg.connect(address, dbname="postgres", autocommit=True) as connection:
        connection.execute("DROP DATABASE gatehouse")

    postgres.start()

    assert value(address, "SELECT current_database()") == "gatehouse"
    postgres.release()


def test_after_a_process_is_killed_the_next_start_joins_the_running_postgresql(
    folder: Path, start_process: Starter
) -> None:
    other = start_process(USER, folder)
    remember(other.first_line(), "new")
    pid = postmaster_pid(folder)

    other.kill()
    with EmbeddedPostgres(folder) as address:
        words, pid_after = remembered(address), postmaster_pid(folder)

    assert words == ["kept", "new"]
    assert pid_after == pid
    # The killed process no longer counts as a user, so this process was the last one.
    assert is_dead(folder)


def test_the_next_start_recovers_a_killed_postgresql(folder: Path, start_process: Starter) -> None:
    remember(start_process(USER, folder).first_line(), "new")

    kill_postgres(folder)
    with EmbeddedPostgres(folder) as address:
        words = remembered(address)

    assert words == ["kept", "new"]


def test_start_restarts_a_postgresql_that_died_while_in_use(folder: Path) -> None:
    postgres = EmbeddedPostgres(folder)
    remember(postgres.start(), "new")

    # The test does not wait for the children, which end a moment later: no new postmaster may start beside them.
    os.kill(postmaster_pid(folder), signal.SIGKILL)
    words = remembered(postgres.start())
    postgres.release()

    assert words == ["kept", "new"]
    assert is_dead(folder)


def test_the_pid_of_an_unrelated_process_is_not_taken_for_the_postmasters(folder: Path) -> None:
    postgres = EmbeddedPostgres(folder)
    postgres.start()
    kill_postgres(folder)
    # It runs as PostgreSQL's own user, because PostgreSQL ignores the processes of other users anyway.
    owner = (folder / "postgres").stat().st_uid
    with subprocess.Popen(["sleep", "600"], user=owner if os.geteuid() == 0 else None) as unrelated:
        for name in ("postmaster.pid", f"{SOCKET_NAME}.lock"):
            file = folder / "postgres" / name
            _, *others = file.read_text().splitlines(keepends=True)
            file.write_text("".join([f"{unrelated.pid}\n", *others]))

        words = remembered(postgres.start())
        postgres.release()

        is_running = unrelated.poll() is None
        unrelated.kill()
    assert words == ["kept"]
    assert is_running


def test_a_manually_started_postgresql_is_joined(folder: Path) -> None:
    cluster = folder / "postgres"
    programs = programs_for(account_for(cluster), cluster, log=folder / "postgres.log")
    assert programs.run("pg_ctl", "start", "--wait", f"--pgdata={cluster}")
    pid = postmaster_pid(folder)

    with EmbeddedPostgres(folder) as address:
        words, pid_after = remembered(address), postmaster_pid(folder)

    assert words == ["kept"]
    assert pid_after == pid


def test_a_kill_during_initialisation_leaves_no_incomplete_cluster(new_folder: Path, start_process: Starter) -> None:
    other = start_process(USER, new_folder)
    unfinished = new_folder / "postgres.new"
    assert poll_until((unfinished / "PG_VERSION").exists, DEADLINE_SECONDS)

    other.kill()
    was_unfinished = not (new_folder / "postgres").exists()
    with EmbeddedPostgres(new_folder) as address:
        remember(address, "works")

    assert was_unfinished
    assert not unfinished.exists()


def test_an_incomplete_cluster_is_replaced(new_folder: Path) -> None:
    unfinished = new_folder / "postgres.new"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")

    with EmbeddedPostgres(new_folder) as address:
        remember(address, "works")

    assert not unfinished.exists()
