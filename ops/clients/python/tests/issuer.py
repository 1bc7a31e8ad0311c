"""An issuer over loopback, as a Gatehouse of another machine: discovery, keys, tokens, introspection."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

CLIENT_ID = "01890a5d-ac96-7000-b570-c68bbc2c495c"
SECRET = "the secret of the service"
WAIT_SECONDS_MAX = 60.0
KINDS = {
    "RSA": (lambda: rsa.generate_private_key(65537, 2048), RSAAlgorithm.to_jwk, "RS256"),
    "EC": (lambda: ec.generate_private_key(ec.SECP256R1()), ECAlgorithm.to_jwk, "ES256"),
    "OKP": (ed25519.Ed25519PrivateKey.generate, OKPAlgorithm.to_jwk, "EdDSA"),
}


@cache
def private_key(kind: str, number: int) -> Any:
    """Return a private key, made once for all tests, because one of RSA takes a while."""
    return KINDS[kind][0]()


@dataclass
class Key:
    """A key pair, with the id that is published. Keys of one kind and number differ in their id alone."""

    kind: str = "RSA"
    number: int = 0
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        _, self._to_jwk, self.algorithm = KINDS[self.kind]
        self.private: Any = private_key(self.kind, self.number)

    @property
    def jwk(self) -> dict[str, Any]:
        """The public part, as it is published."""
        return {**self._to_jwk(self.private.public_key(), as_dict=True), "kid": self.id, "use": "sig"}

    def sign(self, claims: dict[str, Any], *, typ: str = "at+jwt", algorithm: str | None = None, **header: Any) -> str:
        """Return a signed token."""
        named = {"typ": typ, "kid": self.id, **header}
        return jwt.encode(claims, self.private, algorithm or self.algorithm, headers=named)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.time = 1_800_000_000.0

    def __call__(self) -> float:
        return self.time

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.time += seconds


@dataclass
class Issuer:
    """The state of the issuer, and the requests that came. `answers` replaces what a path answers: status, body."""

    clock: Clock
    url: str = ""
    keys: list[Any] = field(default_factory=lambda: [Key()])
    is_away: bool = False
    requests: list[str] = field(default_factory=list)
    forms: list[dict[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    answers: dict[str, Callable[[], tuple[int, Any, dict[str, str]]]] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    # Held while a request is answered: a test that takes it holds answers back.
    gate: threading.Lock = field(default_factory=threading.Lock)
    arrived: threading.Condition = field(default_factory=threading.Condition)

    def count(self, path: str) -> int:
        """Return how many requests there were for a path."""
        return self.requests.count(path)

    def wait_for(self, path: str, count: int) -> None:
        """Return when this many requests for a path have come."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: self.count(path) >= count, WAIT_SECONDS_MAX), "too few requests came"

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Return the claims of an access token; a change to None leaves one out."""
        at = int(self.clock())
        claims = {
            "iss": self.url,
            "aud": CLIENT_ID,
            "sub": "ann",
            "email": "ann@example.com",
            "sid": "the session",
            "client_id": CLIENT_ID,
            "iat": at,
            "exp": at + 900,
            "jti": uuid.uuid4().hex,
            "auth_time": at,
            "amr": ["pwd"],
            "scope": "openid email read:things",
        } | changes
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, **changes: Any) -> str:
        """Return an access token."""
        return self.keys[0].sign(self.claims(**changes))

    def id_token(self, access_token: str, **changes: Any) -> str:
        """Return an ID token that belongs to an access token."""
        digest = hashlib.sha256(access_token.encode()).digest()
        at_hash = base64.urlsafe_b64encode(digest[:16]).decode().rstrip("=")
        claims = self.claims(**({"scope": None, "client_id": None, "at_hash": at_hash} | changes))
        return self.keys[0].sign(claims, typ="JWT")

    def document(self) -> dict[str, Any]:
        """Return the discovery document."""
        return {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/.well-known/jwks.json",
            "authorization_endpoint": f"{self.url}/auth/authorize",
            "token_endpoint": f"{self.url}/auth/token",
            "introspection_endpoint": f"{self.url}/auth/introspect",
            "end_session_endpoint": f"{self.url}/auth/logout",
        } | self.metadata

    def answer(self, path: str) -> tuple[int, Any, dict[str, str]]:
        """Return status, body and headers for a path."""
        if self.is_away:
            return 503, {}, {}
        if path in self.answers:
            return self.answers[path]()
        if path == "/.well-known/openid-configuration":
            return 200, self.document(), {}
        if path == "/.well-known/jwks.json":
            return 200, {"keys": [key if isinstance(key, dict) else key.jwk for key in self.keys]}, {}
        return 404, {}, {}


@contextmanager
def serving(clock: Clock) -> Generator[Issuer]:
    """Serve an issuer on a free port of loopback."""
    issuer = Issuer(clock)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            with issuer.arrived:
                issuer.requests.append(path)
                issuer.arrived.notify_all()
            issuer.headers.append(dict(self.headers))
            issuer.bodies.append(body)
            if self.headers.get("content-type") == "application/x-www-form-urlencoded":
                issuer.forms.append({name: values[0] for name, values in parse_qs(body.decode()).items()})
            with issuer.gate:
                status, answer, headers = issuer.answer(self.path if self.path in issuer.answers else path)
            content = b"" if status == 204 else json.dumps(answer).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name comes from the base class
            """Stay silent."""

    for method in ("POST", "PUT", "PATCH", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.do_GET)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    issuer.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
