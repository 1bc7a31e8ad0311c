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
from collections.abc import Callable
from contextlib import closing
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
# 1.3 times that of a token by secret (issue 48).
WORKLOAD_MS_MAX: Final = 1.3
ISSUER: Final = "https://issuer.example"
SERVICE: Final = "bench"
REDIRECT_URI: Final = "https://shop.example/callback"
VERIFIER: Final = "a-code-verifier-of-the-benchmark-with-enough-characters"


class OpenidService:
    """A service of an organization, and the browser of its user, who manages services there."""

    def __init__(self, server: RunningServer, organization: str, email: str) -> None:
        self.owner = people.sign_in(server, email)["access_token"]
        self.path = f"/api/organizations/{organization}/services/{SERVICE}"
        wanted = {"slug": SERVICE, "name": "Bench", "service_type": "web", "redirect_uris": [REDIRECT_URI]}
        made = json.loads(server.post(f"/api/organizations/{organization}/services", wanted, token=self.owner))
        self.client_id = made["service"]["client_id"]
        credentials = base64.b64encode(f"{self.client_id}:{made['client_secret']}".encode()).decode()
        self._backend = Client(server, {"Authorization": f"Basic {credentials}"})
        self._browser = Client(server)
        self._browser.sign_in(email, PASSWORD)
        self._token = self.client_token().json()["access_token"]

    def close(self) -> None:
        """Close the connections."""
        self._backend.close()
        self._browser.close()

    def nothing(self) -> Answer:
        """Send a request that costs only what every request costs."""
        return self._backend.get(HEALTH_PATH)

    def client_token(self) -> Answer:
        """Get a token for the service itself."""
        return self._backend.send_form("/auth/token", {"grant_type": "client_credentials"})

    def introspection(self) -> Answer:
        """Ask about that token."""
        return self._backend.send_form("/auth/introspect", {"token": self._token})

    def flow(self) -> Answer:
        """Send the three requests of the code flow."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
        wanted = {
            "client_id": self.client_id,
            "response_type": "code",
            "redirect_uri": REDIRECT_URI,
            "scope": "openid email",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        back = self._browser.get(f"/auth/authorize?{urlencode(wanted)}")
        [code] = parse_qs(urlsplit(back.location or "").query)["code"]
        grant = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": REDIRECT_URI,
            "code_verifier": VERIFIER,
        }
        token = self._backend.send_form("/auth/token", grant).json()["access_token"]
        return self._backend.get("/auth/userinfo", bearer(token))


class Workload:
    """A program that authenticates as the service without a secret, with the keys of its issuer known."""

    def __init__(self, server: RunningServer, service: OpenidService) -> None:
        self._client = Client(server)
        self._grant = {
            "grant_type": "client_credentials",
            "client_id": service.client_id,
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
                for _ in range(ROUNDS):
                    nothing = _cost_ms(server, service.nothing, REQUESTS)
                    flows.append(_cost_ms(server, service.flow, FLOWS))
                    introspections.append(_cost_ms(server, service.introspection, REQUESTS) - nothing)
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
