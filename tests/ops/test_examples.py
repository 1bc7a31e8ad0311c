"""The reference clients of `ops/examples` in a browser: a page of another origin, and a server of its own."""

from __future__ import annotations

import functools
import http.server
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route
from pyotp.totp import TOTP

from ops.examples.server import Gatehouse
from tests.browser import Watched
from tests.processes import Services, clean_environment, services
from tests.shown_text import shows
from tests.world.builder import EMAIL, PASSWORD, Builder
from tests.world.fixtures import builder

__all__ = ["builder", "services"]

pytestmark = [pytest.mark.browser, pytest.mark.long]

EXAMPLES = Path(__file__).parents[2] / "ops" / "examples"
END_SECONDS_MAX = 60.0
HOSTILE = "<img src=x onerror=alert(1)>"


@dataclass(frozen=True)
class Running:
    """Gatehouse and one of the examples."""

    gatehouse: Gatehouse
    url: str

    def sign_in(self) -> dict[str, str]:
        """Sign the user in without a browser, and return the header with the access token."""
        answer = self.gatehouse.call("POST", "/api/auth/login", {}, {"email": EMAIL, "password": PASSWORD})
        return {"Authorization": f"Bearer {answer['access_token']}"}

    def add_second_factor(self) -> list[str]:
        """Turn the second factor on, and return the backup codes."""
        about = self.sign_in()
        secret = self.gatehouse.call("POST", "/api/user/mfa/setup", about)["secret"]
        code = TOTP(secret).now()
        return self.gatehouse.call("POST", "/api/user/mfa/verify", about, {"code": code})["backup_codes"]

    def end_all_sessions(self) -> None:
        """End every session of the user, as from another device."""
        about = self.sign_in()
        self.gatehouse.call("DELETE", "/api/user/sessions", about)


@pytest.fixture
def files(tmp_path: Path) -> Iterator[http.server.ThreadingHTTPServer]:
    """A server of the page's files, whose port is free."""
    folder = tmp_path / "page"
    shutil.copytree(EXAMPLES / "browser", folder)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def page_example(
    services: Services, files: http.server.ThreadingHTTPServer, builder: Builder, tmp_path: Path
) -> Running:
    """The page, and a Gatehouse that its origin may call."""
    builder.member(builder.organization("acme", name=HOSTILE), builder.user(), "owner")
    url = f"http://localhost:{files.server_port}"
    gatehouse = f"http://localhost:{services.ready(CORS_ORIGINS=url).port}"
    index = tmp_path / "page" / "index.html"
    index.write_text(index.read_text().replace("http://localhost:8000", gatehouse))
    return Running(Gatehouse(gatehouse), url)


