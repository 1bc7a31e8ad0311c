"""`gatehouse test-instance`: a fresh state for each test, a clock that tests move, and nothing of it in production."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from entrypoints import capabilities
from entrypoints.testing.control import DAYS_MAX, PATH
from tests.processes import ANSWER_SECONDS_MAX, END_SECONDS_MAX, GATEHOUSE, CommandsHere, clean_environment
from tests.waiting import wait_until

ACCOUNT = {"email": "ann@example.com", "password": "gatehouse for tests"}


@dataclass(frozen=True)
class Started:
    """An instance that runs, as its first line of output describes it."""

    process: subprocess.Popen[str]
    client: httpx.Client
    token: str
    owner: dict[str, str]

    def ask(self, what: str, body: Any = None, token: str | None = None) -> httpx.Response:
        """Ask what the tests of a product alone ask."""
        headers = {"Authorization": f"Bearer {self.token if token is None else token}"}
        return self.client.post(f"{PATH}/{what}", json=body, headers=headers)

    def mails(self) -> list[Any]:
        """Return what was sent so far."""
        return self.client.get("/dev/mailbox", headers={"Accept": "application/json"}).json()["messages"]

    def sign_in(self, account: dict[str, str]) -> httpx.Response:
        """Sign in by the interface."""
        return self.client.post("/api/auth/login", json=account)


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    return tmp_path / "caches" / "prepared"


@pytest.fixture
def started(tmp_path: Path, prepared: Path) -> Iterator[Started]:
    """An instance; it has ended with its input when the test is over."""
    with subprocess.Popen(
        [GATEHOUSE, "test-instance", "--prepared", str(prepared)],
        env=clean_environment() | {"GATEHOUSE_DEV": "on", "GATEHOUSE_LOG_LEVEL": "error"},
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        said = json.loads(process.stdout.readline())
        with httpx.Client(base_url=said["base_url"], timeout=ANSWER_SECONDS_MAX) as client:
            yield Started(process, client, said["token"], said["owner"])
        process.stdin.close()
        assert process.wait(END_SECONDS_MAX) == 0


def test_each_test_gets_the_state_in_which_the_instance_has_started(started: Started, prepared: Path) -> None:
    client, path = started.client, "/.well-known/jwks.json"
    keys = client.get(path).json()
    assert client.post("/api/auth/register", json=ACCOUNT).status_code == 200
    wait_until(lambda: bool(started.mails()))
    token = started.sign_in(started.owner).json()["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    named = {"slug": "bolt", "name": "Bolt"}
    assert client.post("/api/organizations", json=named, headers=headers).status_code == 200

    assert started.ask("reset").status_code == 204

    # What tests made is gone, and what the start had made is as it was.
    assert started.mails() == []
    assert client.get("/api/user", headers=headers).status_code == 401
    again = started.sign_in(started.owner)
    assert again.status_code == 200
    headers = {"Authorization": f"Bearer {again.json()['access_token']}"}
    assert client.post("/api/organizations", json=named, headers=headers).status_code == 200
    assert client.post("/api/auth/register", json=ACCOUNT).status_code == 200
    assert client.get(path).json() == keys
    assert (prepared / "postgres").is_dir()

    # The clock goes forward, back, and where it was with the next state.
    before = datetime.fromisoformat(started.ask("clock", {"seconds": 0}).json()["now"])
    moved = datetime.fromisoformat(started.ask("clock", {"seconds": 3600}).json()["now"])
    assert timedelta(hours=1) <= moved - before < timedelta(hours=2)
    assert client.get("/api/user", headers=headers).status_code == 401
    back = datetime.fromisoformat(started.ask("clock", {"seconds": -3600}).json()["now"])
    assert before <= back < moved
    assert client.get("/api/user", headers=headers).status_code == 200
    for direction in (1, -1):
        assert started.ask("clock", {"seconds": direction * DAYS_MAX * 86_400}).status_code == 200
        assert started.ask("clock", {"seconds": direction}).status_code == 400
        assert started.ask("clock", {"seconds": -direction * DAYS_MAX * 86_400}).status_code == 200
    assert started.ask("clock", {"seconds": 3600}).status_code == 200
    assert started.ask("reset").status_code == 204
    assert datetime.fromisoformat(started.ask("clock", {"seconds": 0}).json()["now"]) < moved
    for seconds in (-DAYS_MAX * 86_400 - 1, DAYS_MAX * 86_400 + 1, 1e300):
        assert started.ask("clock", {"seconds": seconds}).status_code == 400

    # Nothing else moves it, such as a page that the developer has open.
    for wrong in ("wrong", started.token + "x"):
        assert started.ask("reset", token=wrong).status_code == 401
        assert started.ask("clock", {"seconds": 1}, token=wrong).status_code == 401
        assert started.ask("names", {"name": "a", "value": "b"}, token=wrong).status_code == 401
    assert started.sign_in(started.owner).status_code == 200


def test_it_refuses_to_start_in_production_and_with_a_database_of_others(
    commands_here: CommandsHere, tmp_path: Path
) -> None:
    for environment, setting in (
        ({"DEV": "off"}, "GATEHOUSE_DEV=on"),
        ({"DEV": "on"}, "Unset GATEHOUSE_DATABASE_URL"),
    ):
        answer = commands_here.run("test-instance", "--prepared", str(tmp_path / "none"), **environment)

        assert answer.returncode == 1
        assert setting in answer.stderr
    assert not (tmp_path / "none").exists()


def test_a_folder_of_another_server_is_left_alone(commands_here: CommandsHere, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "postgres").mkdir(parents=True)

    # What stands for the environment of an installation that has no database of its own yet.
    commands_here.environment.pop("GATEHOUSE_DATABASE_URL")
    answer = commands_here.run("test-instance", "--prepared", str(folder), DEV="on")

    assert answer.returncode == 1
    assert "left alone" in answer.stderr
    assert [path.name for path in folder.iterdir()] == ["postgres"]


def test_no_other_server_has_its_routes() -> None:
    assert not [route for route in capabilities.routes(is_development=True) if route.path.startswith(PATH)]
