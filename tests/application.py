"""The whole application for tests: every port connected to the test's own database, and a client of the application.

`installation` is what handlers receive; a test that needs a different one makes it with `dataclasses.replace` and
passes it to `serving`. `client` sends requests to all routes, also of development mode.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, cast

import pytest

from actors.audit_tails import MemoryAuditTails
from actors.event_sequencer import MemoryFeedWaiters
from adapters.crypto.json_web_signatures import JsonWebSignatures
from adapters.crypto.passwords import Argon2Cost, Argon2PasswordHasher
from adapters.crypto.tokens import JwtTokenSigner, SigningKeyRing
from adapters.domain_names import IdnaDomainNames
from adapters.gateways.key_sets import HttpKeySets
from adapters.gateways.mail_renderer import JinjaMailRenderer
from adapters.gateways.outbound import EVERYWHERE, outbound_client
from adapters.gateways.sandbox_billing import SandboxGateway
from adapters.gateways.siem_sender import HttpSiemSender
from adapters.gateways.smtp import RoutingSmtpGateway
from adapters.gateways.upstream import HttpUpstreamGateway
from adapters.gateways.upstream_connections import HttpConnectionGateway
from adapters.gateways.upstream_requests import UpstreamRequests
from adapters.gateways.upstream_saml import HttpSamlConnectionGateway
from adapters.pictures import RebuildingCleaner
from adapters.postgres.database import PostgresDatabase
from adapters.prometheus import PrometheusMetrics
from adapters.qr_codes import SegnoQrCodes
from adapters.resolver import DnsResolver
from adapters.saml.messages import LxmlSamlMessages
from core.secrets import Secret
from core.sessions import signing_keys
from core.sessions.security_profiles import SignatureAlgorithm
from core.sessions.signing_keys import KeyPair, SigningKey
from entrypoints import capabilities, equipment
from entrypoints.event_receiver import EventReceiver
from entrypoints.installation import Installation
from entrypoints.pages.frame.languages import LANGUAGES
from entrypoints.settings import LOOPBACK, Settings
from entrypoints.upstream_settings import external_providers
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.rate_limiting import RateLimiter
from entrypoints.web.serving.routes import Route
from ports.actors import ActorReport, Actors
from ports.billing.gateway import BillingGateway
from ports.clock import Clock
from ports.database import Database
from ports.sessions.tokens import KeyRing
from tests.answered_secrets import assert_answers_no_secret
from tests.clock import SettableClock
from tests.documented import assert_documented
from tests.ids import FollowingRandomness
from tests.mailboxes import RecordedMailboxes
from tests.reused_metrics import new_metrics
from tests.secret_watch import WATCH
from tests.signing_keys import key_pair

VERSION = "1.2.3"
PORT = 50_000
_ORIGIN = re.compile(r"^https?://[^/]+")
BILLING_WEBHOOK_SECRET = Secret("whsec_of_the_tests")
CHEAP = Argon2Cost(memory_kib=8, passes=1)

# Nothing listens at this port, so that no test asks the name servers of its machine.
NO_NAME_SERVER = ("127.0.0.1", 9)


def ageless_ring() -> SigningKeyRing:
    """Return a key ring whose keys never become too old to sign: no actor of these tests loads them again."""
    return SigningKeyRing(monotonic_seconds=lambda: 0.0)


# One for all tests of a process: it caches parsed keys, and parsing takes 30 ms. Each installation loads its own keys.
RING = ageless_ring()


@dataclass(frozen=True)
class Answer:
    """What the application answered."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.content)

    @property
    def invalid_fields(self) -> list[str]:
        """The names of the invalid fields of a refused input."""
        return [problem["field"] for problem in self.json["details"]]

    @property
    def text(self) -> str:
        """The body as text."""
        return self.content.decode()


