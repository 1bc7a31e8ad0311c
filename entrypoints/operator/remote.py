"""`gatehouse login` and `gatehouse api`: signing in to a running Gatehouse by its device flow, and calling it.

The tokens are kept in a file of the user that others cannot read, one entry for each Gatehouse. They are the user's
own: what they open is what the user may do.
"""

from __future__ import annotations

import ipaddress
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit

import httpx

from core.lazy_dataclasses import dataclass
from core.openid.device import COMMAND_LINE_CLIENT, GRANT_TYPE
from entrypoints.refusals import CannotStart

Report = Callable[[str], None]


REQUEST_SECONDS_MAX: Final = 30.0
INTERVAL_SECONDS_MAX: Final = 60
# A token is renewed when it has less time left than this, so that it does not expire on its way.
RENEWAL_SECONDS: Final = 30
_FILE_MODE: Final = 0o600
_ERROR_STATUS_MIN: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTokens:
    """The tokens for one Gatehouse; the time is in seconds since the epoch."""

    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)
    expires_at: float


class TokenFile:
    """The file with the tokens, and the Gatehouse that was signed in to last."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def of_user(cls) -> TokenFile:
        """Return the file of the user who runs the command."""
        folder = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
        return cls(Path(folder) / "gatehouse" / "tokens.json")

    @property
    def last_address(self) -> str | None:
        """The Gatehouse that was signed in to last."""
        return self._read().get("last")

    def find(self, address: str) -> StoredTokens | None:
        """Return the tokens for a Gatehouse; None without any."""
        found = self._read().get("tokens", {}).get(address)
        return StoredTokens(**found) if found is not None else None

    def store(self, address: str, tokens: StoredTokens) -> None:
        """Store the tokens for a Gatehouse, which becomes the last one."""
        content = self._read()
        content["last"] = address
        content.setdefault("tokens", {})[address] = asdict(tokens)
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Written beside and moved, so that a crash leaves the old file whole.
        new = self._path.with_suffix(".new")
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _FILE_MODE), "w") as file:
            json.dump(content, file)
        new.replace(self._path)

    def _read(self) -> dict[str, Any]:
        try:
            return json.loads(self._path.read_text())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise CannotStart(f"{self._path} cannot be read. Delete it, and sign in again. {error}") from None


def login(address: str, *, report: Report, sleep: Callable[[float], None] = time.sleep) -> None:
    """Sign in to a Gatehouse: show a code, and wait until its user has approved it in a browser."""
    address = _checked(address)
    with _client(address) as client:
        try:
            device = _json(client.post("/auth/device/code", data={"client_id": str(COMMAND_LINE_CLIENT)}))
        except httpx.HTTPError as error:
            raise _unreachable(address, error) from None
        report(f"Open {device['verification_uri_complete']}")
        report(f"and approve the code {device['user_code']}.")
        TokenFile.of_user().store(address, _wait(client, device, sleep))
    report(f"You are signed in to {address}.")


def call(path: str, *, address: str | None, method: str, body: str | None, report: Report) -> int:
    """Send a request as the user who has signed in, print the answer, and return the exit status."""
    file = TokenFile.of_user()
    chosen = _checked(address or file.last_address or "")
    tokens = file.find(chosen)
    if tokens is None:
        raise CannotStart(f"You are not signed in to {chosen}. Run `gatehouse login {chosen}`.")
    if not path.startswith("/"):
        raise CannotStart("The path begins with a slash, such as /api/user.")
    with _client(chosen) as client:
        if tokens.expires_at - RENEWAL_SECONDS < time.time():
            tokens = _renewed(client, tokens, chosen)
            file.store(chosen, tokens)
        headers = {"Authorization": f"Bearer {tokens.access_token}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            answer = client.request(method, path, headers=headers, content=body)
        except httpx.HTTPError as error:
            raise _unreachable(chosen, error) from None
    if answer.text:
        report(answer.text)
    if answer.status_code >= _ERROR_STATUS_MIN:
        sys.stderr.write(f"gatehouse: {method} {path} was answered with {answer.status_code}.\n")
        return 1
    return 0


def _wait(client: httpx.Client, device: dict[str, Any], sleep: Callable[[float], None]) -> StoredTokens:
    interval = int(device["interval"])
    fields = {
        "grant_type": GRANT_TYPE,
        "device_code": device["device_code"],
        "client_id": str(COMMAND_LINE_CLIENT),
    }
    while True:
        sleep(interval)
        try:
            answer = client.post("/auth/token", data=fields)
        except httpx.HTTPError as error:
            raise _unreachable(str(client.base_url), error) from None
        if answer.is_success:
            return _stored(answer.json())
        error = _json_object(answer).get("error")
        if error == "slow_down" or answer.status_code == HTTPStatus.TOO_MANY_REQUESTS:
            interval = min(interval + 5, INTERVAL_SECONDS_MAX)
        elif error != "authorization_pending":
            raise CannotStart(_json_object(answer).get("error_description") or "Signing in failed. Run it again.")


def _renewed(client: httpx.Client, tokens: StoredTokens, address: str) -> StoredTokens:
    try:
        answer = client.post("/api/auth/refresh", json={"refresh_token": tokens.refresh_token})
    except httpx.HTTPError as error:
        raise _unreachable(address, error) from None
    if not answer.is_success:
        raise CannotStart(f"Your session is over. Run `gatehouse login {address}`.")
    return _stored(answer.json())


def _stored(answer: dict[str, Any]) -> StoredTokens:
    return StoredTokens(
        access_token=answer["access_token"],
        refresh_token=answer["refresh_token"],
        expires_at=time.time() + int(answer["expires_in"]),
    )


def _checked(address: str) -> str:
    """Return the address of a Gatehouse without a slash at its end; refuse one to which tokens must not be sent."""
    parts = urlsplit(address.rstrip("/"))
    if (
        parts.scheme not in {"https", "http"}
        or not parts.hostname
        or parts.query
        or parts.fragment
        or "@" in parts.netloc
    ):
        raise CannotStart("Name the address of a Gatehouse, such as https://id.example.com.")
    if parts.scheme == "http" and not _is_loopback(parts.hostname):
        raise CannotStart("Use https: over http, others on the way could read your tokens.")
    return address.rstrip("/")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _client(address: str) -> httpx.Client:
    return httpx.Client(base_url=address, timeout=REQUEST_SECONDS_MAX, follow_redirects=False)


def _json(answer: httpx.Response) -> dict[str, Any]:
    found = _json_object(answer)
    if not answer.is_success or "device_code" not in found:
        raise CannotStart(
            found.get("error_description")
            or f"There is no Gatehouse at {answer.url}: it answered {answer.status_code}."
        )
    return found


def _json_object(answer: httpx.Response) -> dict[str, Any]:
    try:
        found = answer.json()
    except ValueError:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _unreachable(address: str, error: httpx.HTTPError) -> CannotStart:
    return CannotStart(f"{address} cannot be reached: {error or type(error).__name__}")
