"""OpenID Connect: the processor time of a whole code flow, of an introspection, and of a token for a client itself.

The flow is what a signed-in user causes: the authorization request of the browser, the exchange of its code, and the
request for the user information. Introspection and the client's own token are given beyond the time of `/health`,
which does nothing: that is what the server and its HTTP cost for every request.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import re
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlencode, urlsplit

from ops.benchmarks import people, servers
from ops.benchmarks.comparing import Spread
from ops.benchmarks.load import HOST
from ops.benchmarks.processes import cpu_seconds
from ops.benchmarks.standing import StandingFigure
from ops.seeding.population import PASSWORD, address, slug

if TYPE_CHECKING:
    from collections.abc import Callable

    from ops.benchmarks.comparing import Say
    from ops.benchmarks.servers import RunningServer

ROUNDS: Final = 3
FLOWS: Final = 150
REQUESTS: Final = 400
FLOW_MS_MAX: Final = 5.0
REQUEST_MS_MAX: Final = 1.0
REDIRECT_URI: Final = "https://shop.example/callback"
VERIFIER: Final = "a-code-verifier-of-the-benchmark-with-enough-characters"
_FORM: Final = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """An answer of the measured server."""

    status: int
    location: str | None
    cookies: dict[str, str]
    body: str


class _Service:
    """A service and the browser of its user, over one connection."""

    def __init__(self, server: RunningServer) -> None:
        self._connection = http.client.HTTPConnection(HOST, server.port, timeout=servers.ANSWER_SECONDS_MAX)
        owner = people.sign_in(server, address(0))["access_token"]
        wanted = {"slug": "bench", "name": "Bench", "service_type": "web", "redirect_uris": [REDIRECT_URI]}
        made = json.loads(server.post(f"/api/organizations/{slug(0)}/services", wanted, token=owner))
        self._client_id = made["service"]["client_id"]
        credentials = base64.b64encode(f"{self._client_id}:{made['client_secret']}".encode()).decode()
        self._basic = {"Authorization": f"Basic {credentials}"}
        self._cookies: dict[str, str] = {}
        self._sign_in(address(0))
        self.token = json.loads(self.client_token().body)["access_token"]

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def nothing(self) -> _Answer:
        """Send a request that costs only what every request costs."""
        return self._send("GET", "/health")

    def client_token(self) -> _Answer:
        """Get a token for the service itself."""
        return self._send("POST", "/auth/token", {"grant_type": "client_credentials"}, self._basic)

    def introspection(self) -> _Answer:
        """Ask about that token."""
        return self._send("POST", "/auth/introspect", {"token": self.token}, self._basic)

    def flow(self) -> _Answer:
        """Send the three requests of the code flow."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
        wanted = {
            "client_id": self._client_id,
            "response_type": "code",
            "redirect_uri": REDIRECT_URI,
            "scope": "openid email",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        back = self._send("GET", f"/auth/authorize?{urlencode(wanted)}", headers=self._cookie())
        [code] = parse_qs(urlsplit(back.location or "").query)["code"]
        grant = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": REDIRECT_URI,
            "code_verifier": VERIFIER,
        }
        token = json.loads(self._send("POST", "/auth/token", grant, self._basic).body)["access_token"]
        return self._send("GET", "/auth/userinfo", headers={"Authorization": f"Bearer {token}"})

    def _sign_in(self, email: str) -> None:
        page = self._send("GET", "/app/sign-in")
        found = re.search(r'name="form_token" value="([^"]*)"', page.body)
        if found is None:
            raise servers.CannotMeasure("The sign-in page has no form.")
        form = {"form_token": found[1], "email": email, "password": PASSWORD}
        self._send("POST", "/app/sign-in/password", form, self._cookie())

    def _cookie(self) -> dict[str, str]:
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())}

    def _send(
        self, method: str, path: str, form: dict[str, str] | None = None, headers: dict[str, str] | None = None
    ) -> _Answer:
        sent = {**(headers or {}), **({"Content-Type": _FORM} if form is not None else {})}
        self._connection.request(method, path, urlencode(form) if form is not None else None, sent)
        response = self._connection.getresponse()
        body = response.read().decode()
        for line in response.headers.get_all("Set-Cookie") or ():
            name, _, value = line.partition(";")[0].partition("=")
            self._cookies[name] = value
        if response.status >= http.HTTPStatus.BAD_REQUEST:
            raise servers.CannotMeasure(f"{path.partition('?')[0]} was answered {response.status}: {body}")
        return _Answer(status=response.status, location=response.headers["Location"], cookies=self._cookies, body=body)


def openid(say: Say) -> list[StandingFigure]:
    """Send each kind of request many times, several times over."""
    flows: list[float] = []
    introspections: list[float] = []
    client_tokens: list[float] = []
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder:
        data = Path(folder) / "data"
        with servers.service(data) as started:
            server = people.seed_users(started, data, say)
            with closing(_Service(server)) as service:
                for _ in range(ROUNDS):
                    nothing = _cost_ms(server, service.nothing, REQUESTS)
                    flows.append(_cost_ms(server, service.flow, FLOWS))
                    introspections.append(_cost_ms(server, service.introspection, REQUESTS) - nothing)
                    client_tokens.append(_cost_ms(server, service.client_token, REQUESTS) - nothing)
                    say(
                        f"openid: {flows[-1]:.2f} ms a flow, {introspections[-1]:.2f} ms an introspection,"
                        f" {client_tokens[-1]:.2f} ms a token of a client"
                    )
    return [
        StandingFigure(name="code flow: processor time", unit="ms", values=Spread.of(flows), maximum=FLOW_MS_MAX),
        StandingFigure(
            name="introspection: processor time beyond /health",
            unit="ms",
            values=Spread.of(introspections),
            maximum=REQUEST_MS_MAX,
        ),
        StandingFigure(
            name="client credentials: processor time beyond /health",
            unit="ms",
            values=Spread.of(client_tokens),
            maximum=REQUEST_MS_MAX,
        ),
    ]


def _cost_ms(server: RunningServer, send: Callable[[], _Answer], times: int) -> float:
    """Return the processor time of the server for one of these, in milliseconds."""
    send()
    used = cpu_seconds(server.roots)
    for _ in range(times):
        send()
    return 1000 * (cpu_seconds(server.roots) - used) / times
