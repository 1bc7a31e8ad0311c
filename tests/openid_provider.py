"""An OpenID provider for tests, which an organization connects: it signs its ID tokens, and lies if a test says so."""

from __future__ import annotations

import base64
import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

from tests.kept_keys import elliptic_key, rsa_key
from tests.secret_watch import WATCH
from tests.upstream_provider import FAR_FUTURE, Request, serving

CLIENT_ID = "gatehouse-at-the-idp"
CLIENT_SECRET = "the-secret-of-the-connection"
KEY = rsa_key("openid provider")
OTHER_KEY = elliptic_key("openid provider")
JSON = "application/json"


@dataclass
class OpenIdProvider:
    """The provider: its keys, what it says, and what it was asked."""

    url: str = ""
    client_id: str = CLIENT_ID
    client_secret: str = CLIENT_SECRET
    requests: list[Request] = field(default_factory=list["Request"])
    claims: dict[str, Any] = field(default_factory=dict[str, Any])
    document: dict[str, Any] = field(default_factory=dict[str, Any])
    header: dict[str, Any] = field(default_factory=lambda: {"kid": "1"})
    keys: list[dict[str, Any]] = field(default_factory=lambda: [public_key(KEY, "1")])
    # Signs an ID token in place of the provider's key: the token as text.
    forged: str | None = None
    # What the token endpoint refuses everything with.
    token_error: str | None = None
    token_details: dict[str, Any] = field(default_factory=dict[str, Any])
    user: dict[str, Any] = field(default_factory=dict[str, Any])
    codes: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    # Issued besides the access token: `expires_in`, `refresh_token` and their like.
    tokens: dict[str, Any] = field(default_factory=dict[str, Any])

    def sign_in(self, address: str, **answer: str) -> str:
        """Sign in at an address of the provider; return the path and query to which it sends the browser."""
        parameters = dict(parse_qsl(urlsplit(address).query))
        code = f"idp-code-{len(self.codes)}"
        WATCH.add(code)
        self.codes[code] = parameters
        back = urlsplit(parameters["redirect_uri"])
        return f"{back.path}?{urlencode({'code': code, 'state': parameters['state'], 'iss': self.url, **answer})}"

    def answer(self, request: Request, path: str, authorization: str) -> tuple[int, str, bytes]:
        """Return status, content type and body of an answer."""
        self.requests.append(request)
        match path:
            case "/.well-known/openid-configuration":
                return _json(
                    {
                        "issuer": self.url,
                        "authorization_endpoint": f"{self.url}/authorize",
                        "token_endpoint": f"{self.url}/token",
                        "jwks_uri": f"{self.url}/keys",
                        "userinfo_endpoint": f"{self.url}/user",
                        **self.document,
                    }
                )
            case "/authorize":
                return 200, "text/html", self._page(request.query)
            case "/favicon.ico":
                return 200, "image/x-icon", b""
            case "/keys":
                return _json({"keys": self.keys})
            case "/user":
                return _json(self.user)
            case _:
                return self._token(request.form, authorization)

    def _page(self, query: str) -> bytes:
        """Return a page that leads a browser back."""
        address = urlsplit(dict(parse_qsl(query))["redirect_uri"])
        back = f"{address.scheme}://{address.netloc}{self.sign_in(f'{self.url}/authorize?{query}')}"
        return f'<!doctype html><a href="{escape(back)}">Allow</a>'.encode()

    def _token(self, form: dict[str, str], authorization: str) -> tuple[int, str, bytes]:
        known = (self.client_id, self.client_secret)
        if self.token_error is not None:
            return _json({"error": self.token_error, **self.token_details}, 400)
        if known not in ((form.get("client_id"), form.get("client_secret")), _by_basic(authorization)):
            return _json({"error": "invalid_client"}, 401)
        if form.get("grant_type") == "refresh_token":
            is_known = form.get("refresh_token") == self.tokens.get("refresh_token")
            return _json(
                {"access_token": "next-at-of-the-idp", **self.tokens} if is_known else {"error": "invalid_grant"}
            )
        parameters = self.codes.pop(form.get("code", ""), None)
        if parameters is None:
            return _json({"error": "invalid_grant"}, 400)
        claims = {
            "iss": self.url,
            "aud": self.client_id,
            "sub": "employee-1",
            "exp": FAR_FUTURE,
            "email": "ada@acme.example",
            "nonce": parameters["nonce"],
            **self.claims,
        }
        signed = self.forged or jwt.encode(
            {name: value for name, value in claims.items() if value is not None}, KEY, "RS256", headers=self.header
        )
        return _json({"access_token": "at-of-the-idp", "token_type": "Bearer", "id_token": signed, **self.tokens})


def public_key(key: Any, kid: str) -> dict[str, Any]:
    """Return the public part of a key as a JSON Web Key."""
    algorithm = jwt.get_algorithm_by_name("ES256" if isinstance(key, ec.EllipticCurvePrivateKey) else "RS256")
    return {**json.loads(algorithm.to_jwk(key.public_key())), "kid": kid, "use": "sig"}


def _by_basic(authorization: str) -> tuple[str, str]:
    """Return the client id and secret of a header as RFC 6749 has them (2.3.1)."""
    client_id, _, secret = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
    return unquote_plus(client_id), unquote_plus(secret)


def _json(body: Any, status: int = 200) -> tuple[int, str, bytes]:
    return status, JSON, json.dumps(body).encode()


@contextmanager
def running_openid_provider() -> Generator[OpenIdProvider]:
    """Run a provider on a free port."""
    provider = OpenIdProvider()
    with serving(provider.answer) as url:
        provider.url = url
        yield provider
