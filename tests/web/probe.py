"""Helpers for tests of HTTP itself: an installation without a database, and requests sent exactly as written.

Each test declares its own routes, so that it tests the handling of every request and not a capability.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

import trio
from quart.utils import decode_headers
from werkzeug.datastructures import Headers

from actors.audit_tails import MemoryAuditTails
from actors.event_sequencer import MemoryFeedWaiters
from adapters.crypto.json_web_signatures import JsonWebSignatures
from adapters.crypto.passwords import Argon2PasswordHasher
from adapters.crypto.randomness import SystemRandomness
from adapters.crypto.tokens import JwtTokenSigner, SigningKeyRing
from adapters.domain_names import IdnaDomainNames
from adapters.gateways.key_sets import HttpKeySets
from adapters.gateways.outbound import outbound_client
from adapters.gateways.sandbox_billing import SandboxGateway
from adapters.gateways.siem_sender import HttpSiemSender
from adapters.gateways.smtp import RoutingSmtpGateway
from adapters.pictures import RebuildingCleaner
from adapters.prometheus import PrometheusMetrics
from adapters.qr_codes import SegnoQrCodes
from adapters.resolver import DnsResolver
from adapters.saml.messages import LxmlSamlMessages
from core.sessions.origins import Origin
from core.sessions.signing_keys import KeyPair, KeyState, SigningKey
from entrypoints import equipment
from entrypoints.installation import Installation
from entrypoints.settings import Settings
from entrypoints.upstream_settings import external_providers
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.rate_limiting import RateLimiter
from entrypoints.web.serving.routes import Routes
from tests.application import (
    CHEAP,
    NO_NAME_SERVER,
    VERSION,
    ReportedActors,
    connection_gateway,
    event_receiver,
    mail_renderer,
    saml_connection_gateway,
    upstream_gateway,
)
from tests.clock import SettableClock
from tests.mailboxes import RecordedMailboxes

PEER = "203.0.113.7"


@dataclass(frozen=True)
class Answer:
    """The response of the application, with repeated headers."""

    status: int
    headers: Headers
    content: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.content)

    @property
    def code(self) -> str:
        """The error code."""
        return self.json["error_code"]

    @property
    def fields(self) -> list[str]:
        """The names of the invalid fields."""
        return [problem["field"] for problem in self.json["details"]]


class NoDatabase:
    """The port `Database` for tests that must not use one."""

    def on_behalf_of(
        self,
        origin: Origin,
        session_id: object = None,
        client_id: object = None,
        api_key: object = None,
        scim_token: object = None,
        organization_credential: object = None,
        use: object = None,
    ) -> NoDatabase:
        """Return the same database."""
        return self

    async def transact(self, use_case: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Fail: the test must not get here."""
        raise AssertionError("a test of HTTP itself used the database")

    read = step = transact


class CountedKeyRefresh:
    """The port `KeyRefresh` for tests: counts its calls, and may load keys."""

    def __init__(self, ring: SigningKeyRing, brings: Sequence[SigningKey] = ()) -> None:
        self.calls = 0
        self._ring = ring
        self._brings = brings

    async def catch_up(self) -> None:
        """Count the call, and load the keys."""
        self.calls += 1
        if self._brings:
            self._ring.load(self._brings)


def make_installation(settings: Settings | None = None, *, clock: SettableClock | None = None) -> Installation:
    """Return an installation without a database and without keys."""
    settings, clock, ring = settings or Settings(), clock or SettableClock(), SigningKeyRing()
    billing = SandboxGateway(database=NoDatabase(), base_url=settings.base_url)
    return Installation(
        settings=settings,
        version=VERSION,
        clock=clock,
        machine_clock=clock,
        database=NoDatabase(),
        metrics=PrometheusMetrics(version=VERSION),
        actors=ReportedActors(),
        tokens=JwtTokenSigner(ring, issuer=settings.base_url, randomness=SystemRandomness()),
        key_refresh=CountedKeyRefresh(ring),
        signatures=JsonWebSignatures(),
        key_sets=HttpKeySets(outbound_client(())),
        passwords=Argon2PasswordHasher(places=1, cost=CHEAP),
        password_rules=equipment.password_rules(settings),
        domain_names=IdnaDomainNames(),
        qr_codes=SegnoQrCodes(),
        mail_renderer=mail_renderer(settings.base_url),
        saml=LxmlSamlMessages(processors=1),
        routing_gateway=RoutingSmtpGateway(settings.outbound_allowed, clock=clock),
        pictures=RebuildingCleaner(),
        resolver=DnsResolver(NO_NAME_SERVER),
        billing=billing,
        billing_receiver=event_receiver(billing, clock, NoDatabase()),
        feed_waiters=MemoryFeedWaiters(),
        audit_tails=MemoryAuditTails(RecordedMailboxes()),
        external_providers=external_providers(settings),
        upstream=upstream_gateway(clock),
        upstream_connections=connection_gateway(clock),
        saml_connections=saml_connection_gateway(),
        siem_sender=HttpSiemSender(outbound_client(settings.outbound_allowed), version=VERSION),
    )


