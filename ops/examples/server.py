"""A web application that signs people in with Gatehouse's JSON interface. It needs the standard library only.

    GATEHOUSE_URL=http://localhost:8000 python ops/examples/server.py

It serves http://localhost:9000 (`PORT` changes that) and shows what such a server has to take care of:

- The browser gets a random session id in a cookie, and a new one at every sign-in; the tokens never leave the server.
- A form that another site has sent is refused, by its `Origin`.
- An access token that has expired is replaced with the refresh token, which can be used once.
- `GET /api/user` says at each page whether the session still lives: when the person ends it elsewhere, this page does
  too.
- Gatehouse limits, recognizes and records people by address, browser and device, so the server passes them on. For the
  address, `GATEHOUSE_TRUSTED_PROXIES` has to name the network of this server.

Sessions are kept in memory, which suits one process. A real application keeps them where all of its processes look.
"""

from __future__ import annotations

import http.client
import json
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit
from wsgiref.simple_server import make_server
from wsgiref.types import StartResponse, WSGIEnvironment

COOKIE = "harbour_session"
DEVICE_COOKIE = "harbour_device"
DEVICE_SECONDS = 90 * 24 * 3600
FORM_BYTES_MAX = 10_000
SECONDS_MAX = 10.0
SESSIONS_MAX = 10_000


class Refused(Exception):
    """Gatehouse refused: `code` is for programs, the message for people."""

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__(answer["error"])
        self.code = answer["error_code"]


@dataclass
class Session:
    """A browser: half signed in with a pre-auth token, or signed in with an access and a refresh token."""

    preauth_token: str = ""
    access_token: str = ""
    refresh_token: str = ""

    @property
    def authorization(self) -> dict[str, str]:
        """The header that carries the access token."""
        return {"Authorization": f"Bearer {self.access_token}"}


@dataclass(frozen=True)
class Gatehouse:
    """The JSON interface."""

    url: str

    def call(self, method: str, path: str, about: dict[str, str], body: dict[str, str] | None = None) -> Any:
        """Send one request with these headers; raise `Refused` with the reason when the answer is a refusal."""
        parts = urlsplit(self.url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.netloc, timeout=SECONDS_MAX)
        headers = about | {"Content-Type": "application/json"}
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            response = connection.getresponse()
            content = response.read()
        finally:
            connection.close()
        answer: Any = json.loads(content or b"{}")
        if response.status >= http.client.BAD_REQUEST:
            raise Refused(answer)
        return answer

    def call_as(self, session: Session, method: str, path: str, about: dict[str, str]) -> Any:
        """Send a request of the person who is signed in, with a new access token when the present one has expired."""
        try:
            return self.call(method, path, about | session.authorization)
        except Refused as refused:
            if refused.code != "TOKEN_EXPIRED":
                raise
        answer = self.call("POST", "/api/auth/refresh", about, {"refresh_token": session.refresh_token})
        session.access_token, session.refresh_token = answer["access_token"], answer["refresh_token"]
        return self.call(method, path, about | session.authorization)


