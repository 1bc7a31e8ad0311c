"""The examples of the Python package: people sign in to each in a browser, and are signed out everywhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from adapters.postgres.driver.connection import Connection
from gatehouse_client import SignIn
from tests.account_site import sign_in
from tests.browser import Site, Watched
from tests.documents import ROOT
from tests.pages.services.programs import SECRET, free_port, insert_shop, running
from tests.world.builder import EMAIL, Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]

PACKAGE = ROOT / "ops" / "clients" / "python"
COOKIE_SECRET = "a secret of thirty-two characters or more"
COMMANDS = {
    "fastapi_app": ("-m", "hypercorn", "fastapi_app:app", "--bind", "localhost:{port}"),
    "flask_app": ("-m", "flask", "--app", "flask_app", "run", "--port", "{port}"),
    "django_app": ("django_app.py", "runserver", "--noreload", "localhost:{port}"),
}


@contextmanager
def running_example(name: str, site: Site, client_id: str, port: int) -> Generator[None]:
    """An example of the package that runs until the block ends."""
    environment = {
        "ISSUER": site.url,
        "CLIENT_ID": client_id,
        "CLIENT_SECRET": SECRET,
        "COOKIE_SECRET": COOKIE_SECRET,
        "HOME_URL": f"http://localhost:{port}",
        "PYTHONPATH": str(PACKAGE / "src"),
    }
    command = [sys.executable, *(part.format(port=port) for part in COMMANDS[name])]
    with running(command, PACKAGE / "examples", port, environment=environment):
        yield


@pytest.mark.parametrize("name", COMMANDS)
def test_an_example_signs_its_user_in_and_out(
    world_of_now: Builder, connection: Connection, site: Site, watch: Callable[..., Watched], name: str
) -> None:
    port, page = free_port(), watch(java_script_enabled=False).page
    home = f"http://localhost:{port}"
    client_id = insert_shop(world_of_now, connection, home)

    with running_example(name, site, client_id, port):
        page.goto(f"{home}/me?from=mail")
        sign_in(page)
        page.get_by_text(f"Hello {EMAIL}").wait_for()
        assert page.url == f"{home}/me?from=mail"
        admin = page.goto(f"{home}/admin")
        exports = page.goto(f"{home}/exports")
        assert admin is not None
        assert exports is not None
        assert (admin.status, exports.status) == (200, 403)

        page.goto(f"{home}/me")
        page.get_by_role("button", name="Sign out").press("Enter")
        page.get_by_role("link", name="My account").press("Enter")
        page.get_by_label("Email address").wait_for()

        anonymous = httpx.get(f"{home}/api/things")
        assert anonymous.status_code == 401
        assert f'resource_metadata="{home}/.well-known/oauth-protected-resource"' in str(anonymous.headers)
        document = httpx.get(f"{home}/.well-known/oauth-protected-resource").json()
        assert document["authorization_servers"] == [site.url]


def test_a_session_is_refreshed_at_the_server_and_ends_with_that_of_the_server(
    world_of_now: Builder, connection: Connection, site: Site, watch: Callable[..., Watched]
) -> None:
    page, home, ahead_seconds = watch(java_script_enabled=False).page, "http://localhost:9000", 0
    client_id = insert_shop(world_of_now, connection, home)
    application = SignIn(
        site.url,
        client_id=client_id,
        client_secret=SECRET,
        redirect_uri=f"{home}/session/callback",
        cookie_secret=COOKIE_SECRET,
        clock=lambda: datetime.now(UTC).timestamp() + ahead_seconds,
    )
    begun = application.start()
    page.route(f"{home}/**", lambda route: route.fulfill(body="The application"))
    page.goto(begun.url)
    sign_in(page)
    page.wait_for_url(f"{home}/session/callback?*")
    done = application.finish(dict(parse_qsl(urlsplit(page.url).query)), begun.cookie.value)
    cookie = done.cookies[0].value
    assert done.session.identity["email"] == EMAIL

    # A quarter of an hour is the life of an access token; the clock of the server stands where it was.
    ahead_seconds = 850
    renewed = application.session(cookie)
    assert renewed is not None
    assert renewed.access_token != done.session.access_token
    assert (renewed.sid, renewed.sub) == (done.session.sid, done.session.sub)
    ended = httpx.post(f"{site.url}/auth/revoke", data={"token": renewed.access_token}, auth=(client_id, SECRET))
    assert ended.status_code == 200
    assert application.session(cookie) is None
    application.close()
