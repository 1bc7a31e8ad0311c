"""OpenID Connect: the processor time of a whole code flow, of an introspection, and of a token for a client itself.

The flow is what a signed-in user causes: the authorization request of the browser, the exchange of its code, and the
request for the user information. Introspection and the client's own token are given beyond the time of `/health`,
which does nothing: that is what the server and its HTTP cost for every request.
"""

from __future__ import annotations

import base64
import hashlib
import json
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from ops.benchmarks import people, servers
from ops.benchmarks.client import Answer, Client, bearer
from ops.benchmarks.comparing import Spread
from ops.benchmarks.processes import cpu_seconds
from ops.benchmarks.progress import Say
from ops.benchmarks.servers import HEALTH_PATH, RunningServer
from ops.benchmarks.standing import StandingFigure
from ops.seeding.population import PASSWORD, address, slug

ROUNDS: Final = 3
FLOWS: Final = 150
REQUESTS: Final = 400
FLOW_MS_MAX: Final = 5.0
REQUEST_MS_MAX: Final = 1.0
# Relative to a token by secret.
WORKLOAD_MS_MAX: Final = 1.3
ISSUER: Final = "https://issuer.example"
SERVICE: Final = "bench"
REDIRECT_URI: Final = "https://shop.example/callback"
SCOPE: Final = "openid email"
VERIFIER: Final = "a-code-verifier-of-the-benchmark-with-enough-characters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """The paths of a provider; Gatehouse's unless others are named."""

    authorization: str = "/auth/authorize"
    token: str = "/auth/token"  # noqa: S105 - a path
    userinfo: str = "/auth/userinfo"
    introspection: str = "/auth/introspect"
    # What a client adds when it asks for a token for itself.
    client_token: Mapping[str, str] = field(default_factory=dict[str, str])


