"""The off-switch over several processes: what has ended is refused by each of them, from its first request on."""

from __future__ import annotations

import json
import secrets
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import pytest

from adapters.postgres.driver.connection import Connection
from core.secrets import hash_token
from tests.clock import SettableClock
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET, OpenIdProvider, running_openid_provider
from tests.processes import Answer, Service, Services
from tests.world.builder import PASSWORD, Builder
from tests.world.revocations import BASE_URL, revocation_path, signed_revocation

pytestmark = pytest.mark.long

PROCESSES = 4
AT_SHOP: dict[str, str] = {"org_slug": "acme", "service_slug": "shop"}
ADA, BOB, ANN, EVE = "ada@acme.example", "bob@acme.example", "ann@acme.example", "eve@globex.example"


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


@dataclass
class Shop:
    """A service of Acme in several processes, which Ann changes."""

    fleet: Fleet
    owner: str
    client: dict[str, str]

    def change(self, process: int, **changes: Any) -> None:
        """Change the service by one process."""
        path = "/api/organizations/acme/services/shop"
        answer = self.fleet.send("PATCH", path, changes, token=self.owner, process=process)
        assert answer.status == 200, answer.content

    def sign_in(self, email: str, **target: str) -> dict[str, Any]:
        """Return tokens of the service, which were refreshed once."""
        tokens = self.fleet.sign_in(email, **AT_SHOP, **target)
        refreshed = self.refresh(tokens, 0)
        assert refreshed.status == 200, refreshed.content
        return refreshed.json

    def refresh(self, tokens: dict[str, Any], process: int) -> Answer:
        """Send a refresh token as the service."""
        body = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], **self.client}
        return self.fleet.send("POST", "/auth/token", body, process=process)

    def is_active(self, tokens: dict[str, Any]) -> list[bool]:
        """Return what each process tells the service of an access token."""
        body = {"token": tokens["access_token"], **self.client}
        return [
            self.fleet.send("POST", "/auth/introspect", body, process=number).json["active"]
            for number in range(PROCESSES)
        ]

    def assert_open(self, tokens: dict[str, Any]) -> None:
        """Assert that tokens are good in each process."""
        assert self.fleet.uses(tokens) == [200] * PROCESSES
        assert self.is_active(tokens) == [True] * PROCESSES

    def assert_closed(self, tokens: dict[str, Any], *statuses: int) -> None:
        """Assert that tokens are good in no process, although their session may wait for its end."""
        assert set(self.fleet.uses(tokens)) <= {401, *statuses}
        assert self.is_active(tokens) == [False] * PROCESSES
        refused = [self.refresh(tokens, number) for number in range(PROCESSES)]
        assert [(one.status, one.json["error"]) for one in refused] == [(400, "invalid_grant")] * PROCESSES


@pytest.fixture
def shop(builder: Builder, fleet: Fleet) -> Shop:
    """The service, and a stranger, Eve."""
    [(organization_id,)] = builder.connection.execute("SELECT id FROM organizations WHERE slug = 'acme'").fetchall()
    service, secret = builder.service(organization_id, "shop"), secrets.token_urlsafe(32)
    builder.connection.execute("UPDATE services SET client_secret_hash = %s", (hash_token(secret),))
    builder.serve_customers(service, individuals="all")
    builder.user(EVE)
    builder.connection.flush()
    client = {"client_id": str(service.client_id), "client_secret": secret}
    return Shop(fleet, fleet.sign_in(ANN)["access_token"], client)


def test_a_service_that_one_process_closes_is_closed_in_each_with_the_next_request(shop: Shop) -> None:
    for process in range(PROCESSES):
        shop.change(process, access="everyone")
        stranger, member = shop.sign_in(EVE), shop.sign_in(ADA)
        shop.assert_open(stranger)

        shop.change(process, access="members")

        shop.assert_closed(stranger)
        shop.assert_open(member)


def test_an_assignment_that_one_process_removes_is_gone_in_each_with_the_next_request(
    shop: Shop, builder: Builder
) -> None:
    ada, bob = ({"subject": f"user:{builder.user_id(email)}"} for email in (ADA, BOB))
    for process in range(PROCESSES):
        shop.change(process, access="assigned", assignments=[ada, bob])
        hers, his = shop.sign_in(ADA), shop.sign_in(BOB)
        shop.assert_open(hers)

        shop.change(process, assignments=[bob])

        shop.assert_closed(hers)
        shop.assert_open(his)


