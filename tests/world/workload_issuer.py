"""An issuer of the tokens of workloads: a platform such as GitHub or a cluster, with discovery and keys over HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ed25519

from core.openid.clients import ASSERTION_TYPE
from tests.application import Answer
from tests.kept_keys import elliptic_key, rsa_key
from tests.upstream_provider import Request, serving
from tests.world.world import World

BASE_URL = "http://localhost:8000"
RSA, OTHER_RSA = rsa_key("workload issuer"), rsa_key("other workload issuer")
KEYS: dict[str, Any] = {
    "RS256": RSA,
    "PS256": RSA,
    "ES256": elliptic_key("workload issuer"),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}
JSON = "application/json"


@dataclass
class WorkloadIssuer:
    """The platform: where it is, which keys it publishes, and what it was asked."""

    url: str = ""
    keys: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    document: dict[str, Any] = field(default_factory=dict[str, Any])
    requests: list[Request] = field(default_factory=list[Request])
    # Its keys come in place of this, and only when the event is set.
    body: bytes | None = None
    waiting: threading.Event | None = None
    is_away: bool = False

    def answer(self, request: Request, path: str, _authorization: str) -> tuple[int, str, bytes]:
        """Return status, content type and body of an answer."""
        self.requests.append(request)
        if self.is_away:
            return 503, JSON, b"{}"
        if path == "/.well-known/openid-configuration":
            document = {"issuer": self.url, "jwks_uri": f"{self.url}/keys", **self.document}
            return 200, JSON, json.dumps(document).encode()
        if self.waiting is not None:
            self.waiting.wait(60)
        return 200, JSON, json.dumps({"keys": self.keys}).encode() if self.body is None else self.body

    def token(self, world: World, *, key: Any = RSA, algorithm: str = "RS256", kid: str = "1", **claims: Any) -> str:
        """Return a token of now for our issuer, with these claims; None leaves one out."""
        now = int(world.clock().timestamp())
        said = {
            "iss": self.url,
            "aud": BASE_URL,
            "sub": "job-1",
            "iat": now,
            "nbf": now,
            "exp": now + 300,
            **claims,
        }
        said = {name: value for name, value in said.items() if value is not None}
        return jwt.encode(said, key, algorithm, headers={"kid": kid})


def public_key(key: Any, algorithm: str = "RS256", kid: str = "1") -> dict[str, Any]:
    """Return the public part of a key as a JSON Web Key."""
    as_text = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key())
    return {**json.loads(as_text), "kid": kid, "use": "sig"}


@contextmanager
def running_issuer() -> Generator[WorkloadIssuer]:
    """Run an issuer on a free port, with the key `RSA`."""
    issuer = WorkloadIssuer(keys=[public_key(RSA)])
    with serving(issuer.answer) as url:
        issuer.url = url
        yield issuer


async def ask(world: World, client_id: object, assertion: str, *, proof: str | None = None, **fields: Any) -> Answer:
    """Ask for a token by the token of another issuer, perhaps one that is bound to the key of a proof."""
    sent = {
        "grant_type": "client_credentials",
        "client_id": str(client_id),
        "client_assertion_type": ASSERTION_TYPE,
        "client_assertion": assertion,
        **fields,
    }
    headers = {"DPoP": proof} if proof is not None else {}
    return await world.client.post("/auth/token", body=sent, headers=headers)
