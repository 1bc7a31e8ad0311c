"""A visitor of the pages of a server process, over HTTP: it keeps cookies, follows redirects and submits forms."""

from __future__ import annotations

from typing import Any, Self, cast

import httpx

from tests.application import Answer
from tests.world.visitor import forms_of

AGENT = {"User-Agent": "a visitor", "Accept": "text/html"}


class HttpVisitor:
    """A browser without a screen; `host` is the one of the server's base URL, where that is not its address."""

    def __init__(self, url: str, *, host: str | None = None) -> None:
        self._url = url
        headers = AGENT if host is None else {**AGENT, "Host": host}
        self._client = httpx.Client(base_url=url, headers=headers, follow_redirects=False, timeout=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._client.close()

    @property
    def cookies(self) -> str:
        """Its cookies, as it sends them."""
        return "; ".join(f"{name}={value}" for name, value in self._client.cookies.items())

    def open(self, address: str) -> httpx.Response:
        """Open a page, through redirects on the same server; return the first answer that leads nowhere on it."""
        return self._follow(self._client.get(address))

    def submit(self, page: httpx.Response, action: str, **fields: str) -> httpx.Response:
        """Submit a form of a page."""
        form = next(form for form in forms_of(cast("Answer", page)) if form.action == action)
        return self._follow(self._client.post(action, data={**form.fields, **fields}))

    def sign_in(self, address: str, email: str, password: str) -> httpx.Response:
        """Open a page that asks to sign in, and do so."""
        methods = self.submit(self.open(address), "/app/sign-in", email=email)
        return self.submit(methods, "/app/sign-in/password", password=password)

    def _follow(self, answer: httpx.Response) -> httpx.Response:
        while answer.has_redirect_location and answer.headers["Location"].startswith(("/", self._url)):
            answer = self._client.get(answer.headers["Location"])
        return answer


def destination_of(answer: httpx.Response) -> str:
    """Return the address to which an answer leads, by a redirect or by a page."""
    location: Any = answer.headers.get("Location")
    return location or answer.headers["Refresh"].partition("; url=")[2]