class RelyingParty:
    """A client of a provider, with connections of its own, and the browser of a user who is signed in."""

    def __init__(
        self, server: RunningServer, browser: Client, credentials: tuple[str, str], endpoints: Endpoints
    ) -> None:
        self.credentials = credentials
        self._at = endpoints
        self._browser = browser
        basic = base64.b64encode(":".join(credentials).encode()).decode()
        self._backend = Client(server, {"Authorization": f"Basic {basic}"})

    def close(self) -> None:
        """Close the connections."""
        self._backend.close()
        self._browser.close()

    def nothing(self) -> Answer:
        """Send a request that costs only what every request costs."""
        return self._backend.get(HEALTH_PATH)

    def client_token(self) -> Answer:
        """Get a token for the service itself."""
        return self._backend.send_form(self._at.token, {"grant_type": "client_credentials", **self._at.client_token})

    def introspection(self) -> Callable[[], Answer]:
        """Return what asks about a token of the service itself."""
        token = self.client_token().json()["access_token"]
        return lambda: self._backend.send_form(self._at.introspection, {"token": token})

    def tokens(self, scope: str = SCOPE) -> dict[str, str]:
        """Get the tokens of the user: the authorization request of the browser, and the exchange of its code."""
        back = self._browser.get(self.request(scope))
        [code] = parse_qs(urlsplit(back.location or "").query)["code"]
        grant = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": REDIRECT_URI,
            "code_verifier": VERIFIER,
        }
        return self._backend.send_form(self._at.token, grant).json()

    def request(self, scope: str = SCOPE) -> str:
        """Return the path of an authorization request."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
        wanted = {
            "client_id": self.credentials[0],
            "response_type": "code",
            "redirect_uri": REDIRECT_URI,
            "scope": scope,
            "state": "bench",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{self._at.authorization}?{urlencode(wanted)}"

    def flow(self) -> Answer:
        """Send the three requests of the code flow."""
        return self._backend.get(self._at.userinfo, bearer(self.tokens()["access_token"]))

    def refresh(self) -> Callable[[], object]:
        """Return what exchanges the refresh token of the exchange before."""
        token = self.tokens(f"{SCOPE} offline_access")["refresh_token"]

        def send() -> None:
            nonlocal token
            grant = {"grant_type": "refresh_token", "refresh_token": token}
            token = self._backend.send_form(self._at.token, grant).json()["refresh_token"]

        return send


class OpenidService(RelyingParty):
    """A service of an organization, and the browser of its user, who manages services there."""

    def __init__(self, server: RunningServer, organization: str, email: str) -> None:
        self.owner = people.sign_in(server, email)["access_token"]
        self.path = f"/api/organizations/{organization}/services/{SERVICE}"
        wanted = {"slug": SERVICE, "name": "Bench", "service_type": "web", "redirect_uris": [REDIRECT_URI]}
        made = json.loads(server.post(f"/api/organizations/{organization}/services", wanted, token=self.owner))
        self._server = server
        super().__init__(
            server, _browser(server, email), (made["service"]["client_id"], made["client_secret"]), Endpoints()
        )

    def of_user(self, email: str) -> RelyingParty:
        """Return the same service with connections of its own, and the browser of another user, who has used it."""
        browser = _browser(self._server, email)
        user = RelyingParty(self._server, browser, self.credentials, Endpoints())
        browser.send_form("/auth/authorize/allow", browser.hidden_fields(user.request()))
        return user


class Workload:
    """A program that authenticates as the service without a secret, with the keys of its issuer known."""

    def __init__(self, server: RunningServer, service: OpenidService) -> None:
        self._client = Client(server)
        self._grant = {
            "grant_type": "client_credentials",
            "client_id": service.credentials[0],
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            "client_assertion": _let_program_in(server, service.path, service.owner),
        }

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def token(self) -> Answer:
        """Get a token for the service itself."""
        return self._client.send_form("/auth/token", self._grant)


def openid(say: Say) -> list[StandingFigure]:
    """Send each kind of request many times, several times over."""
    flows: list[float] = []
    introspections: list[float] = []
    client_tokens: list[float] = []
    workload_tokens: list[float] = []
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder:
        data = Path(folder) / "data"
        with servers.service(data) as started:
            server = people.seed_users(started, data, say)
            with (
                closing(OpenidService(server, slug(0), address(0))) as service,
                closing(Workload(server, service)) as workload,
            ):
                introspection = service.introspection()
                for _ in range(ROUNDS):
                    nothing = _cost_ms(server, service.nothing, REQUESTS)
                    flows.append(_cost_ms(server, service.flow, FLOWS))
                    introspections.append(_cost_ms(server, introspection, REQUESTS) - nothing)
                    client_tokens.append(_cost_ms(server, service.client_token, REQUESTS) - nothing)
                    workload_tokens.append(_cost_ms(server, workload.token, REQUESTS) - nothing)
                    say(
                        f"openid: {flows[-1]:.2f} ms a flow, {introspections[-1]:.2f} ms an introspection,"
                        f" {client_tokens[-1]:.2f} ms a token of a client, {workload_tokens[-1]:.2f} ms of a workload"
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
        StandingFigure(
            name="token of a workload: processor time beyond /health",
            unit="ms",
            values=Spread.of(workload_tokens),
            maximum=WORKLOAD_MS_MAX,
        ),
    ]


def _browser(server: RunningServer, email: str) -> Client:
    browser = Client(server)
    browser.sign_in(email, PASSWORD)
    return browser


def _let_program_in(server: RunningServer, service: str, token: str) -> str:
    """Let a program authenticate as a service, and return the token of its platform."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = json.loads(jwt.get_algorithm_by_name("RS256").to_jwk(key.public_key()))
    rule = {"name": "Bench", "issuer": ISSUER, "match": {"sub": "bench"}, "jwks": {"keys": [_plain(public)]}}
    server.post(f"{service}/workloads", rule, token=token)
    issued_at = int(time.time())
    claims = {
        "iss": ISSUER,
        "sub": "bench",
        "aud": f"http://{servers.HOST}:{server.port}",
        "iat": issued_at,
        "exp": issued_at + 3600,
    }
    return jwt.encode(claims, key, "RS256")


def _plain(key: dict[str, Any]) -> dict[str, str]:
    return {name: key[name] for name in ("kty", "n", "e")}


def _cost_ms(server: RunningServer, send: Callable[[], Answer], times: int) -> float:
    """Return the processor time of the server for one of these, in milliseconds."""
    send()
    used = cpu_seconds(server.roots)
    for _ in range(times):
        send()
    return 1000 * (cpu_seconds(server.roots) - used) / times