@dataclass
class MadeCustomer:
    """A customer of the service that Acme has made, whose directory admits Eve."""

    shop: Shop
    id: str
    directory: str

    def change(self, process: int, method: str, path: str = "", body: Any = None) -> None:
        """Change the customer by one process."""
        path = f"/api/organizations/acme/services/shop/customers/{self.id}{path}"
        answer = self.shop.fleet.send(method, path, body, token=self.shop.owner, process=process)
        assert answer.status in {200, 204}, answer.content

    def provisions(self) -> list[int]:
        """Return what each process answers to the directory."""
        fleet = self.shop.fleet
        return [
            fleet.send("GET", "/scim/v2/Users", token=self.directory, process=number).status
            for number in range(PROCESSES)
        ]

    def assert_open(self, tokens: dict[str, Any]) -> None:
        """Assert that each process lets Eve and the directory in."""
        self.shop.assert_open(tokens)
        assert self.provisions() == [200] * PROCESSES

    def assert_closed(self, tokens: dict[str, Any]) -> None:
        """Assert that no process lets them in."""
        self.shop.assert_closed(tokens, 403)
        self.assert_no_directory()

    def assert_no_directory(self) -> None:
        """Assert that no process lets the directory in: its token has gone, or the customer is closed."""
        assert set(self.provisions()) <= {401, 403}


@pytest.fixture
def made(shop: Shop, builder: Builder) -> MadeCustomer:
    """The customer; Eve has confirmed that it admits her."""
    path = "/api/organizations/acme/services/shop/customers"
    customer_id = shop.fleet.send("POST", path, {"name": "Globex"}, token=shop.owner).json["id"]
    body = {"name": "Directory"}
    directory = shop.fleet.send("POST", f"{path}/{customer_id}/scim-tokens", body, token=shop.owner).json["token"]
    added = shop.fleet.send("POST", "/scim/v2/Users", {"userName": EVE, "active": True}, token=directory)
    assert added.status == 201, added.content
    builder.connection.execute("UPDATE memberships SET confirmed_at = created_at WHERE made_for IS NOT NULL")
    builder.connection.flush()
    return MadeCustomer(shop, customer_id, directory)


def test_a_customer_that_one_process_pauses_or_ends_is_closed_in_each_with_the_next_request(made: MadeCustomer) -> None:
    for process in range(PROCESSES):
        hers = made.shop.sign_in(EVE, customer=made.id)
        made.assert_open(hers)

        made.change(process, "PATCH", body={"paused": True})

        made.assert_closed(hers)
        made.change(process, "PATCH", body={"paused": False})
        assert made.provisions() == [200] * PROCESSES

    hers = made.shop.sign_in(EVE, customer=made.id)
    made.change(0, "DELETE")
    made.assert_closed(hers)
    made.change(1, "POST", "/restore")
    again = made.shop.sign_in(EVE, customer=made.id)
    made.assert_open(again)


def test_a_vendor_that_is_suspended_is_closed_in_each_process_with_the_next_request(
    made: MadeCustomer, builder: Builder
) -> None:
    hers = made.shop.sign_in(EVE, customer=made.id)
    made.assert_open(hers)

    builder.connection.execute("UPDATE organizations SET status = 'suspended' WHERE slug = 'acme'")
    builder.connection.flush()

    assert set(made.shop.fleet.uses(hers)) <= {401, 403}
    made.assert_no_directory()
    builder.connection.execute("UPDATE organizations SET status = 'active' WHERE slug = 'acme'")
    builder.connection.flush()
    assert made.provisions() == [200] * PROCESSES


def test_a_part_that_the_owner_takes_away_is_closed_in_each_process_with_the_next_request(
    made: MadeCustomer, builder: Builder
) -> None:
    query = "SELECT organization_id FROM service_customers WHERE id = %s"
    [(organization_id,)] = builder.connection.execute(query, (made.id,)).fetchall()
    builder.connection.execute(
        "UPDATE organizations SET is_unclaimed = false, status = 'active' WHERE id = %s", (organization_id,)
    )
    builder.connection.execute("UPDATE service_customers SET vendor_setup = '{scim}' WHERE id = %s", (made.id,))
    builder.member(organization_id, builder.user_id(BOB), "owner")
    builder.connection.flush()
    [(slug,)] = builder.connection.execute(
        "SELECT slug FROM organizations WHERE id = %s", (organization_id,)
    ).fetchall()
    assert made.provisions() == [200] * PROCESSES
    owner = made.shop.fleet.sign_in(BOB, org_slug=slug)["access_token"]

    path = f"/api/organizations/{slug}/products/{made.shop.client['client_id']}"
    answer = made.shop.fleet.send("PATCH", path, {"vendor_setup": []}, token=owner, process=2)

    assert answer.status == 200, answer.content
    made.assert_no_directory()
