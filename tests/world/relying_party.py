"""A relying party: an organization's service as a client of OAuth, with the requests that it sends."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from core.openid import requests, token_grants
from core.secrets import hash_token
from core.sessions import refresh
from ports.unit_of_work import UnitOfWork
from tests.application import Answer
from tests.world.builder import EMAIL
from tests.world.signing_in import claims_of
from tests.world.world import World

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
REDIRECT_URI = "https://shop.example/callback"
VERIFIER = "correct-horse-battery-staple-correct-horse-battery"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
PKCE = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}
BASE_URL = "http://localhost:8000"


@dataclass(frozen=True)
class RelyingParty:
    """A service of an organization; a confidential one has a secret."""

    world: World
    organization_id: UUID
    service_id: UUID
    client_id: UUID
    slug: str = "acme"
    service_slug: str = "shop"
    secret: str | None = None

    @property
    def basic(self) -> dict[str, str]:
        """The header that authenticates the service."""
        value = base64.b64encode(f"{self.client_id}:{self.secret}".encode()).decode()
        return {"Authorization": f"Basic {value}"}

    async def post(self, path: str, fields: dict[str, Any], headers: dict[str, str] | None = None) -> Answer:
        """Send a form, authenticated if the service is confidential, else with the client id."""
        known = self.basic if self.secret is not None and headers is None else {}
        named = {} if self.secret is not None else {"client_id": str(self.client_id)}
        return await self.send(path, {**named, **fields}, {**known, **(headers or {})})

    async def send(self, path: str, fields: dict[str, Any], headers: dict[str, str] | None = None) -> Answer:
        """Send a form with exactly these fields and headers."""
        data = urlencode(fields, doseq=True).encode()
        return await self.world.client.post(path, data=data, headers={**FORM, **(headers or {})})

    async def token(self, grant_type: str, headers: dict[str, str] | None = None, **fields: str) -> Answer:
        """Send a grant to the token endpoint."""
        return await self.post("/auth/token", {"grant_type": grant_type, **fields}, headers)

    async def code(self, **parameters: str) -> str:
        """Return a code for the user of the world, who has signed in for it."""
        given = {
            "response_type": "code",
            "redirect_uri": REDIRECT_URI,
            "scope": "openid email",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            **parameters,
        }
        tokens = await self.world.sign_in(EMAIL, org_slug=self.slug, service_slug=self.service_slug)

        def issue(uow: UnitOfWork) -> str:
            client = uow.clients.find(self.client_id)
            assert client is not None
            wanted = requests.parse(client, {name: value for name, value in given.items() if value})
            code = uow.randomness.token()
            # As for a session that has begun with the code.
            first = refresh.first_token(uow, tokens.session_id, code=code)
            uow.sessions.hand_over(tokens.session_id, new_hash=hash_token(first.reveal()))
            token_grants.issue_code(uow, client, wanted, tokens.session_id, code)
            return code.reveal()

        return await self.world.installation.database.transact(issue)

    async def redeem(self, code: str, headers: dict[str, str] | None = None, **fields: str) -> Answer:
        """Exchange a code."""
        given = {"code": code, "redirect_uri": REDIRECT_URI, "code_verifier": VERIFIER, **fields}
        return await self.token(
            "authorization_code", headers, **{name: value for name, value in given.items() if value}
        )

    async def tokens(self, **parameters: str) -> dict[str, Any]:
        """Return the tokens of a new code."""
        answer = await self.redeem(await self.code(**parameters))
        assert answer.status == 200, answer.text
        return answer.json

    def set(self, **columns: Any) -> None:
        """Change columns of the service."""
        for name, value in columns.items():
            text = f"UPDATE services SET {name} = %s WHERE id = %s"
            self.world.connection.execute(text.encode(), (value, self.service_id))

    def is_live(self, tokens: dict[str, Any]) -> bool:
        """Return whether the session of an access token has not been ended."""
        session_id = claims_of(tokens["access_token"])["sid"]
        [row] = self.world.connection.execute("SELECT revoked_at FROM sessions WHERE id = %s", (session_id,)).fetchall()
        return row[0] is None


def insert_relying_party(
    world: World, service_type: str = "web", *, slug: str = "acme", service_slug: str = "shop"
) -> RelyingParty:
    """Insert an organization with a service of a type."""
    return insert_service_of(world, world.organization(slug), service_type, slug=slug, service_slug=service_slug)


def insert_service_of(
    world: World, organization_id: UUID, service_type: str = "web", *, slug: str, service_slug: str
) -> RelyingParty:
    """Insert a service of a type, of the organization with this slug."""
    service = world.service(organization_id, service_slug, redirect_uris=[REDIRECT_URI])
    party = RelyingParty(world, organization_id, service.id, service.client_id, slug, service_slug)
    party.set(service_type=service_type)
    if service_type in {"web", "api"}:
        secret = secrets.token_urlsafe(32)
        party.set(client_secret_hash=hash_token(secret))
        party = replace(party, secret=secret)
    return party


class ProofKey:
    """A key of a client, which signs DPoP proofs and assertions."""

    def __init__(self) -> None:
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.public = ECAlgorithm(ECAlgorithm.SHA256).to_jwk(self.private.public_key(), as_dict=True)

    def proof(
        self,
        method: str,
        path: str,
        *,
        now: Callable[[], Any],
        nonce: str | None = None,
        access_token: str | None = None,
        **claims: Any,
    ) -> str:
        """Sign a proof for a request."""
        payload: dict[str, Any] = {
            "jti": secrets.token_urlsafe(12),
            "htm": method,
            "htu": BASE_URL + path,
            "iat": int(now().timestamp()),
        }
        if nonce is not None:
            payload["nonce"] = nonce
        if access_token is not None:
            digest = hashlib.sha256(access_token.encode()).digest()
            payload["ath"] = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        headers = {"typ": "dpop+jwt", "jwk": {name: self.public[name] for name in ("kty", "crv", "x", "y")}}
        return jwt.encode({**payload, **claims}, self.private, "ES256", headers=headers)

    def assertion(self, client_id: object, *, now: Callable[[], Any], **claims: Any) -> str:
        """Sign an assertion that authenticates a client."""
        at = int(now().timestamp())
        payload = {
            "iss": str(client_id),
            "sub": str(client_id),
            "aud": BASE_URL,
            "jti": secrets.token_urlsafe(12),
            "iat": at,
            "exp": at + 60,
            **claims,
        }
        return jwt.encode(payload, self.private, "ES256", headers={"kid": "one"})
