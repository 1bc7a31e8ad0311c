"""The requests of the kit, which fail a test with what the server answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx


class KitFailed(AssertionError):
    """Gatehouse has refused a request of the kit; the test has asked for something impossible."""


@dataclass(frozen=True)
class Requests:
    """Sends requests to an instance."""

    client: httpx.Client

    def ask(self, method: str, path: str, body: Any = None, *, token: str = "", key: str = "") -> Any:
        """Send a request, and return the JSON of the answer; raise `KitFailed` when it is refused."""
        response = self.send(method, path, body, token=token, key=key)
        if response.is_error:
            raise KitFailed(f"{method} {path} answered {response.status_code}: {response.text}")
        is_json = response.headers.get("Content-Type", "").partition(";")[0].endswith("json")
        return response.json() if is_json else None

    def send(self, method: str, path: str, body: Any = None, *, token: str = "", key: str = "") -> httpx.Response:
        """Send a request with a token or an API key, and return the answer, whatever it is."""
        headers = {"Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if key:
            headers["X-Api-Key"] = key
        return self.client.request(method, path, json=body, headers=headers)

    def forget_cookies(self) -> None:
        """Be another browser."""
        self.client.cookies.clear()
