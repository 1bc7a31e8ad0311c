"""A client of the measured service over one connection that stays open, with the cookies that a browser would keep."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from ops.benchmarks.servers import ANSWER_SECONDS_MAX, HOST, CannotMeasure, RunningServer

_HIDDEN_FIELD: Final = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)">')


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer that is no refusal."""

    location: str | None
    body: bytes

    def json(self) -> Any:
        """Parse the body."""
        return json.loads(self.body)


class Client:
    """A client, such as the browser of one user, or a server with its credentials in the headers."""

    def __init__(self, server: RunningServer, headers: Mapping[str, str] | None = None) -> None:
        self._connection = http.client.HTTPConnection(HOST, server.port, timeout=ANSWER_SECONDS_MAX)
        self._headers = dict(headers or {})
        self._cookies: dict[str, str] = {}

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Answer:
        """Send a request without a body; these headers replace the client's own."""
        return self._send("GET", path, None, headers or {})

    def send_form(self, path: str, form: Mapping[str, str]) -> Answer:
        """Send a form."""
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return self._send("POST", path, urlencode(form).encode(), headers)

    def send_json(
        self, path: str, body: object, headers: Mapping[str, str] | None = None, *, method: str = "POST"
    ) -> Answer:
        """Send JSON."""
        kind = {"Content-Type": "application/json"}
        return self._send(method, path, json.dumps(body).encode(), {**kind, **(headers or {})})

    def sign_in(self, email: str, password: str) -> None:
        """Sign in on the pages."""
        self.send_form(
            "/app/sign-in/password", self.hidden_fields("/app/sign-in") | {"email": email, "password": password}
        )
        if not any("gatehouse_session" in name for name in self._cookies):
            raise CannotMeasure(f"{email} is not signed in.")

    def hidden_fields(self, path: str) -> dict[str, str]:
        """Return the hidden fields of the first form of a page."""
        form = self.get(path).body.decode().partition("</form>")[0]
        if not (fields := dict(_HIDDEN_FIELD.findall(form))):
            raise CannotMeasure(f"The page {path.partition('?')[0]} has no form.")
        return fields

    def forget_cookies(self) -> None:
        """Continue as a browser that was not here before."""
        self._cookies.clear()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _send(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        all_headers = {**self._headers, **headers}
        if self._cookies:
            all_headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        was_open = self._connection.sock is not None
        try:
            response = self._answer_to(method, path, body, all_headers)
        except ConnectionError:
            # On a slow machine other measurements take longer than the server keeps an idle connection.
            if not was_open:
                raise
            response = self._answer_to(method, path, body, all_headers)
        answer = Answer(location=response.headers["Location"], body=response.read())
        for line in response.headers.get_all("Set-Cookie") or ():
            name, _, value = line.partition(";")[0].partition("=")
            self._cookies[name] = value
        if response.status >= http.HTTPStatus.BAD_REQUEST:
            refusal = answer.body.decode(errors="replace")
            raise CannotMeasure(f"{path.partition('?')[0]} was answered {response.status}: {refusal}")
        return answer

    def _answer_to(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        try:
            self._connection.request(method, path, body, headers)
            return self._connection.getresponse()
        except OSError:
            # A late answer would be taken for the answer to the next request.
            self._connection.close()
            raise


def bearer(token: str) -> dict[str, str]:
    """Return the header with which a token is sent."""
    return {"Authorization": f"Bearer {token}"}
