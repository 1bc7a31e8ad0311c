"""The off-switch over several processes: what has ended is refused by each of them, from its first request on."""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import pytest

from adapters.postgres.driver.connection import Connection
from tests.clock import SettableClock
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET, OpenIdProvider, running_openid_provider
from tests.processes import Answer, Service, Services
from tests.world.builder import PASSWORD, Builder
from tests.world.revocations import BASE_URL, revocation_path, signed_revocation

pytestmark = pytest.mark.long

PROCESSES = 4
ADA, BOB, ANN = "ada@acme.example", "bob@acme.example", "ann@acme.example"


@dataclass
class Fleet:
    """Processes on one database, which take turns."""

    processes: list[Service]
    sent: int = 0

    def send(self, method: str, path: str, body: Any = None, *, token: str = "", process: int | None = None) -> Answer:
        """Send a request to a process, by default to the one whose turn it is."""
        self.sent += 1
        service = self.processes[(self.sent if process is None else process) % len(self.processes)]
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return service.request(method, path, headers=headers, body=None if body is None else json.dumps(body).encode())

    def sign_in(self, email: str, **target: str) -> dict[str, Any]:
        """Return the tokens of a sign-in by password."""
        answer = self.send("POST", "/api/auth/login", {"email": email, "password": PASSWORD, **target})
        assert answer.status == 200, answer.content
        return answer.json

    def uses(self, tokens: dict[str, Any]) -> list[int]:
        """Return what each process answers to an access token."""
        return [
            self.send("GET", "/api/user", token=tokens["access_token"], process=number).status
            for number in range(len(self.processes))
        ]

    def refreshes(self, tokens: dict[str, Any]) -> list[int]:
        """Return what each process answers to the refresh token of a session that has ended."""
        body = {"refresh_token": tokens["refresh_token"]}
        return [
            self.send("POST", "/api/auth/refresh", body, process=number).status for number in range(len(self.processes))
        ]


@pytest.fixture
def provider() -> Generator[OpenIdProvider]:
    """The identity provider of Acme."""
    with running_openid_provider() as running:
        yield running


@pytest.fixture
def builder(connection: Connection, clock: SettableClock) -> Builder:
    """Acme with its owner Ann, and its members Ada and Bob; Ada is a member of Globex as well."""
    made = Builder(connection, clock)
    acme, globex = made.organization("acme"), made.organization("globex")
    for email, role in ((ANN, "owner"), (ADA, "member"), (BOB, "member")):
        made.member(acme, made.user(email), role)
    made.member(globex, made.user_id(ADA), "member")
    made.mail_domain(acme, "acme.example")
    connection.flush()
    return made


@pytest.fixture
def fleet(builder: Builder, services: Services) -> Fleet:
    """Several processes."""
    settings = {"BASE_URL": BASE_URL, "OUTBOUND_ALLOW": "127.0.0.0/8", "DEV": "on", "RATE_LIMITS": "off"}
    return Fleet([services.ready(DATA_DIR=f"process-{number}", **settings) for number in range(PROCESSES)])


def test_a_revocation_holds_in_every_process_and_its_token_is_used_once_in_all(
    fleet: Fleet, provider: OpenIdProvider
) -> None:
    owner = fleet.sign_in(ANN)["access_token"]
    body = {"type": "oidc", "name": "Acme", "issuer": provider.url, "client_id": CLIENT_ID}
    path = "/api/organizations/acme/upstream-providers"
    made = fleet.send("POST", path, {**body, "client_secret": CLIENT_SECRET}, token=owner)
    assert made.status == 200, made.content
    connection_id = made.json["id"]
    hers, elsewhere, his = (
        fleet.sign_in(ADA, org_slug="acme"),
        fleet.sign_in(ADA, org_slug="globex"),
        fleet.sign_in(BOB, org_slug="acme"),
    )
    token = signed_revocation(provider.url, connection_id)
    subject = {"sub_id": {"format": "email", "email": ADA}}

    answers = [
        fleet.send("POST", revocation_path(connection_id), subject, token=token, process=number)
        for number in range(PROCESSES)
    ]

    assert [answer.status for answer in answers] == [204, *[401] * (PROCESSES - 1)]
    assert fleet.uses(hers) == fleet.refreshes(hers) == [401] * PROCESSES
    assert fleet.uses(elsewhere) == [200] * PROCESSES
    assert fleet.uses(his) == [200] * PROCESSES
    # A lock holds as well, in the session that another process has begun.
    assert fleet.send("POST", "/api/user/lock", token=elsewhere["access_token"]).status == 204
    assert fleet.uses(elsewhere) == fleet.refreshes(elsewhere) == [401] * PROCESSES
    assert fleet.uses(his) == [200] * PROCESSES
