"""A server on a machine whose clock jumps by days (libfaketime): no session ends, and no token has a wrong time."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pyotp.totp import TOTP

from tests.mail_server import PostOffice
from tests.processes import Service, Services
from tests.waiting import wait_until
from tests.wall_clocks import WallClock
from tests.world.builder import PASSWORD, Builder
from tests.world.fixtures import builder
from tests.world.signing_in import claims_of

__all__ = ["builder"]

# Each starts processes, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

# A request and its answer, on a busy machine; far less than any jump.
NEAR_SECONDS = 60
STEP_SECONDS = 30
JUMPS = ("+400d", "-90d")
ADA, GRACE, JOAN = "ada@example.com", "grace@example.com", "joan@example.com"


class Person:
    """A user of the server."""

    def __init__(self, service: Service, post: PostOffice, email: str) -> None:
        self._url = f"http://127.0.0.1:{service.port}"
        self._post = post
        self.email = email
        self.tokens: dict[str, Any] = {}
        self._asked_at = 0.0

    def ask(self, method: str, path: str, body: object = None, token: str | None = None) -> dict[str, Any]:
        """Send a request that has to succeed."""
        headers = {"Authorization": f"Bearer {token or self.tokens.get('access_token', '')}"}
        self._asked_at = time.time()
        answer = httpx.request(method, self._url + path, json=body, headers=headers, timeout=60)
        assert answer.status_code == 200, (path, answer.text)
        return answer.json()

    def take(self, answer: dict[str, Any]) -> None:
        """Take tokens, which have to be of this moment."""
        claims = claims_of(answer["access_token"])
        assert self._asked_at - NEAR_SECONDS < claims["iat"] < time.time() + NEAR_SECONDS, claims
        self.tokens = answer

    def sign_in(self, code: str | None = None) -> None:
        """Sign in by password, and by a code of the app if there is one."""
        answer = self.ask("POST", "/api/auth/login", {"email": self.email, "password": PASSWORD}, token="-")
        if code is not None:
            answer = self.ask("POST", "/api/auth/mfa/verify", {"code": code}, token=answer["preauth_token"])
        self.take(answer)

    def refresh(self) -> None:
        """Send the refresh token."""
        self.take(self.ask("POST", "/api/auth/refresh", {"refresh_token": self.tokens["refresh_token"]}))

    def set_up_app(self) -> TOTP:
        """Turn the second factor on, with the code of the step before."""
        app = TOTP(self.ask("POST", "/api/user/mfa/setup")["secret"])
        self.ask("POST", "/api/user/mfa/verify", {"code": app.at(time.time() - STEP_SECONDS)})
        return app

    def ask_for_link(self) -> str:
        """Ask for a link to sign in, and return its token once the mail is there."""
        before = len(self._mails())
        self.ask("POST", "/api/auth/magic-link/request", {"email": self.email})
        wait_until(lambda: len(self._mails()) > before)
        found = re.search(r"token=([0-9a-f-]{36})", self._mails()[-1])
        assert found is not None, self._mails()
        return found[1]

    def follow(self, token: str) -> None:
        """Sign in by a link."""
        self.take(self.ask("POST", "/api/auth/magic-link/verify", {"token": token}))

    def _mails(self) -> list[str]:
        bodies = [mail.message.get_body(("plain",)) for mail in self._post.received if mail.recipients == (self.email,)]
        return [str(body.get_content()) for body in bodies if body is not None]


@pytest.fixture
def post() -> Iterator[PostOffice]:
    """The mail server."""
    with PostOffice().open() as post:
        yield post


def test_jumps_end_no_session_and_no_code_and_every_token_is_of_the_true_time(
    services: Services, builder: Builder, post: PostOffice, tmp_path: Path
) -> None:
    wall = WallClock(tmp_path / "clock")
    services.wrapper = wall.wrapper
    service = services.ready(SMTP_URL=f"smtp://127.0.0.1:{post.port}?from=gatehouse@example.com")
    ada, grace, joan = people = [Person(service, post, email) for email in (ADA, GRACE, JOAN)]
    for person in people:
        builder.user(person.email)
        person.sign_in()
    apps = [grace.set_up_app(), joan.set_up_app()]
    sessions = count_sessions(builder)

    for times, (offset, person, app) in enumerate(zip(JUMPS, (grace, joan), apps, strict=True), start=1):
        link = ada.ask_for_link()
        wall.set(offset)
        ada.ask("GET", "/api/user")
        ada.refresh()
        person.refresh()
        person.sign_in(app.at(time.time()))
        service.wait_for("clock.wrong", times=times)
        ada.follow(link)
        ada.follow(ada.ask_for_link())
        ada.refresh()
        errors = re.findall(rb"^sso_clock_error_seconds (\S+)", service.get("/metrics").content, re.MULTILINE)
        wall.set("+0")
        ada.refresh()
        service.wait_for("clock.right_again", times=times)

        assert float(errors[0]) == pytest.approx(abs(int(offset[:-1])) * 86_400, abs=NEAR_SECONDS)

    assert service.get("/health/ready").status == 200
    assert count_sessions(builder) == sessions + 2 * 3
    assert not service.logged("clock.moved")
    newest = builder.connection.execute(
        "SELECT abs(extract(epoch FROM now() - max(occurred_at))), abs(extract(epoch FROM now() - min(occurred_at)))"
        " FROM events"
    ).fetchone()
    assert newest is not None
    assert max(newest) < 10 * NEAR_SECONDS
    assert service.stop() == 0


def test_a_server_that_starts_with_a_wrong_clock_takes_the_time_of_the_database(
    services: Services, builder: Builder, post: PostOffice, tmp_path: Path
) -> None:
    wall = WallClock(tmp_path / "clock")
    wall.set("-3d")
    services.wrapper = wall.wrapper
    service = services.ready()
    ada = Person(service, post, ADA)
    builder.user(ADA)

    ada.sign_in()
    wall.set("+0")
    service.wait_for("clock.right_again")
    ada.refresh()

    [moved] = service.logged("clock.moved")
    assert moved["seconds"] == pytest.approx(3 * 86_400, abs=NEAR_SECONDS)


def count_sessions(builder: Builder) -> int:
    """Count the sessions."""
    [[count]] = builder.connection.execute("SELECT count(*) FROM sessions").fetchall()
    return count