@dataclass(frozen=True)
class Client:
    """Sends requests to an application without a network."""

    application: Application

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        data: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        token: str | None = None,
        address: str = "127.0.0.1",
    ) -> Answer:
        """Send a request from that address: `body` as JSON or `data` unchanged, `token` as the bearer token."""
        sent = dict(headers or {})
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        WATCH.see_headers(sent)
        WATCH.see(body)
        if body is not None:
            data = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        # As browsers do, which send the path of an address alone.
        path = _ORIGIN.sub("", path)
        response = await self.application.test_client().open(  # pyright: ignore[reportCallIssue] - `json` has a default
            path, method=method, data=data, headers=sent, scope_base={"client": (address, PORT)}
        )
        content = await response.get_data(as_text=False)
        if content and response.mimetype == "application/json" and "Content-Encoding" not in response.headers:
            WATCH.see(json.loads(content))
        answer = Answer(status=response.status_code, headers=response.headers, content=bytes(content))
        # Under another host than the base URL's, a route may not exist, or lead to the base URL.
        if not ("Host" in sent and answer.status in {303, 404}):
            assert_documented(self.application, method, path, answer)
        assert_answers_no_secret(self.application, method, path, answer)
        return answer

    async def get(self, path: str, **options: Any) -> Answer:
        """Send a GET."""
        return await self.request("GET", path, **options)

    async def post(self, path: str, **options: Any) -> Answer:
        """Send a POST."""
        return await self.request("POST", path, **options)

    async def put(self, path: str, **options: Any) -> Answer:
        """Send a PUT."""
        return await self.request("PUT", path, **options)

    async def patch(self, path: str, **options: Any) -> Answer:
        """Send a PATCH."""
        return await self.request("PATCH", path, **options)

    async def delete(self, path: str, **options: Any) -> Answer:
        """Send a DELETE."""
        return await self.request("DELETE", path, **options)


@dataclass
class ReportedActors:
    """The port `Actors` for tests: returns the reports that the test sets."""

    told: list[ActorReport] = field(default_factory=list)

    def reports(self) -> list[ActorReport]:
        """Return the reports."""
        return self.told


@dataclass(frozen=True)
class PromptKeyRefresh:
    """The port `KeyRefresh` for tests: reads the keys immediately instead of waking an actor."""

    database: Database
    ring: KeyRing

    async def catch_up(self) -> None:
        """Read the stored keys."""
        self.ring.load(await self.database.read(signing_keys.published))


@cache
def mail_renderer(base_url: str) -> JinjaMailRenderer:
    """Return a renderer for that base URL; it is cached, because reading the templates takes 40 ms."""
    return JinjaMailRenderer(base_url=base_url, languages=LANGUAGES)


@cache
def all_routes() -> tuple[Route, ...]:
    """Return all routes, also of development mode."""
    return tuple(capabilities.routes(is_development=True))


def serving(installation: Installation, routes: Iterable[Route] | None = None) -> Client:
    """Return a client of an application on this installation, with all routes or only these."""
    return Client(Application(installation, all_routes() if routes is None else routes))


def serving_with_rate_limits(installation: Installation) -> Client:
    """Return a client of an application with rate limits whose buckets never refill, and with limits on mails.

    The limiter's clock stands still, however long the requests of a test take.
    """
    return Client(
        Application(with_mail_limits(installation), all_routes(), rate_limiter=RateLimiter(monotonic=lambda: 0.0))
    )


def with_mail_limits(installation: Installation) -> Installation:
    """Return the installation with the limits that are counted in the database."""
    database = cast("PostgresDatabase", installation.database)
    limited = replace(database, tools=replace(database.tools, has_rate_limits=True))
    return replace(installation, database=limited)


@pytest.fixture(scope="session")
def key_pairs() -> tuple[KeyPair, KeyPair]:
    """Two key pairs, which all tests share, because making them is slow."""
    return key_pair(0), key_pair(1)


def elliptic_key_pairs() -> tuple[KeyPair, KeyPair]:
    """Two key pairs of the other kind, for services with a security profile."""
    return key_pair(0, SignatureAlgorithm.ES256), key_pair(1, SignatureAlgorithm.ES256)


@pytest.fixture
def settings() -> Settings:
    """The default settings with a contact, in development mode and without rate limits, which have their own tests."""
    return Settings(dev=True, rate_limits=False, security_contact="mailto:security@example.com")


@pytest.fixture
def actors() -> ReportedActors:
    """Actors whose reports the test sets."""
    return ReportedActors()


