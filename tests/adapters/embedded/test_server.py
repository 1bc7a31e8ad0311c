"""The embedded PostgreSQL, with real processes that really die; nothing here is imitated.

pytest makes its temporary folders for their owner alone, so as root every one of these tests also shows that PostgreSQL
works below a folder that its own user cannot enter.
"""

from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING

import psycopg

from adapters.postgres.embedded.cluster import SOCKET_NAME
from adapters.postgres.embedded.folder import poll_until
from adapters.postgres.embedded.programs import account_for, programs_for
from adapters.postgres.embedded.server import EmbeddedPostgres
from tests.adapters.embedded.clusters import PATIENCE_SECONDS, USER, Starter, is_dead, postmaster_pid, remember, value

if TYPE_CHECKING:
    from pathlib import Path


def kill_postgres(folder: Path) -> None:
    """Kill -9 for the postmaster, upon which its children end by themselves."""
    os.kill(postmaster_pid(folder), signal.SIGKILL)
    assert poll_until(lambda: is_dead(folder), PATIENCE_SECONDS)


def remembered(address: str) -> list[str]:
    with psycopg.connect(address) as connection:
        return [word for (word,) in connection.execute("SELECT word FROM remembered ORDER BY word")]


def test_a_stopped_postgres_starts_again_with_its_data(folder: Path) -> None:
    with EmbeddedPostgres(folder) as address:
        remember(address, "new")
    was_stopped = is_dead(folder)

    with EmbeddedPostgres(folder) as address:
        words = remembered(address)

    assert was_stopped
    assert words == ["kept", "new"]


def test_the_last_process_to_leave_stops_it(folder: Path, start_process: Starter) -> None:
    other = start_process(USER, folder)
    other.first_line()
    ours = EmbeddedPostgres(folder)
    address = ours.start()

    other.dismiss()
    remember(address, "still running")
    ours.release()

    assert is_dead(folder)


def test_a_process_that_leaves_does_not_stop_it_for_another(folder: Path, start_process: Starter) -> None:
    ours = EmbeddedPostgres(folder)
    ours.start()
    address = start_process(USER, folder).first_line()

    ours.release()

    assert value(address, "SELECT 1") == 1


def test_two_processes_that_start_at_once_share_one(new_folder: Path, start_process: Starter) -> None:
    first, second = start_process(USER, new_folder), start_process(USER, new_folder)

    addresses = {first.first_line(), second.first_line()}
    first.dismiss()
    runs_for_second = not is_dead(new_folder)
    second.dismiss()

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


def test_a_database_that_was_dropped_is_created_again(folder: Path) -> None:
    postgres = EmbeddedPostgres(folder)
    address = postgres.start()
    with psycopg.connect(address, dbname="postgres", autocommit=True) as connection:
        connection.execute("DROP DATABASE gatehouse")

    postgres.start()

    assert value(address, "SELECT current_database()") == "gatehouse"
    postgres.release()


def test_kill_of_our_process_leaves_a_postgres_that_the_next_start_joins(folder: Path, start_process: Starter) -> None:
    other = start_process(USER, folder)
    remember(other.first_line(), "new")
    pid = postmaster_pid(folder)

    other.kill()
    with EmbeddedPostgres(folder) as address:
        words, pid_after = remembered(address), postmaster_pid(folder)

    assert words == ["kept", "new"]
    assert pid_after == pid
    # The killed process does not count as a user any more, so we were the last.
    assert is_dead(folder)


def test_kill_of_postgres_is_healed_by_the_next_start(folder: Path, start_process: Starter) -> None:
    remember(start_process(USER, folder).first_line(), "new")

    kill_postgres(folder)
    with EmbeddedPostgres(folder) as address:
        words = remembered(address)

    assert words == ["kept", "new"]


def test_start_revives_a_postgres_that_died_while_we_used_it(folder: Path) -> None:
    postgres = EmbeddedPostgres(folder)
    remember(postgres.start(), "new")

    # Not waiting for its children, which end a moment later: they may not meet a new postmaster.
    os.kill(postmaster_pid(folder), signal.SIGKILL)
    words = remembered(postgres.start())
    postgres.release()

    assert words == ["kept", "new"]
    assert is_dead(folder)


def test_the_pid_of_an_unrelated_process_is_not_believed(folder: Path) -> None:
    postgres = EmbeddedPostgres(folder)
    postgres.start()
    kill_postgres(folder)
    # As PostgreSQL's own user, since PostgreSQL does not take another user's process for itself anyway.
    owner = (folder / "postgres").stat().st_uid
    with subprocess.Popen(["sleep", "600"], user=owner if os.geteuid() == 0 else None) as stranger:
        for name in ("postmaster.pid", f"{SOCKET_NAME}.lock"):
            file = folder / "postgres" / name
            _, *others = file.read_text().splitlines(keepends=True)
            file.write_text("".join([f"{stranger.pid}\n", *others]))

        words = remembered(postgres.start())
        postgres.release()

        lives = stranger.poll() is None
        stranger.kill()
    assert words == ["kept"]
    assert lives


def test_a_postgres_that_was_started_by_hand_is_joined(folder: Path) -> None:
    cluster = folder / "postgres"
    programs = programs_for(account_for(cluster), cluster, log=folder / "postgres.log")
    assert programs.run("pg_ctl", "start", "--wait", f"--pgdata={cluster}")
    pid = postmaster_pid(folder)

    with EmbeddedPostgres(folder) as address:
        words, pid_after = remembered(address), postmaster_pid(folder)

    assert words == ["kept"]
    assert pid_after == pid


def test_kill_during_initialisation_leaves_nothing_half_made(new_folder: Path, start_process: Starter) -> None:
    other = start_process(USER, new_folder)
    unfinished = new_folder / "postgres.new"
    assert poll_until((unfinished / "PG_VERSION").exists, PATIENCE_SECONDS)

    other.kill()
    was_unfinished = not (new_folder / "postgres").exists()
    with EmbeddedPostgres(new_folder) as address:
        remember(address, "works")

    assert was_unfinished
    assert not unfinished.exists()


def test_what_an_initialisation_left_half_made_is_replaced(new_folder: Path) -> None:
    unfinished = new_folder / "postgres.new"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")

    with EmbeddedPostgres(new_folder) as address:
        remember(address, "works")

    assert not unfinished.exists()
