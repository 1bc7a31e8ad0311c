"""From the last release to this version, and through a backup, under load: every credential is good afterwards.

The release runs with the packages of this version, which its own allow, so that nothing has to be installed.
"""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import jwt
import psycopg
import pytest

from adapters.postgres.schema.migrations import known
from ops.benchmarks import releases
from tests.entrypoints.old_credentials import (
    OWNER,
    PASSWORD,
    WITH_CODES,
    issue,
    issue_organization_key,
    require_good,
)
from tests.entrypoints.site import BASE_URL
from tests.postgres import Databases
from tests.processes import Commands, Service, Services, address, given_database
from tests.waiting import wait_until

# It starts four servers, which takes seconds; CI runs it.
pytestmark = pytest.mark.long

CLIENTS: Final = 3
WARM_WRITES: Final = 10


@dataclass
class Load:
    """Clients that sign in all the time; each confirmed sign-in is a session that has to be there for good."""

    service: Service
    confirmed: list[str] = field(default_factory=list[str])
    refused: list[int] = field(default_factory=list[int])
    is_ending: bool = False

    def run(self) -> None:
        """Sign in until the end; a request without an answer confirms nothing."""
        body = json.dumps({"email": OWNER, "password": PASSWORD}).encode()
        while not self.is_ending:
            try:
                answer = self.service.request("POST", "/api/auth/login", body=body)
            except OSError:
                # Of a server that stops.
                continue
            if answer.status == 200:
                claims = jwt.decode(answer.json["access_token"], options={"verify_signature": False})
                self.confirmed.append(claims["sid"])
            else:
                self.refused.append(answer.status)

    def more(self) -> None:
        """Return when some more sign-ins are confirmed."""
        enough = len(self.confirmed) + WARM_WRITES
        wait_until(lambda: len(self.confirmed) >= enough, seconds_max=120)


@contextmanager
def load_on(service: Service) -> Generator[Load]:
    """Let clients sign in for as long as the block runs."""
    load = Load(service)
    threads = [threading.Thread(target=load.run, daemon=True) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    try:
        yield load
    finally:
        load.is_ending = True
        for thread in threads:
            thread.join(60)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the newest release with an older schema."""
    folder = tmp_path_factory.mktemp("last") / "release"
    releases.extract_older(releases.RELEASES.read_text(), folder, len(known()))
    return folder


@pytest.fixture
def databases_of_moments(databases: Databases) -> Iterator[tuple[str, str]]:
    """Two databases without a schema, to restore a moment into each."""
    with databases.empty() as one, databases.empty() as other:
        yield one, other


@pytest.fixture
def upgrading(tmp_path: Path, empty_database_url: str) -> Iterator[Services]:
    """Servers of either version on an empty database."""
    settings = {"GATEHOUSE_BASE_URL": BASE_URL, "GATEHOUSE_AUTO_APPROVE": "on"}
    services = Services(tmp_path, given_database(empty_database_url) | settings)
    yield services
    services.close()


def missing(url: str, sessions: list[str]) -> set[str]:
    """Return the sessions that a database does not have."""
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT id::text FROM sessions WHERE id = ANY (%s::uuid[])", (sessions,))
        return set(sessions) - {session_id for (session_id,) in found}


def run(commands: Commands, *arguments: str, stdin: str = "", **settings: str) -> str:
    done = commands.run(*arguments, stdin=stdin, **settings)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_last_release_is_backed_up_and_upgraded_under_load(
    upgrading: Services, release: Path, empty_database_url: str, databases_of_moments: tuple[str, str]
) -> None:
    today = Commands(upgrading.folder, dict(upgrading.environment))
    upgrading.environment["PYTHONPATH"] = str(release)
    released = Commands(upgrading.folder, dict(upgrading.environment))
    run(released, "migrate")
    assert "Would apply " in run(today, "migrate", "--plan"), "it is not the release that ran"
    for email in (OWNER, *WITH_CODES):
        run(released, "owner", email, "--password-stdin", stdin=PASSWORD)
    old_server = upgrading.ready()
    old = issue(old_server)

    # A backup by this version of the release's database, while that is used.
    with load_on(old_server) as load:
        load.more()
        before_backup, of_release = list(load.confirmed), copy.deepcopy(old)
        run(today, "backup", "release.tar")
        plan = run(today, "migrate", "--plan")
        may_go_on = "The previous version works with the schema after every step." in plan
        if not may_go_on:
            # As the plan says.
            load.is_ending = True
            assert old_server.stop() == 0
        run(today, "migrate")
        if may_go_on:
            load.more()
            load.is_ending = True
            assert old_server.stop() == 0
    del upgrading.environment["PYTHONPATH"]
    server = upgrading.ready()
    assert missing(empty_database_url, load.confirmed) == set()
    require_good(server, old, WITH_CODES[0])

    # A backup of this version while it is used, with what the release did not have.
    issue_organization_key(server, old)
    with load_on(server) as load:
        load.more()
        confirmed, of_today = list(load.confirmed), copy.deepcopy(old)
        run(today, "backup", "today.tar")
        load.more()
    assert load.refused == []
    assert missing(empty_database_url, load.confirmed) == set()
    assert server.stop() == 0

    moments = (("release.tar", before_backup, of_release), ("today.tar", confirmed, of_today))
    for url, with_code, (file, sessions, credentials) in zip(
        databases_of_moments, WITH_CODES[1:], moments, strict=True
    ):
        run(today, "restore", file, DATABASE_URL=address(url))
        assert missing(url, sessions) == set()
        restored = upgrading.ready(DATABASE_URL=address(url))
        require_good(restored, credentials, with_code)
        assert restored.stop() == 0
