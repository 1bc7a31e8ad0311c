"""`gatehouse demo`: one command gives a filled installation, and an application at which a person signs in by pages."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from entrypoints.demo.story import ACME, BOLT, CORD, CUSTOMERS, DAYS, PASSWORD, PLATFORM_OWNER
from tests.processes import clean_environment
from tests.waiting import wait_until
from tests.world.visitor import forms_in

pytestmark = pytest.mark.long

READY = "The demo is ready."
FILL_SECONDS_MAX = 180.0
STOP_SECONDS_MAX = 60.0
REQUEST_SECONDS_MAX = 20.0
DELIVERY_SECONDS_MAX = 30.0
MAIN = "import sys; from entrypoints.operator.cli import main; sys.exit(main())"


def free_port() -> int:
    """Return a port that nothing listens on."""
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        return probe.getsockname()[1]


@dataclass
class RunningDemo:
    """A folder, two ports, and the process that runs there."""

    folder: Path
    port: int
    shop_port: int
    process: subprocess.Popen[str] | None = None

    @property
    def gatehouse(self) -> str:
        """The address of Gatehouse."""
        return f"http://localhost:{self.port}"

    @property
    def shop(self) -> str:
        """The address of the application."""
        return f"http://localhost:{self.shop_port}"

    def command(self, *arguments: str) -> list[str]:
        """Return a command of Gatehouse."""
        return [sys.executable, "-c", MAIN, *arguments]

    def demo(self) -> list[str]:
        """Return the command of the demo."""
        options = ["--folder", str(self.folder), "--port", str(self.port), "--shop-port", str(self.shop_port)]
        return self.command("demo", *options)

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        output = self.folder.with_suffix(".log")
        with output.open("w") as file:
            self.process = subprocess.Popen(
                self.demo(), env=clean_environment(), stdout=file, stderr=subprocess.STDOUT, text=True
            )
        process = self.process
        wait_until(lambda: READY in output.read_text() or process.poll() is not None, seconds_max=FILL_SECONDS_MAX)
        assert process.poll() is None, output.read_text()

    def stop(self) -> int:
        """Press Ctrl-C, and return the exit status."""
        assert self.process is not None, "it was not started"
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(STOP_SECONDS_MAX)


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[RunningDemo]:
    """A demo that is not started yet."""
    running = RunningDemo(tmp_path / "demo", free_port(), free_port())
    yield running
    if running.process is not None and running.process.poll() is None:
        running.stop()


def submit(client: httpx.Client, page: httpx.Response, **fields: str) -> httpx.Response:
    """Submit the form of a page that has these fields, and follow to the next page."""
    form = next(one for one in forms_in(page.text) if fields.keys() <= one.fields.keys())
    address = page.url.join(form.action or page.url.path)
    return client.post(address, data={**form.fields, **fields})


def api(client: httpx.Client, url: str, token: str) -> Any:
    """Return an answer of the interface."""
    answer = client.get(url, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200, answer.text
    return answer.json()


def made_at(identifier: str) -> datetime:
    """Return the time of a UUIDv7."""
    return datetime.fromtimestamp((UUID(identifier).int >> 80) / 1000, UTC)


def test_the_demo_is_filled_once_and_a_person_signs_in_at_its_application(demo: RunningDemo) -> None:
    demo.start()
    with httpx.Client(follow_redirects=True, timeout=REQUEST_SECONDS_MAX, trust_env=False) as browser:
        page = browser.get(f"{demo.shop}/sign-in")
        page = submit(browser, page, email=CUSTOMERS[0])
        page = submit(browser, page, password=PASSWORD)
        # A browser follows at once; the link is for one that does not.
        [onward] = re.findall(rf'href="({demo.shop}/callback[^"]*)"', page.text)
        page = browser.get(unescape(onward))

        assert str(page.url) == f"{demo.shop}/", page.text
        assert f"Signed in as <strong>{CUSTOMERS[0]}" in page.text

        assert_deliveries_arrive(demo, browser)
        assert_a_wrong_signature_is_refused(demo, browser)
        assert_the_month_is_consistent(demo, browser)
    verified = subprocess.run(
        demo.command("audit", "verify"),
        env=clean_environment() | {"GATEHOUSE_DATA_DIR": str(demo.folder), "GATEHOUSE_DEV": "on"},
        capture_output=True,
        text=True,
        check=False,
        timeout=FILL_SECONDS_MAX,
    )
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "of 3 logs: nothing was changed" in verified.stdout

    assert demo.stop() == 0
    demo.start()
    assert "Filling" not in demo.folder.with_suffix(".log").read_text()
    assert demo.stop() == 0


def assert_deliveries_arrive(demo: RunningDemo, browser: httpx.Client) -> None:
    """The sign-in of before is delivered to the application, with a right signature."""

    def has_arrived() -> bool:
        return "user.login.success" in browser.get(f"{demo.shop}/webhooks").text

    wait_until(has_arrived, seconds_max=DELIVERY_SECONDS_MAX)


def assert_a_wrong_signature_is_refused(demo: RunningDemo, browser: httpx.Client) -> None:
    """What Gatehouse has not signed is not shown."""
    now = str(int(datetime.now(UTC).timestamp()))
    forged = {"webhook-id": "1", "webhook-timestamp": now, "webhook-signature": "v1,AAAA"}

    assert browser.post(f"{demo.shop}/webhooks", content=b"{}", headers=forged).status_code == 400


def assert_the_month_is_consistent(demo: RunningDemo, browser: httpx.Client) -> None:
    """The month has sign-ins, failures, deliveries and subscriptions, whose times, ids and counts agree."""

    def token_of(email: str) -> str:
        answer = browser.post(f"{demo.gatehouse}/api/auth/login", json={"email": email, "password": PASSWORD})
        return answer.json()["access_token"]

    for organization in (ACME, BOLT, CORD):
        token = token_of(organization.addresses[0])
        base = f"{demo.gatehouse}/api/organizations/{organization.slug}"
        members = api(browser, f"{base}/members", token)
        assert members["pagination"]["total"] == len(organization.people)

        log = api(browser, f"{base}/audit-log?limit=100", token)
        for entry in log["logs"]:
            created_at = datetime.fromisoformat(entry["created_at"])
            assert abs(made_at(entry["id"]) - created_at) < timedelta(seconds=2), entry
        oldest = api(browser, f"{base}/audit-log?limit=100&page={log['pagination']['total_pages']}", token)["logs"][-1]
        age = datetime.now(UTC) - datetime.fromisoformat(oldest["created_at"])
        assert timedelta(days=DAYS - 4) < age < timedelta(days=DAYS + 2)

        [webhook] = api(browser, f"{base}/webhooks", token)["webhooks"]
        deliveries = api(browser, f"{base}/webhooks/{webhook['id']}/deliveries?limit=100", token)
        assert deliveries["pagination"]["total"] > 20
        failed = api(browser, f"{base}/webhooks/{webhook['id']}/deliveries?delivered=false", token)
        assert bool(failed["pagination"]["total"]) == (organization is not ACME)
        assert webhook["is_active"] == (organization is not CORD)

    token = token_of(PLATFORM_OWNER)
    organizations = api(browser, f"{demo.gatehouse}/api/platform/organizations", token)
    assert {one["organization"]["status"] for one in organizations["organizations"]} == {"active"}