@pytest.fixture
def server_example(services: Services, builder: Builder) -> Generator[Running]:
    """The server, and the Gatehouse that it calls."""
    builder.user()
    gatehouse = f"http://localhost:{services.ready(TRUSTED_PROXIES='127.0.0.1/32').port}"
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLES / "server.py")],
        env=clean_environment() | {"GATEHOUSE_URL": gatehouse, "PORT": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    match = re.search(r"http://\S+", process.stdout.readline())
    assert match is not None
    yield Running(Gatehouse(gatehouse), match[0])
    process.terminate()
    process.wait(END_SECONDS_MAX)
    process.stdout.close()


def fill_in(page: Page, *, password: str = PASSWORD) -> None:
    """Fill in the sign-in form and send it."""
    page.get_by_label("Email address").fill(EMAIL)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def give_code(page: Page, code: str) -> None:
    """Fill in a code and send it."""
    page.get_by_label("Code of your app").fill(code)
    page.get_by_role("button", name="Continue").click()


def test_a_page_of_another_origin_signs_a_person_in_and_out(
    page_example: Running, watch: Callable[..., Watched]
) -> None:
    watched = watch()
    page = watched.page
    page.goto(page_example.url)

    fill_in(page, password="not the password")
    page.get_by_text("Email address or password is wrong").wait_for()
    fill_in(page)
    page.get_by_text(f"Signed in as {EMAIL}").wait_for()
    listed = page.locator("#organizations li").all_inner_texts()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in").wait_for()

    assert listed == [f"{HOSTILE} (owner)"]
    assert not shows(page.evaluate("JSON.stringify(localStorage)"), "Bearer")
    assert [url for url in watched.requests if not url.startswith((page_example.url, page_example.gatehouse.url))] == []


def test_the_page_replaces_an_expired_access_token_once_for_all_its_requests(
    page_example: Running, watch: Callable[..., Watched]
) -> None:
    watched = watch()
    page = watched.page
    page.goto(page_example.url)
    fill_in(page)
    page.get_by_text(f"Signed in as {EMAIL}").wait_for()
    expired: dict[str, bool] = {"/api/user": False, "/api/organizations": False}

    def expire_once(route: Route) -> None:
        path = route.request.url.removeprefix(page_example.gatehouse.url)
        if route.request.method != "GET" or expired[path]:
            route.fallback()
            return
        expired[path] = True
        answer = '{"error": "The access token has expired.", "error_code": "TOKEN_EXPIRED"}'
        headers = {"Access-Control-Allow-Origin": page_example.url, "Content-Type": "application/json"}
        route.fulfill(status=401, body=answer, headers=headers)

    for path in expired:
        page.route(page_example.gatehouse.url + path, expire_once)
    with page.expect_response(lambda answer: answer.url.endswith("/api/organizations") and answer.status == 200):
        page.get_by_role("button", name="Reload").click()

    refreshes = [url for url in watched.requests if url.endswith("/api/auth/refresh")]
    assert expired == {"/api/user": True, "/api/organizations": True}
    # A preflight is not among the requests of a page.
    assert len(refreshes) == 1


def test_the_page_asks_for_the_second_factor_until_the_browser_is_trusted(
    page_example: Running, watch: Callable[..., Watched]
) -> None:
    codes = page_example.add_second_factor()
    page = watch().page
    page.goto(page_example.url)

    fill_in(page)
    give_code(page, "000000")
    page.get_by_role("alert").filter(has_text="code").wait_for()
    page.get_by_label("Trust this browser").check()
    give_code(page, codes[0])
    page.get_by_text(f"Signed in as {EMAIL}").wait_for()
    page.get_by_role("button", name="Sign out").click()
    fill_in(page)

    page.get_by_text(f"Signed in as {EMAIL}").wait_for()


def test_the_page_notices_that_its_session_was_ended_elsewhere(
    page_example: Running, watch: Callable[..., Watched]
) -> None:
    page = watch().page
    page.goto(page_example.url)
    fill_in(page)
    page.get_by_text(f"Signed in as {EMAIL}").wait_for()

    page_example.end_all_sessions()
    page.get_by_role("button", name="Reload").click()

    page.get_by_role("button", name="Sign in").wait_for()
    assert page.get_by_role("alert").inner_text()


def test_a_server_signs_a_person_in_and_out_and_keeps_the_tokens(
    server_example: Running, watch: Callable[..., Watched], builder: Builder
) -> None:
    page = watch(java_script_enabled=False, user_agent="Mozilla/5.0 (X11; Linux x86_64) Harbour/1.0").page
    page.goto(server_example.url)

    fill_in(page, password="not the password")
    page.get_by_text("Email address or password is wrong").wait_for()
    fill_in(page)
    page.get_by_text(f"Signed in as {EMAIL}").wait_for()
    cookies = page.context.cookies()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in").wait_for()

    agents = builder.connection.execute("SELECT DISTINCT user_agent FROM devices").fetchall()
    assert {(cookie.get("name"), cookie.get("httpOnly")) for cookie in cookies} == {
        ("harbour_session", True),
        ("harbour_device", True),
    }
    assert agents == [("Mozilla/5.0 (X11; Linux x86_64) Harbour/1.0",)]


def test_the_server_asks_for_the_second_factor(server_example: Running, watch: Callable[..., Watched]) -> None:
    codes = server_example.add_second_factor()
    page = watch(java_script_enabled=False).page
    page.goto(server_example.url)

    fill_in(page)
    give_code(page, "000000")
    page.get_by_role("alert").filter(has_text="code").wait_for()
    give_code(page, codes[0])

    page.get_by_text(f"Signed in as {EMAIL}").wait_for()


def test_the_server_forgets_a_session_that_was_ended_elsewhere(
    server_example: Running, watch: Callable[..., Watched]
) -> None:
    page = watch(java_script_enabled=False).page
    page.goto(server_example.url)
    fill_in(page)
    page.get_by_text(f"Signed in as {EMAIL}").wait_for()

    server_example.end_all_sessions()
    page.reload()

    page.get_by_role("button", name="Sign in").wait_for()


def test_the_server_refuses_a_form_of_another_site(server_example: Running, watch: Callable[..., Watched]) -> None:
    page = watch().page
    page.goto(f"{server_example.gatehouse.url}/docs")

    answer = page.request.post(f"{server_example.url}/sign-out", headers={"Origin": server_example.gatehouse.url})

    assert answer.status == 403