@pytest.fixture
def installation(
    database: PostgresDatabase,
    clock: SettableClock,
    settings: Settings,
    actors: ReportedActors,
    stored_signing_keys: Sequence[SigningKey],
) -> Installation:
    """A connected installation with signing keys."""
    WATCH.add(*(key.private_pem.reveal() for key in stored_signing_keys))
    RING.load(stored_signing_keys)
    return _installation(database, clock, settings, actors, RING, new_metrics(VERSION))


@pytest.fixture
def application(installation: Installation) -> Application:
    """The application with every route."""
    return Application(installation, all_routes())


@pytest.fixture
def client(application: Application) -> Client:
    """A client of the application."""
    return Client(application)


async def connected_installation(
    database: PostgresDatabase,
    clock: Clock,
    settings: Settings,
    actors: Actors,
    key_pairs: tuple[KeyPair, KeyPair],
    *,
    ring: SigningKeyRing,
) -> Installation:
    """Return an installation on a database without signing keys, and store these there."""
    await database.transact(signing_keys.ensure, *key_pairs)
    await database.transact(signing_keys.ensure, *elliptic_key_pairs())
    ring.load(await database.read(signing_keys.published))
    return _installation(database, clock, settings, actors, ring, PrometheusMetrics(version=VERSION))


def _installation(
    database: PostgresDatabase,
    clock: Clock,
    settings: Settings,
    actors: Actors,
    ring: SigningKeyRing,
    metrics: PrometheusMetrics,
) -> Installation:
    """Return an installation connected as by `main.py`, as far as requests depend on it."""
    billing = SandboxGateway(database=database, base_url=settings.base_url)
    return Installation(
        settings=settings,
        version=VERSION,
        clock=clock,
        machine_clock=clock,
        database=database,
        metrics=metrics,
        actors=actors,
        tokens=JwtTokenSigner(ring, issuer=settings.base_url, randomness=FollowingRandomness(clock)),
        key_refresh=PromptKeyRefresh(database, ring),
        signatures=JsonWebSignatures(),
        key_sets=HttpKeySets(outbound_client(settings.outbound_allowed)),
        passwords=Argon2PasswordHasher(places=1, cost=CHEAP),
        password_rules=equipment.password_rules(settings),
        domain_names=IdnaDomainNames(),
        qr_codes=SegnoQrCodes(),
        mail_renderer=mail_renderer(settings.base_url),
        saml=LxmlSamlMessages(processors=2),
        routing_gateway=RoutingSmtpGateway(settings.outbound_allowed, clock=clock),
        pictures=RebuildingCleaner(),
        resolver=equipment.resolver(settings) if settings.dns_server is not None else DnsResolver(NO_NAME_SERVER),
        billing=billing,
        billing_receiver=event_receiver(billing, clock, database),
        feed_waiters=MemoryFeedWaiters(),
        audit_tails=MemoryAuditTails(RecordedMailboxes()),
        external_providers=external_providers(settings),
        upstream=upstream_gateway(clock),
        upstream_connections=connection_gateway(clock),
        saml_connections=saml_connection_gateway(takes_cbc=settings.saml_aes_cbc),
        platform=equipment.platform_brand_of(settings),
        siem_sender=HttpSiemSender(outbound_client(settings.outbound_allowed), version=VERSION),
    )


def connection_gateway(clock: Clock, **options: Any) -> HttpConnectionGateway:
    """Return a gateway to the providers of connections on this machine."""
    return HttpConnectionGateway(UpstreamRequests(outbound_client(LOOPBACK), version=VERSION), clock=clock, **options)


def saml_connection_gateway(**options: Any) -> HttpSamlConnectionGateway:
    """Return a gateway to the SAML identity providers of connections on this machine."""
    requests = UpstreamRequests(outbound_client(LOOPBACK), version=VERSION)
    return HttpSamlConnectionGateway(requests, processors=1, **options)


def upstream_gateway(clock: Clock, **options: Any) -> HttpUpstreamGateway:
    """Return a gateway to providers on this machine."""
    return HttpUpstreamGateway(UpstreamRequests(outbound_client(EVERYWHERE), version=VERSION), clock=clock, **options)


def event_receiver(billing: BillingGateway, clock: Clock, database: Database) -> EventReceiver:
    """Return the receiver of the events of a payment provider, with the secret of the tests."""
    return EventReceiver(mode=billing.mode, secret=lambda: BILLING_WEBHOOK_SECRET, clock=clock, database=database)
