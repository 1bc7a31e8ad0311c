"""A browser and a program at a running server: requests over HTTP, forms, and the cookies of the browser."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import urlencode, urlsplit

from werkzeug.http import parse_cookie

from tests.processes import Answer, Service
from tests.world.visitor import FORM, forms_in

BASE_URL = "http://localhost:8000"
REDIRECTS_MAX = 8


@dataclass
class Site:
    """A server, and a browser with its cookies. `BASE_URL` has to be the server's base URL, wherever it listens."""

    service: Service
    cookies: dict[str, str] = field(default_factory=dict[str, str])

    def call(
        self, method: str, path: str, body: Any = None, *, token: str = "", headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send what a program sends: JSON with a token, without cookies."""
        given = {**({"Authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        return self.service.request(method, path, headers=given, body=data)

    def ask(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """Send that, and return the answer, which is good."""
        answer = self.call(method, path, body, **options)
        assert answer.status in {200, 201}, (method, path, answer.status, answer.content)
        return answer.json

    def open(self, path: str, *, until: str = "") -> Answer:
        """Open a page through redirects; the answer that leads to `until` is returned as it is."""
        return self._follow(self._send("GET", path), until)

    def submit(self, page: Answer, action: str, *, until: str = "", **fields: str) -> Answer:
        """Submit a form of a page with these fields."""
        form = next(form for form in forms_in(page.content.decode()) if urlsplit(form.action).path == action)
        data = urlencode({**form.fields, **fields}).encode()
        sent = {"Content-Type": FORM, "Origin": BASE_URL, "Sec-Fetch-Site": "same-origin"}
        return self._follow(self._send("POST", unescape(form.action), data, sent), until)

    def sign_in(self, email: str, password: str) -> None:
        """Sign the browser in by password."""
        methods = self.submit(self.open("/app"), "/app/sign-in", email=email)
        page = self.submit(methods, "/app/sign-in/password", password=password)
        assert page.status == 200, page.content

    def _send(
        self, method: str, path: str, data: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        sent = {"Accept": "text/html", "Host": "localhost:8000", **(headers or {})}
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        answer = self.service.request(method, path.removeprefix(BASE_URL), headers=sent, body=data)
        for line in answer.cookies:
            [(name, value)] = parse_cookie(line.partition(";")[0]).items()
            if "Max-Age=0" in line:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        return answer

    def _follow(self, answer: Answer, until: str) -> Answer:
        for _ in range(REDIRECTS_MAX):
            target = location_of(answer)
            if not target or (until and target.startswith(until)):
                return answer
            answer = self._send("GET", target)
        raise AssertionError("the redirects do not end")


def location_of(answer: Answer) -> str:
    """Return where an answer leads; an empty text when it leads nowhere."""
    return next((value for name, value in answer.headers.items() if name.lower() == "location"), "")
