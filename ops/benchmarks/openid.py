"""OpenID Connect: the requests of a client of a provider, and of the browser of its user."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit

from ops.benchmarks import people
from ops.benchmarks.client import Answer, Client, bearer
from ops.benchmarks.servers import RunningServer
from ops.seeding.population import PASSWORD

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
        owner = people.sign_in(server, email)["access_token"]
        wanted = {"slug": SERVICE, "name": "Bench", "service_type": "web", "redirect_uris": [REDIRECT_URI]}
        made = json.loads(server.post(f"/api/organizations/{organization}/services", wanted, token=owner))
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


def _browser(server: RunningServer, email: str) -> Client:
    browser = Client(server)
    browser.sign_in(email, PASSWORD)
    return browser