def with_keys(
    installation: Installation, known: Sequence[SigningKey], *, stored: Sequence[SigningKey] = ()
) -> Installation:
    """Return an installation that knows these keys, and that finds the stored ones when it refreshes them."""
    ring = SigningKeyRing()
    ring.load(known)
    tokens = JwtTokenSigner(ring, issuer=installation.settings.base_url, randomness=SystemRandomness())
    return replace(installation, tokens=tokens, key_refresh=CountedKeyRefresh(ring, stored))


def active_key(pair: KeyPair) -> SigningKey:
    """Return the active signing key of a key pair."""
    return SigningKey(
        kid=pair.kid,
        state=KeyState.ACTIVE,
        public_pem=pair.public_pem,
        private_pem=pair.private_pem,
        created_at=SettableClock().now,
    )


def serving(
    routes: Routes,
    settings: Settings | None = None,
    *,
    installation: Installation | None = None,
    rate_limiter: RateLimiter | None = None,
) -> Application:
    """Return an application with these routes."""
    return Application(installation or make_installation(settings), routes.routes, rate_limiter=rate_limiter)


async def ask(
    application: Application,
    method: str,
    target: str,
    *,
    body: Any = None,
    data: bytes | Sequence[bytes] = b"",
    headers: Mapping[str, str] | None = None,
    more_headers: Sequence[tuple[bytes, bytes]] = (),
    peer: str | None = PEER,
    scheme: str = "http",
    is_complete: bool = True,
) -> Answer:
    """Send a request as a server would pass it on, and return the response.

    The body is `body` as JSON, or `data` unchanged: in one piece with its length, or in several without. Without
    `is_complete`, the end of the body never arrives.
    """
    sent = [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()] + list(more_headers)
    if body is not None:
        data = json.dumps(body).encode()
        sent.append((b"content-type", b"application/json"))
    if isinstance(data, bytes) and data:
        sent.append((b"content-length", str(len(data)).encode()))

    scope = http_scope(method, target, headers=sent, peer=peer, scheme=scheme)
    sending, receiving = trio.open_memory_channel[dict[str, Any]](math.inf)
    for piece in [data] if isinstance(data, bytes) else data:
        sending.send_nowait({"type": "http.request", "body": piece, "more_body": True})
    if is_complete:
        sending.send_nowait({"type": "http.request", "body": b"", "more_body": False})
    return await _exchange(application, scope, receiving.receive)


def http_scope(
    method: str,
    target: str,
    *,
    headers: Sequence[tuple[bytes, bytes]] = (),
    peer: str | None = PEER,
    scheme: str = "http",
) -> dict[str, Any]:
    """Return the ASGI scope of a request."""
    path, _, query = target.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.1"},
        "http_version": "1.1",
        "method": method,
        "scheme": scheme,
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": list(headers),
        "client": (peer, 50_000) if peer is not None else None,
        "server": ("127.0.0.1", 8000),
        "extensions": {},
    }


async def _exchange(application: Application, scope: Any, receive: Any) -> Answer:
    messages: list[Any] = []

    async def send(message: Any) -> None:
        messages.append(message)

    await application(scope, receive, send)
    start, *rest = messages
    return Answer(
        status=start["status"],
        headers=decode_headers(start["headers"]),
        content=b"".join(message["body"] for message in rest),
    )
