"""The sign-in hop of SAML: from the request of a service provider to the signed response, in a browser with a session.

Requests are sent at a steady rate, whether or not the one before was answered, while a user reads their profile beside
them. Each request is another one, because a request is taken once.
"""

from __future__ import annotations

import base64
import json
import secrets
import statistics
import tempfile
import time
import zlib
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import quote

import trio

from ops.benchmarks import people, servers
from ops.benchmarks.client import Client
from ops.benchmarks.comparing import Spread
from ops.benchmarks.load import LoaderFailed, receive_answer
from ops.benchmarks.operations import PROFILE
from ops.benchmarks.processes import cpu_seconds
from ops.benchmarks.progress import Say
from ops.benchmarks.servers import ANSWER_SECONDS_MAX, HOST, RunningServer
from ops.benchmarks.standing import StandingFigure
from ops.seeding.population import PASSWORD, address, slug

ROUNDS: Final = 3
SECONDS: Final = 5
HOPS_PER_SECOND: Final = 50
BROWSERS: Final = 20
CPU_MS_MAX: Final = 12.0
ENTITY_ID: Final = "https://sp.example/metadata"
ACS_URL: Final = "https://sp.example/acs"
SERVICE: Final = "service-1"

_REQUEST: Final = (
    '<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"'
    ' xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_{id}" Version="2.0" IssueInstant="{now}"'
    ' AssertionConsumerServiceURL="{acs}"><saml:Issuer>{issuer}</saml:Issuer></samlp:AuthnRequest>'
)


def saml(say: Say) -> list[StandingFigure]:
    """Answer requests for a sign-in from browsers that are signed in."""
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder:
        data = Path(folder) / "data"
        with servers.service(data) as started:
            service = people.seed_users(started, data, say)
            _set_up(service)
            browsers = [_sign_in(service, address(number)) for number in range(min(BROWSERS, service.members))]
            _round(service, browsers, seconds=1)
            rounds: list[_Load] = []
            for number in range(1, ROUNDS + 1):
                rounds.append(_round(service, browsers, seconds=SECONDS))
                say(f"round {number} of {ROUNDS}: {rounds[-1].cpu_ms:.1f} ms of CPU for a SAML hop")
    return [
        StandingFigure(
            name=f"SAML hop at {HOPS_PER_SECOND}/s: CPU",
            unit="ms",
            values=Spread.of(done.cpu_ms for done in rounds),
            maximum=CPU_MS_MAX,
        ),
        StandingFigure(name="SAML hop: p99", unit="ms", values=Spread.of(_p99(done.hop_seconds) for done in rounds)),
        StandingFigure(
            name="profile beside SAML hops, p99",
            unit="ms",
            values=Spread.of(_p99(done.profile_seconds) for done in rounds),
        ),
    ]


@dataclass
class _Load:
    """The results of one load; the processor time includes the time of the profiles."""

    cpu_ms: float = 0.0
    hop_seconds: list[float] = field(default_factory=list[float])
    profile_seconds: list[float] = field(default_factory=list[float])
    failures: int = 0


def _set_up(service: RunningServer) -> None:
    """Enable SAML for the service that all people use."""
    token = people.sign_in(service, address(0))["access_token"]
    path = f"/api/organizations/{slug(0)}/services/{SERVICE}/saml"
    service.post(path, {"enabled": True, "entity_id": ENTITY_ID, "acs_url": ACS_URL}, token=token)
    service.post(f"{path}/certificate", {}, token=token)


def _sign_in(service: RunningServer, email: str) -> str:
    """Sign in on the pages, and return the cookies of the browser."""
    with closing(Client(service)) as browser:
        browser.sign_in(email, PASSWORD)
        return browser.cookies


def _round(service: RunningServer, browsers: list[str], *, seconds: int) -> _Load:
    load, spent = _Load(), cpu_seconds(service.roots)
    profile = json.loads(service.post("/api/auth/login", {"email": address(0), "password": PASSWORD}))["access_token"]
    trio.run(_send_steadily, service.port, browsers, profile, seconds, load)
    if load.failures:
        raise servers.CannotMeasure(f"{load.failures} requests failed.")
    load.cpu_ms = (cpu_seconds(service.roots) - spent) * 1000 / (seconds * HOPS_PER_SECOND)
    return load


async def _send_steadily(port: int, browsers: list[str], token: str, seconds: int, load: _Load) -> None:
    began_at = trio.current_time()
    async with trio.open_nursery() as nursery:
        for number in range(seconds * HOPS_PER_SECOND):
            due_at = began_at + number / HOPS_PER_SECOND
            await trio.sleep_until(due_at)
            hop = {"Cookie": browsers[number % len(browsers)]}
            nursery.start_soon(_send, port, _hop_path(), hop, load.hop_seconds, load)
            if number % 5 == 0:
                bearer = {"Authorization": f"Bearer {token}"}
                nursery.start_soon(_send, port, PROFILE.path, bearer, load.profile_seconds, load)


async def _send(port: int, path: str, headers: dict[str, str], taken: list[float], load: _Load) -> None:
    began_at = time.perf_counter()
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    request = f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n{lines}\r\n"
    try:
        with trio.fail_after(ANSWER_SECONDS_MAX):
            async with await trio.open_tcp_stream(HOST, port) as stream:
                await stream.send_all(request.encode())
                head, _ = await receive_answer(stream)
    except (OSError, trio.BrokenResourceError, trio.TooSlowError, LoaderFailed):
        load.failures += 1
        return
    load.failures += head.status != HTTPStatus.OK
    taken.append(time.perf_counter() - began_at)


def _hop_path() -> str:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    request = _REQUEST.format(id=secrets.token_hex(16), now=now, acs=ACS_URL, issuer=ENTITY_ID)
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    value = base64.b64encode(compressor.compress(request.encode()) + compressor.flush()).decode()
    return f"/saml/{slug(0)}/{SERVICE}/sso?SAMLRequest={quote(value, safe='')}"


def _p99(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=100, method="inclusive")[98] * 1000
