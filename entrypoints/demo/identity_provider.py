"""The identity provider of a customer in the demo: an OpenID provider in the place of Okta, Microsoft Entra and others.

One click signs a person in, because there is nothing to protect. The rest is what a real one does: discovery, a code
for one client and one address, PKCE, and a signed ID token. It keeps everything in memory.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlencode

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from markupsafe import Markup
from quart import Response, redirect, request

from core.lazy_dataclasses import dataclass
from entrypoints.demo import story
from entrypoints.demo.frame import page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quart_trio import QuartTrio
    from werkzeug.wrappers import Response as AnyResponse

CLIENT_ID: Final = "gatehouse"
CALLBACK: Final = "/auth/upstream/callback"
KEY_ID: Final = "demo"
KEY_BITS: Final = 2048
CODES_MAX: Final = 1_000
CODE_SECONDS_MAX: Final = 300
TOKEN_SECONDS: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class _Code:
    """A code that its client has not redeemed yet."""

    email: str
    nonce: str
    challenge: str
    ends_at: float


class DemoIdentityProvider:
    """The provider, below a path of the small application; its issuer is the address of that path."""

    def __init__(
        self, name: str, emails: tuple[str, ...], *, issuer: str, client_secret: str, gatehouse_url: str
    ) -> None:
        self._name = name
        self._emails = emails
        self._issuer = issuer
        self._client_secret = client_secret
        self._redirect_uri = f"{gatehouse_url}{CALLBACK}"
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS)
        self._codes: OrderedDict[str, _Code] = OrderedDict()

    def add_to(self, app: QuartTrio, path: str) -> None:
        """Add its routes to an application."""
        for below, view, methods in (
            ("/.well-known/openid-configuration", self._metadata, ["GET"]),
            ("/authorize", self._authorize, ["GET"]),
            ("/sign-in", self._sign_in, ["GET"]),
            ("/token", self._token, ["POST"]),
            ("/keys", self._keys, ["GET"]),
        ):
            app.add_url_rule(f"{path}{below}", f"{methods[0]} {path}{below}", view, methods=methods)

    async def _metadata(self) -> Response:
        return _json(
            {
                "issuer": self._issuer,
                "authorization_endpoint": f"{self._issuer}/authorize",
                "token_endpoint": f"{self._issuer}/token",
                "jwks_uri": f"{self._issuer}/keys",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
            }
        )

    async def _authorize(self) -> Response:
        title = f"Sign in to {self._name}"
        if not self._is_of_client():
            return page(title, Markup("<p>This request is not from Gatehouse.</p>"), status=400)
        wanted = {name: request.args.get(name, "") for name in ("client_id", "redirect_uri", "state", "nonce")}
        wanted["code_challenge"] = request.args.get("code_challenge", "")
        people = Markup("").join(
            Markup('<li><a class="button" href="{}">{}</a> {}').format(
                f"{self._issuer}/sign-in?{urlencode({**wanted, 'as': one})}", one, story.name_of(one)
            )
            for one in self._emails
        )
        text = Markup(
            "<p>This page is in the place of the identity provider of {}. It asks for no password: choose who signs"
            " in.</p><ul>{}</ul>"
        )
        return page(title, text.format(self._name, people))

    async def _sign_in(self) -> AnyResponse | Response:
        email = request.args.get("as", "")
        if not self._is_of_client() or email not in self._emails:
            return await self._authorize()
        code = secrets.token_urlsafe(32)
        self._codes[code] = _Code(
            email=email,
            nonce=request.args.get("nonce", ""),
            challenge=request.args.get("code_challenge", ""),
            ends_at=time.monotonic() + CODE_SECONDS_MAX,
        )
        while len(self._codes) > CODES_MAX:
            self._codes.popitem(last=False)
        return redirect(f"{self._redirect_uri}?{urlencode({'code': code, 'state': request.args.get('state', '')})}")

    async def _token(self) -> Response:
        form = cast("Mapping[str, str]", await request.form)
        sent = request.authorization
        credentials = (
            (sent.username, sent.password) if sent is not None else (form.get("client_id"), form.get("client_secret"))
        )
        client_id, client_secret = (one or "" for one in credentials)
        if client_id != CLIENT_ID or not hmac.compare_digest(client_secret.encode(), self._client_secret.encode()):
            return _json({"error": "invalid_client"}, status=401)
        code = self._codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if code is None or code.ends_at < time.monotonic() or not hmac.compare_digest(code.challenge, challenge):
            return _json({"error": "invalid_grant"}, status=400)
        now = int(time.time())
        claims = {
            "iss": self._issuer,
            "aud": CLIENT_ID,
            "sub": code.email,
            "email": code.email,
            "email_verified": True,
            "name": story.name_of(code.email),
            "nonce": code.nonce,
            "iat": now,
            "exp": now + TOKEN_SECONDS,
        }
        signed = jwt.encode(claims, self._key, "RS256", headers={"kid": KEY_ID})
        return _json({"access_token": secrets.token_urlsafe(32), "token_type": "Bearer", "id_token": signed})

    async def _keys(self) -> Response:
        key: dict[str, Any] = RSAAlgorithm.to_jwk(self._key.public_key(), as_dict=True)
        return _json({"keys": [{**key, "kid": KEY_ID, "use": "sig", "alg": "RS256"}]})

    def _is_of_client(self) -> bool:
        """Return whether a request is of the one client that the provider has, and leads back to it."""
        return (request.args.get("client_id"), request.args.get("redirect_uri")) == (CLIENT_ID, self._redirect_uri)


def _json(body: dict[str, Any], status: int = 200) -> Response:
    return Response(json.dumps(body), status=status, content_type="application/json")
