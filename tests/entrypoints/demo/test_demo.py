"""`gatehouse demo`: one command gives a filled installation, and an application at which a person signs in by pages."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from entrypoints.demo.story import (
    ACME,
    BOLT,
    CORD,
    DAYS,
    DIRECTORY,
    DUNE,
    IN_TWO,
    IN_WAREHOUSE,
    INDIVIDUALS,
    ORGANIZATIONS,
    PASSWORD,
    PLATFORM_OWNER,
    DemoOrganization,
    name_of,
)
from tests.processes import clean_environment
from tests.waiting import wait_until
from tests.world.visitor import forms_in

pytestmark = pytest.mark.long

READY = "The demo is ready."
FILL_SECONDS_MAX = 600.0
STOP_SECONDS_MAX = 120.0
REQUEST_SECONDS_MAX = 60.0
DELIVERY_SECONDS_MAX = 120.0
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
    tokens: dict[str, str] = field(default_factory=dict[str, str])

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


def new_browser() -> httpx.Client:
    """Return a browser that has been nowhere yet."""
    return httpx.Client(follow_redirects=True, timeout=REQUEST_SECONDS_MAX, trust_env=False)


def come(demo: RunningDemo, browser: httpx.Client, email: str) -> httpx.Response:
    """Sign in to the application by password, and return the page that follows."""
    page = submit(browser, browser.get(f"{demo.shop}/sign-in"), email=email)
    return lead_on(demo, browser, submit(browser, page, password=PASSWORD))


def lead_on(demo: RunningDemo, browser: httpx.Client, page: httpx.Response) -> httpx.Response:
    """Follow a page that leads on: a browser follows at once, and the link is for one that does not."""
    onward = re.findall(rf'href="((?:{demo.shop}/callback|{demo.gatehouse}/auth/authorize)[^"]*)"', page.text)
    return browser.get(unescape(onward[0])) if onward else page


def choose(demo: RunningDemo, browser: httpx.Client, page: httpx.Response, name: str) -> httpx.Response:
    """Choose the customer for which a person comes, by the name on its button."""
    [chosen] = [one for one in page.text.split("<form ") if f"Continue for {name}" in one]
    [form] = forms_in(f"<form {chosen}")
    return lead_on(demo, browser, browser.post(page.url.join(form.action), data=form.fields))


def link_of(page: httpx.Response, text: str) -> httpx.URL:
    """Return the address of a link of a page, by its text."""
    [address] = re.findall(rf'href="([^"]+)">{re.escape(text)}<', page.text)
    return page.url.join(unescape(address))


def context_of(page: httpx.Response) -> str:
    """Return for which customer a person is at the application, and with which roles."""
    [text] = re.findall(r"You are here for .*?</p>", page.text)
    return re.sub(r"<[^>]+>", "", text)


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
    with new_browser() as browser:
        page = come(demo, browser, INDIVIDUALS[0])

        assert f"Welcome, {name_of(INDIVIDUALS[0])}" in page.text
        assert f"Signed in as <strong>{INDIVIDUALS[0]}" in page.text
        assert "You are here for yourself." in page.text

        assert_deliveries_arrive(demo, browser)
        assert_a_wrong_signature_is_refused(demo, browser)
        assert_the_month_is_consistent(demo, browser)
        assert_the_vendor_sees_its_customers(demo, browser)
    assert_a_person_of_two_customers_chooses_and_switches(demo)
    assert_the_identity_provider_of_a_customer_signs_in(demo)
    verified = subprocess.run(
        demo.command("audit", "verify"),
        env=clean_environment() | {"GATEHOUSE_DATA_DIR": str(demo.folder), "GATEHOUSE_DEV": "on"},
        capture_output=True,
        text=True,
        check=False,
        timeout=FILL_SECONDS_MAX,
    )
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert f"of {len(ORGANIZATIONS)} logs: nothing was changed" in verified.stdout

    assert demo.stop() == 0
    demo.start()
    assert "Filling" not in demo.folder.with_suffix(".log").read_text()
    with new_browser() as browser:
        assert "No event since the start" in browser.get(f"{demo.shop}/webhooks").text
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


def assert_a_person_of_two_customers_chooses_and_switches(demo: RunningDemo) -> None:
    """People choose their customer, see their roles there, and change to another one without a password."""
    at_cord = "You are here for Cord Media, where you are admin. Your roles in the shop: editor, viewer."
    at_bolt = "You are here for Bolt Logistics, where you are member. Your roles in the shop: viewer."
    with new_browser() as browser:
        chooser = come(demo, browser, IN_TWO)
        first = choose(demo, browser, chooser, CORD.name)
        asked = browser.get(link_of(first, "Choose who you are here for"))
        second = choose(demo, browser, asked, BOLT.name)
        # The person has named the customer, so no page asks.
        third = lead_on(demo, browser, browser.get(link_of(second, f"Switch to {CORD.name}")))

    assert "Who do you use it for?" in chooser.text
    assert 'class="brand-logo"' in chooser.text
    assert [context_of(page) for page in (first, second, third)] == [at_cord, at_bolt, at_cord]


def assert_the_identity_provider_of_a_customer_signs_in(demo: RunningDemo) -> None:
    """A person added by the directory signs in without a password, for that customer alone."""
    [email] = IN_WAREHOUSE
    for entrance, names_customer in {"Sign in with Gatehouse": False, f"Sign in for {BOLT.name}": True}.items():
        with new_browser() as browser:
            people = browser.get(link_of(browser.get(demo.shop), entrance))
            # The id of the customer leads to its only connection at once.
            if not names_customer:
                methods = submit(browser, people, email=email)
                people = browser.get(link_of(methods, f"Continue with {BOLT.name}"))
            page = lead_on(demo, browser, browser.get(link_of(people, email)))
            if forms_in(page.text):
                # The first time, a page asks.
                page = choose(demo, browser, page, BOLT.name)

        assert context_of(page) == (
            "You are here for Bolt Logistics, where you are member. Your roles in the shop: editor, viewer."
        ), entrance


def assert_the_vendor_sees_its_customers(demo: RunningDemo, browser: httpx.Client) -> None:
    """Two organizations are customers, whose people have signed in; a third has an offer that it may accept."""

    def products_of(organization: DemoOrganization) -> list[Any]:
        url = f"{demo.gatehouse}/api/organizations/{organization.slug}/products"
        return api(browser, url, token_of(demo, browser, organization.addresses[0]))["products"]

    url = f"{demo.gatehouse}/api/organizations/{ACME.slug}/services/shop/customers"
    customers = api(browser, url, token_of(demo, browser, ACME.addresses[0]))["customers"]
    [offered] = products_of(DUNE)

    assert {(one["organization"]["slug"], one["state"], one["last_sign_in_at"] is not None) for one in customers} == {
        (BOLT.slug, "active", True),
        (CORD.slug, "active", True),
        (DUNE.slug, "offered", False),
    }
    assert (offered["state"], offered["vendor"]["slug"]) == ("offered", ACME.slug)
    assert [one["state"] for one in products_of(BOLT)] == ["active"]


def is_empty(browser: httpx.Client, url: str, token: str) -> bool:
    """Return whether a list has no row."""
    return api(browser, url, token)["pagination"]["total"] == 0


def token_of(demo: RunningDemo, browser: httpx.Client, email: str) -> str:
    """Return an access token; each person signs in by JSON once."""
    if email not in demo.tokens:
        answer = browser.post(f"{demo.gatehouse}/api/auth/login", json={"email": email, "password": PASSWORD})
        demo.tokens[email] = answer.json()["access_token"]
    return demo.tokens[email]


def assert_the_month_is_consistent(demo: RunningDemo, browser: httpx.Client) -> None:
    """The month has sign-ins, failures, deliveries and subscriptions, whose times, ids and counts agree."""

    for organization in (ACME, BOLT, CORD):
        token = token_of(demo, browser, organization.addresses[0])
        base = f"{demo.gatehouse}/api/organizations/{organization.slug}"
        members = api(browser, f"{base}/members", token)
        others = {*DIRECTORY, IN_TWO} if organization is BOLT else set[str]()
        assert members["pagination"]["total"] == len(organization.people) + len(others)

        log = api(browser, f"{base}/audit-log?limit=100", token)
        for entry in log["logs"]:
            created_at = datetime.fromisoformat(entry["created_at"])
            assert abs(made_at(entry["id"]) - created_at) < timedelta(seconds=2), entry
        oldest = api(browser, f"{base}/audit-log?limit=100&page={log['pagination']['total_pages']}", token)["logs"][-1]
        age = datetime.now(UTC) - datetime.fromisoformat(oldest["created_at"])
        assert timedelta(days=DAYS - 4) < age < timedelta(days=DAYS + 2)

        [webhook] = api(browser, f"{base}/webhooks", token)["webhooks"]
        deliveries = api(browser, f"{base}/webhooks/{webhook['id']}/deliveries?limit=100", token)
        # The smallest organization has 20 to 31, by the weekday on which the month begins.
        assert deliveries["pagination"]["total"] >= 20
        # What is on its way is not delivered yet, as the sign-in of a moment ago.
        undelivered = f"{base}/webhooks/{webhook['id']}/deliveries?delivered=false"
        if organization is ACME:
            wait_until(partial(is_empty, browser, undelivered, token))
        else:
            assert not is_empty(browser, undelivered, token)
        assert webhook["is_active"] == (organization is not CORD)

    token = token_of(demo, browser, PLATFORM_OWNER)
    organizations = api(browser, f"{demo.gatehouse}/api/platform/organizations", token)
    assert {one["organization"]["status"] for one in organizations["organizations"]} == {"active"}
