"""A relying party with the security profile `fapi2`: it pushes its requests, and signs its assertions and proofs."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from psycopg.types.json import Jsonb

from adapters.crypto.key_pairs import parse_private
from core.openid.clients import ASSERTION_TYPE
from tests.application import Answer
from tests.signing_keys import key_pair
from tests.world.authorization import led_back
from tests.world.builder import EMAIL
from tests.world.relying_party import BASE_URL, CHALLENGE, REDIRECT_URI, VERIFIER, RelyingParty, insert_relying_party
from tests.world.visitor import Visitor
from tests.world.world import World

TOKEN = "/auth/token"
PAR = "/auth/par"
USERINFO = "/auth/userinfo"
REQUEST: dict[str, str] = {
    "response_type": "code",
    "redirect_uri": REDIRECT_URI,
    "scope": "openid email",
    "state": "s-1",
    "nonce": "n-1",
    "code_challenge": CHALLENGE,
    "code_challenge_method": "S256",
}


class StrictKey:
    """A key of a client that signs by one algorithm, or as a test wants it."""

    def __init__(self, algorithm: str = "ES256", number: int = 2) -> None:
        self.algorithm = algorithm
        self.private: Any
        if algorithm == "ES256":
            self.private = ec.generate_private_key(ec.SECP256R1())
            self.public = ECAlgorithm(ECAlgorithm.SHA256).to_jwk(self.private.public_key(), as_dict=True)
        else:
            self.private = parse_private(key_pair(number).private_pem)
            self.public = RSAAlgorithm(RSAAlgorithm.SHA256).to_jwk(self.private.public_key(), as_dict=True)
        members = ("kty", "crv", "x", "y", "n", "e")
        self.public = {name: self.public[name] for name in members if name in self.public}

    @property
    def thumbprint(self) -> str:
        """The thumbprint of the public key."""
        canonical = json.dumps(self.public, separators=(",", ":"), sort_keys=True)
        return _base64url(hashlib.sha256(canonical.encode()).digest())

    def signed(self, claims: dict[str, Any], *, algorithm: str | None = None, **header: Any) -> str:
        """Sign claims; a claim or a part of the header that is None is left out."""
        given = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(given, self.private, algorithm or self.algorithm, headers=header)


@dataclass
class StrictParty:
    """A service with the profile; `key` signs its assertions, `holder` its proofs."""

    party: RelyingParty
    key: StrictKey = field(default_factory=StrictKey)
    holder: StrictKey = field(default_factory=StrictKey)
    nonce: str = ""

    @property
    def world(self) -> World:
        """The world of the service."""
        return self.party.world

    @property
    def client_id(self) -> str:
        """The client id."""
        return str(self.party.client_id)

    @property
    def now(self) -> int:
        """The present time, in seconds."""
        return int(self.world.clock().timestamp())

    def register(self) -> None:
        """Store the profile and the public key of the service, which has no secret then."""
        self.party.set(
            security_profile="fapi2",
            client_secret_hash=None,
            jwks=Jsonb({"keys": [{**self.key.public, "kid": "one"}]}),
        )

    def assertion(self, *, key: StrictKey | None = None, algorithm: str | None = None, **claims: Any) -> str:
        """Sign an assertion."""
        usual: dict[str, Any] = {
            "iss": self.client_id,
            "sub": self.client_id,
            "aud": BASE_URL,
            "jti": secrets.token_urlsafe(12),
            "iat": self.now,
            "exp": self.now + 60,
        }
        return (key or self.key).signed(usual | claims, algorithm=algorithm, kid="one")

    def proof(
        self,
        method: str,
        path: str,
        *,
        key: StrictKey | None = None,
        algorithm: str | None = None,
        header: dict[str, Any] | None = None,
        access_token: str | None = None,
        **claims: Any,
    ) -> str:
        """Sign a proof for a request, with the nonce of the server."""
        signing = key or self.holder
        usual: dict[str, Any] = {
            "jti": secrets.token_urlsafe(12),
            "htm": method,
            "htu": BASE_URL + path,
            "iat": self.now,
            "nonce": self.nonce,
        }
        if access_token is not None:
            digest = hashlib.sha256(access_token.encode()).digest()
            usual["ath"] = _base64url(digest)
        given: dict[str, Any] = {"typ": "dpop+jwt", "jwk": signing.public} | (header or {})
        return signing.signed(usual | claims, algorithm=algorithm, **given)

    async def learn_nonce(self) -> None:
        """Get a nonce from the server, which refuses a proof without one."""
        answer = await self.token("refresh_token", refresh_token="x", proof=self.proof("POST", TOKEN, nonce=None))
        assert (answer.status, answer.json["error"]) == (400, "use_dpop_nonce"), answer.text
        self.nonce = answer.headers["DPoP-Nonce"]

    async def post(self, path: str, fields: dict[str, Any], *, proof: str | None = None) -> Answer:
        """Send a form with an assertion; a field that is None is left out, also one of the assertion."""
        usual = {"client_assertion_type": ASSERTION_TYPE, "client_assertion": self.assertion()}
        given = {name: value for name, value in {**usual, **fields}.items() if value is not None}
        return await self.party.send(path, given, {"DPoP": proof} if proof is not None else {})

    async def push(self, *, proof: str | None = None, **changes: str | None) -> Answer:
        """Push an authorization request."""
        return await self.post(PAR, {**REQUEST, **changes}, proof=proof)

    async def address(self, *, proof: str | None = None, **changes: str | None) -> str:
        """Push a request, and return the address to which the browser is sent for it."""
        answer = await self.push(proof=proof, **changes)
        assert answer.status == 201, answer.text
        return self.address_of(answer.json["request_uri"])

    def address_of(self, request_uri: str, **parameters: str) -> str:
        """Return the address to which the browser is sent for a pushed request."""
        query = {"client_id": self.client_id, "request_uri": request_uri, **parameters}
        return f"/auth/authorize?{urlencode(query)}"

    async def sign_in(self, visitor: Visitor, address: str | None = None, **changes: str | None) -> dict[str, str]:
        """Sign the user in, and return what the browser brings back."""
        path = address or await self.address(**changes)
        if visitor.has_session:
            return led_back(await visitor.send("GET", path))
        return led_back(await visitor.sign_in(EMAIL, path=path))

    async def token(self, grant_type: str, *, proof: str | None = None, **fields: str | None) -> Answer:
        """Send a grant to the token endpoint."""
        return await self.post(TOKEN, {"grant_type": grant_type, **fields}, proof=proof)

    async def redeem(self, code: str, *, proof: str | None = None, **fields: str | None) -> Answer:
        """Exchange a code, with a proof."""
        usual = {"code": code, "redirect_uri": REDIRECT_URI, "code_verifier": VERIFIER}
        return await self.token("authorization_code", proof=proof or self.proof("POST", TOKEN), **{**usual, **fields})

    async def tokens(self, visitor: Visitor, **changes: str | None) -> dict[str, Any]:
        """Sign the user in, and return the tokens."""
        answer = await self.redeem((await self.sign_in(visitor, **changes))["code"])
        assert answer.status == 200, answer.text
        return answer.json

    async def refresh(self, refresh_token: str, *, proof: str | None = None, **fields: str | None) -> Answer:
        """Exchange a refresh token, with a proof."""
        return await self.token(
            "refresh_token", proof=proof or self.proof("POST", TOKEN), refresh_token=refresh_token, **fields
        )

    async def userinfo(self, access_token: str, proof: str | None = None, *, scheme: str = "DPoP") -> Answer:
        """Ask who the user is, with a proof."""
        proof = proof or self.proof("GET", USERINFO, access_token=access_token)
        return await self.world.client.get(
            USERINFO, headers={"Authorization": f"{scheme} {access_token}", "DPoP": proof}
        )


def insert_strict_party(world: World, slug: str = "bank") -> StrictParty:
    """Insert an organization with a service that has the profile."""
    strict = StrictParty(insert_relying_party(world, slug=slug, service_slug=slug))
    strict.register()
    return strict


def _base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")