class Application:
    """The pages: signing in, the code of the second factor, and what only people who are signed in see."""

    def __init__(self, gatehouse: Gatehouse) -> None:
        self._gatehouse = gatehouse
        self._sessions: dict[str, Session] = {}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request."""
        page = Page(environ)
        try:
            self._serve(page)
        except Refused as refused:
            self._refuse(page, str(refused))
        except OSError:
            page.show("<p>Signing in is not possible at the moment. Try again soon.</p>", status="502 Bad Gateway")
        start_response(page.status, page.headers)
        return [page.body.encode()]

    def _serve(self, page: Page) -> None:
        session = self._sessions.get(page.session_id)
        if page.method == "POST" and page.is_from_elsewhere:
            page.show("<p>This form was sent by another site.</p>", status="403 Forbidden")
            return
        match (page.method, page.path):
            case ("GET", "/"):
                self._home(page, session)
            case ("POST", "/sign-in"):
                credentials = {"email": page.form("email"), "password": page.form("password")}
                self._begin(page, self._gatehouse.call("POST", "/api/auth/login", page.about, credentials))
            case ("POST", "/code") if session is not None:
                answer = {"preauth_token": session.preauth_token, "code": page.form("code")}
                self._begin(page, self._gatehouse.call("POST", "/api/auth/mfa/verify", page.about, answer))
            case ("POST", "/sign-out") if session is not None:
                self._sessions.pop(page.session_id, None)
                self._gatehouse.call_as(session, "POST", "/api/auth/logout", page.about)
                page.redirect("/")
            case _:
                page.redirect("/")

    def _home(self, page: Page, session: Session | None) -> None:
        if session is None:
            page.show(_sign_in_form())
        elif session.preauth_token:
            page.show(_code_form())
        else:
            user = self._gatehouse.call_as(session, "GET", "/api/user", page.about)
            page.show(SIGNED_IN.format(email=escape(user["email"])))

    def _refuse(self, page: Page, problem: str) -> None:
        """Show what was refused: a code may be typed again, and a session that has ended is forgotten."""
        session = self._sessions.get(page.session_id)
        if session is not None and session.preauth_token:
            page.show(_code_form(problem), status="403 Forbidden")
            return
        self._sessions.pop(page.session_id, None)
        page.show(_sign_in_form(problem), status="403 Forbidden")

    def _begin(self, page: Page, answer: dict[str, Any]) -> None:
        """Begin a session under a new id, so that an id that was planted in the browser before is worth nothing."""
        self._sessions.pop(page.session_id, None)
        if len(self._sessions) >= SESSIONS_MAX:
            self._sessions.pop(next(iter(self._sessions)))
        session_id = secrets.token_urlsafe(32)
        if answer.get("mfa_required"):
            self._sessions[session_id] = Session(preauth_token=answer["preauth_token"])
        else:
            self._sessions[session_id] = Session(
                access_token=answer["access_token"], refresh_token=answer["refresh_token"]
            )
            page.set_cookie(DEVICE_COOKIE, answer["device_token"], seconds=DEVICE_SECONDS)
        page.set_cookie(COOKIE, session_id)
        page.redirect("/")


class Page:
    """A request and its answer."""

    def __init__(self, environ: WSGIEnvironment) -> None:
        self._environ = environ
        self.method, self.path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        self.status, self.body = "200 OK", ""
        self.headers = [
            ("Content-Type", "text/html; charset=utf-8"),
            ("Cache-Control", "no-store"),
            ("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'"),
        ]
        cookies = SimpleCookie(environ.get("HTTP_COOKIE", ""))
        self._cookies = {name: morsel.value for name, morsel in cookies.items()}
        self.session_id = self._cookies.get(COOKIE, "")
        length = min(int(environ.get("CONTENT_LENGTH") or 0), FORM_BYTES_MAX)
        self._form = parse_qs(environ["wsgi.input"].read(length).decode())

    @property
    def is_from_elsewhere(self) -> bool:
        """Whether the browser says that a page of another origin has sent the form."""
        origin: str | None = self._environ.get("HTTP_ORIGIN")
        return origin is not None and urlsplit(origin).netloc != self._environ["HTTP_HOST"]

    @property
    def about(self) -> dict[str, str]:
        """The headers that tell Gatehouse about the browser."""
        about = {
            "X-Forwarded-For": self._environ["REMOTE_ADDR"],
            "User-Agent": self._environ.get("HTTP_USER_AGENT", ""),
        }
        return about | ({"X-Device-Token": self._cookies[DEVICE_COOKIE]} if DEVICE_COOKIE in self._cookies else {})

    def form(self, name: str) -> str:
        """Return a field of the form; empty when it was not sent."""
        return self._form.get(name, [""])[0]

    def show(self, content: str, status: str = "200 OK") -> None:
        """Answer with a page."""
        self.status, self.body = status, LAYOUT.format(content=content)

    def redirect(self, address: str) -> None:
        """Answer with another address, so that reloading the next page sends no form again."""
        self.status = "303 See Other"
        self.headers.append(("Location", address))

    def set_cookie(self, name: str, value: str, *, seconds: int | None = None) -> None:
        """Set a cookie, by default until the browser is closed. On https, add `Secure` and name it `__Host-…`."""
        lifetime = "" if seconds is None else f"; Max-Age={seconds}"
        self.headers.append(("Set-Cookie", f"{name}={value}; Path=/; HttpOnly; SameSite=Lax{lifetime}"))


LAYOUT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Harbour Logs</title></head><body><main><h1>Harbour Logs</h1>{content}</main></body></html>"""

SIGNED_IN = """<p>Signed in as <strong>{email}</strong>.</p>
<form method="post" action="/sign-out"><button>Sign out</button></form>"""


def _code_form(problem: str = "") -> str:
    return f"""<p role="alert">{escape(problem)}</p><form method="post" action="/code">
<p><label>Code of your app, or a backup code <input name="code" autocomplete="one-time-code" required></label></p>
<p><button>Continue</button></p></form>"""


def _sign_in_form(problem: str = "") -> str:
    return f"""<p role="alert">{escape(problem)}</p><form method="post" action="/sign-in">
<p><label>Email address <input name="email" type="email" autocomplete="username" required></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password" required></label></p>
<p><button>Sign in</button></p></form>"""


def main() -> None:
    """Serve until the process is ended."""
    gatehouse = Gatehouse(os.environ.get("GATEHOUSE_URL", "http://localhost:8000"))
    with make_server("127.0.0.1", int(os.environ.get("PORT", "9000")), Application(gatehouse)) as server:
        print(f"Serving http://localhost:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
