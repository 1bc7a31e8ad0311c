"""The last release is upgraded under load, and goes back: no deadlock, and no request waits for a second.

Two workers of the release serve clients that write, `gatehouse migrate` of this version runs beside them, this version
serves, and the release serves again. Small, this happens once; `GATEHOUSE_TEST_DRILL=full` does it three times with
eight clients:

    GATEHOUSE_TEST_DRILL=full ops/test tests/entrypoints/test_upgrade_drill.py -m timing
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from adapters.postgres.schema.migrations import known
from ops.benchmarks import releases
from tests.entrypoints.site import BASE_URL, Site
from tests.other_postgres import OtherPostgres, other_postgres
from tests.processes import Commands, Service, Services, given_database
from tests.shown_text import shows
from tests.waiting import wait_until

# It compares with the clock, and needs a machine that does nothing else.
pytestmark = pytest.mark.timing

IS_FULL: Final = os.environ.get("GATEHOUSE_TEST_DRILL") == "full"
ROUNDS: Final = 3 if IS_FULL else 1
CLIENTS: Final = 8 if IS_FULL else 3
WORKERS: Final = 2
PAUSE_SECONDS_MAX: Final = 1.0
WARM_ANSWERS: Final = 20 * CLIENTS
ANSWER_SECONDS_MAX: Final = 60.0
OWNER: Final = "root@example.com"
PASSWORD: Final = "correct horse battery"
DEADLOCK: Final = "deadlock"


@dataclass(frozen=True)
class Asked:
    """A request that was answered: when it began and ended, and with what status."""

    path: str
    began_at: float
    ended_at: float
    status: int

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.ended_at - self.began_at


@dataclass
class Writing:
    """Clients that sign in, register and change an organization with a webhook, one request after the other."""

    service: Service
    token: str
    answers: list[Asked] = field(default_factory=list[Asked])
    failures: list[str] = field(default_factory=list[str])
    is_ending: bool = False

    def run(self, client: int) -> None:
        """Write until the end."""
        number = 0
        while not self.is_ending:
            number += 1
            for method, path, body in self._requests(client, number):
                self._ask(method, path, body)

    def _requests(self, client: int, number: int) -> Sequence[tuple[str, str, Mapping[str, Any]]]:
        address = f"drill-{time.monotonic_ns()}-{client}@example.com"
        return (
            ("POST", "/api/auth/login", {"email": OWNER, "password": PASSWORD}),
            ("PATCH", f"/api/organizations/acme-{client}", {"name": f"Acme {number}"}),
            ("POST", "/api/auth/register", {"email": address, "password": PASSWORD}),
            ("POST", f"/api/organizations/acme-{client}/invitations", {"email": address, "role": "member"}),
        )

    def _ask(self, method: str, path: str, body: Mapping[str, Any]) -> None:
        began_at = time.monotonic()
        try:
            answer = self.service.request(
                method, path, headers={"Authorization": f"Bearer {self.token}"}, body=json.dumps(body).encode()
            )
        except OSError as failure:
            self.failures.append(f"{path}: {failure!r}")
            return
        self.answers.append(Asked(path, began_at, time.monotonic(), answer.status))

    def more(self) -> None:
        """Return when more requests were answered."""
        enough = len(self.answers) + WARM_ANSWERS
        wait_until(lambda: len(self.answers) >= enough, seconds_max=120)

    def expect_answers(self) -> None:
        """Expect that each request was answered, and none by an error of the server."""
        assert self.failures == []
        assert {one.status for one in self.answers if one.status >= 500} == set()


@contextmanager
def writing(service: Service, token: str) -> Generator[Writing]:
    """Let clients write for as long as the block runs."""
    load = Writing(service, token)
    threads = [threading.Thread(target=load.run, args=(client,), daemon=True) for client in range(CLIENTS)]
    for thread in threads:
        thread.start()
    try:
        yield load
    finally:
        load.is_ending = True
        for thread in threads:
            thread.join(ANSWER_SECONDS_MAX)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the newest release with an older schema."""
    folder = tmp_path_factory.mktemp("last") / "release"
    releases.extract_older(releases.RELEASES.read_text(), folder, len(known()))
    return folder


@pytest.fixture
def postgres() -> Iterator[OtherPostgres]:
    """Debian's PostgreSQL as it comes, also in when it looks for deadlocks."""
    with other_postgres() as postgres:
        postgres.start()
        yield postgres


def started(services: Services, **environment: str) -> Service:
    """Start a server, and return when all its workers serve."""
    services.environment = {**services.environment, **environment}
    service = services.ready("--workers", str(WORKERS))
    service.wait_for("worker.ready", times=WORKERS - 1)
    return service


def signed_in(service: Service) -> str:
    """Sign in the owner, and return the token."""
    answer = Site(service).ask("POST", "/api/auth/login", {"email": OWNER, "password": PASSWORD})
    return answer["access_token"]


def make_organizations(service: Service) -> None:
    """Make an organization with a webhook for each client."""
    token = signed_in(service)
    for client in range(CLIENTS):
        site, slug = Site(service), f"acme-{client}"
        site.ask("POST", "/api/organizations", {"name": "Acme", "slug": slug}, token=token)
        hook = {"name": "hook", "url": "https://hook.example.com/", "events": ["*"]}
        site.call("POST", f"/api/organizations/{slug}/webhooks", hook, token=token)


@pytest.mark.parametrize("number", range(1, ROUNDS + 1))
def test_an_upgrade_under_load_stops_no_request_for_a_second_and_the_way_back_works(
    postgres: OtherPostgres, release: Path, tmp_path: Path, number: int
) -> None:
    settings = given_database(postgres.create_database(f"drill_{number}"))
    services = Services(tmp_path, settings | {"GATEHOUSE_BASE_URL": BASE_URL, "GATEHOUSE_AUTO_APPROVE": "on"})
    today = Commands(tmp_path, dict(services.environment))
    of_release = {"PYTHONPATH": str(release)}
    released = Commands(tmp_path, services.environment | of_release)
    try:
        for done in (released.run("migrate"), released.run("owner", OWNER, "--password-stdin", stdin=PASSWORD)):
            assert done.returncode == 0, done.stderr
        old = started(services, **of_release)
        make_organizations(old)

        with writing(old, signed_in(old)) as load:
            load.more()
            began_at = time.monotonic()
            migrated = today.run("migrate")
            ended_at = time.monotonic()
            load.more()
        load.expect_answers()
        beside = [one for one in load.answers if one.ended_at >= began_at and one.began_at <= ended_at]
        slowest = max(beside, key=lambda one: one.seconds)
        tries = [line for line in migrated.stdout.splitlines() + migrated.stderr.splitlines() if ", try " in line]
        sys.stdout.write(f"{ended_at - began_at:.1f} s beside {len(beside)} requests; {slowest}; {tries}\n")

        assert migrated.returncode == 0, migrated.stderr
        assert not shows(migrated.stdout + migrated.stderr, DEADLOCK)
        assert not shows((postgres.folder / "log").read_text(), DEADLOCK)
        assert slowest.seconds < PAUSE_SECONDS_MAX, (slowest, migrated.stdout)
        assert old.stop() == 0

        # This version, and the way back.
        del services.environment["PYTHONPATH"]
        for environment in ({}, of_release):
            server = started(services, **environment)
            with writing(server, signed_in(server)) as load:
                load.more()
            load.expect_answers()
            assert server.stop() == 0
    finally:
        services.close()
