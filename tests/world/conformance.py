"""A client that checks everything it gets, as the conformance suite of the OpenID Foundation does.

The suite's public plans have these conditions. A test belongs to each of their modules; its docstring begins with
the name of the module.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jwt

from tests.application import Answer
from tests.world.authorization import ISSUER, address_of, led_back, posted_back
from tests.world.builder import EMAIL, PASSWORD
from tests.world.relying_party import REDIRECT_URI, RelyingParty
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

# What a response may have (RFC 6749, 4.1.2 and 4.1.2.1; RFC 9207, 2).
SUCCESS = {"code", "state", "iss"}
FAILURE = {"error", "error_description", "error_uri", "state", "iss"}
# The characters of a description (RFC 6749, 4.1.2.1), and of tokens (A.12 and A.17).
DESCRIPTION = re.compile(r"[\x20-\x21\x23-\x5b\x5d-\x7e]+")
TOKEN = re.compile(r"[\x20-\x7e]+")
# The characters of 128 bits in base64url.
SECRET_CHARACTERS_MIN = 22
# What an ID token may have without having been asked for it (OpenID Connect Core, 2; Front-Channel Logout, 3).
OF_ID_TOKENS = {"iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "azp", "at_hash", "sid", "jti"}
OF_SCOPES = {
    "openid": set[str](),
    "email": {"email", "email_verified"},
    "profile": {
        *("name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile", "picture"),
        *("website", "gender", "birthdate", "zoneinfo", "locale", "updated_at"),
    },
    "address": {"address"},
    "phone": {"phone_number", "phone_number_verified"},
    "offline_access": set[str](),
}


def modules_of(tests: Mapping[str, Any]) -> list[str]:
    """Return the modules to which the tests of a file belong, in their order."""
    documented = [test.__doc__ or "" for name, test in tests.items() if name.startswith("test_")]
    return [text.partition(":")[0] for text in documented if text.startswith("oidcc-")]


@dataclass(frozen=True)
class Tokens:
    """The response of the token endpoint, and the claims of its ID token."""

    access_token: str
    refresh_token: str
    id_token: str
    claims: dict[str, Any] = field(repr=False)


@dataclass
class ConformanceClient:
    """The client of a plan, with the browser of its user; every request asks for its mode of response."""

    shop: RelyingParty
    visitor: Visitor
    world: World
    is_posting_secret: bool = False
    response_mode: str = "query"

    async def document(self) -> dict[str, Any]:
        """Return the discovery document."""
        answer = await self.world.client.get("/.well-known/openid-configuration")
        assert answer.status == 200
        assert answer.headers["Content-Type"].startswith("application/json")
        return answer.json

    def address(self, **parameters: str) -> str:
        """Return the address of an authorization request; without PKCE, which the suite does not send by itself."""
        plain = {"scope": "openid", "code_challenge": "", "code_challenge_method": ""}
        if self.response_mode != "query":
            plain["response_mode"] = self.response_mode
        return address_of(self.shop, **{**plain, **parameters})

    async def arrive(self, address: str) -> Answer:
        """Open an address through redirects of our own, and return the page or the redirect to the client."""
        answer = await self.visitor.send("GET", address)
        while answer.status == 303 and answer.headers["Location"].startswith("/"):
            answer = await self.visitor.send("GET", answer.headers["Location"])
        return answer

    async def sign_in(self, page: Answer) -> Answer:
        """Sign in by password on a page, whether it asks for that or again."""
        if any(form.action == "/app/sign-in-again" for form in forms_of(page)):
            return await self.visitor.submit(page, "/app/sign-in-again", password=PASSWORD)
        methods = await self.visitor.submit(page, "/app/sign-in", email=EMAIL)
        return await self.visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)

    async def authorize(self, **parameters: str) -> dict[str, str]:
        """Return the code with which the browser comes back, after the user has signed in."""
        return checked_code(await self.sign_in(await self.arrive(self.address(**parameters))))

    async def authorize_silently(self, **parameters: str) -> dict[str, str]:
        """Return the code with which the browser comes back without a page."""
        return checked_code(await self.arrive(self.address(**parameters)))

    async def refused(self, **parameters: str) -> dict[str, str]:
        """Return the error with which the browser comes back."""
        return checked_error(await self.arrive(self.address(**parameters)))

    async def redeem(self, code: str, *, nonce: str | None = "n-1", scope: str = "openid", **fields: str) -> Tokens:
        """Exchange a code, and return the tokens, which are checked."""
        return await self.checked_tokens(await self.exchange(code, **fields), nonce=nonce, scope=scope)

    async def exchange(self, code: str, **fields: str) -> Answer:
        """Send a code to the token endpoint, and return the answer."""
        return await self.token(grant_type="authorization_code", code=code, redirect_uri=REDIRECT_URI, **fields)

    async def token(self, **fields: str) -> Answer:
        """Send a request to the token endpoint, authenticated by Basic or in the body."""
        if not self.is_posting_secret:
            return await self.shop.post("/auth/token", fields)
        assert self.shop.secret is not None
        secret = {"client_id": str(self.shop.client_id), "client_secret": self.shop.secret}
        return await self.shop.send("/auth/token", {**fields, **secret})

    async def tokens(self, **parameters: str) -> Tokens:
        """Sign in and return the tokens."""
        back = await self.authorize(**parameters)
        return await self.redeem(back["code"], scope=parameters.get("scope", "openid"))

    async def checked_tokens(self, answer: Answer, *, nonce: str | None, scope: str) -> Tokens:
        """Return the tokens of a response that is as it has to be (RFC 6749, 5.1)."""
        assert answer.status == 200, answer.text
        assert answer.headers["Content-Type"].startswith("application/json")
        assert answer.headers["Cache-Control"] == "no-store"
        body = answer.json
        assert body["token_type"].lower() == "bearer"
        assert body["expires_in"] > 0
        for name in ("access_token", "refresh_token"):
            assert len(body[name]) >= SECRET_CHARACTERS_MIN
            assert TOKEN.fullmatch(body[name])
        claims = await self.verified(body["id_token"], typ=None)
        self.check_id_token(claims, body["access_token"], nonce=nonce, scope=scope)
        return Tokens(body["access_token"], body["refresh_token"], body["id_token"], claims)

    async def verified(self, token: str, *, typ: str | None) -> dict[str, Any]:
        """Return the claims of a token that is signed by the published key which it names, with RS256."""
        header = jwt.get_unverified_header(token)
        keys = jwt.PyJWKSet.from_dict((await self.world.client.get("/.well-known/jwks.json")).json)
        assert header["alg"] == "RS256"
        assert typ is None or header["typ"] == typ
        # The test's clock is not the library's.
        return jwt.decode(
            token,
            keys[header["kid"]],
            ["RS256"],
            audience=str(self.shop.client_id),
            issuer=ISSUER,
            options={"verify_exp": False, "verify_iat": False, "verify_nbf": False},
        )

    def check_id_token(self, claims: dict[str, Any], access_token: str, *, nonce: str | None, scope: str) -> None:
        """Check an ID token (OpenID Connect Core, 2 and 3.1.3.7)."""
        now = int(self.world.clock().timestamp())
        assert claims["iat"] <= now < claims["exp"] <= now + 86400
        assert claims["auth_time"] <= now
        assert 0 < len(claims["sub"]) <= 255
        assert claims["acr"]
        assert claims.get("nonce") == nonce
        assert claims["at_hash"] == half_hash(access_token)
        allowed = OF_ID_TOKENS.union(*(OF_SCOPES.get(one, set()) for one in scope.split()))
        assert claims.keys() <= allowed

    async def user_info(self, tokens: Tokens) -> dict[str, Any]:
        """Return the user information by GET, which is checked."""
        return checked_user_info(await self.world.client.get("/auth/userinfo", token=tokens.access_token), tokens)


def checked_code(answer: Answer) -> dict[str, str]:
    """Return a response that has a code."""
    back = _response(answer)
    assert back.keys() == SUCCESS, back
    assert (back["state"], back["iss"]) == ("s-1", ISSUER)
    assert len(back["code"]) >= SECRET_CHARACTERS_MIN
    return back


def checked_error(answer: Answer) -> dict[str, str]:
    """Return a response that has an error."""
    back = _response(answer)
    assert {"error", "state"} <= back.keys() <= FAILURE, back
    assert (back["state"], back["iss"]) == ("s-1", ISSUER)
    assert DESCRIPTION.fullmatch(back["error_description"])
    return back


def checked_user_info(answer: Answer, tokens: Tokens) -> dict[str, Any]:
    """Return the claims of an answer of the user information endpoint (OpenID Connect Core, 5.3.2)."""
    assert answer.status == 200, answer.text
    assert answer.headers["Content-Type"].startswith("application/json")
    claims = answer.json
    assert claims["sub"] == tokens.claims["sub"]
    # Claims without a value are left out.
    assert all(value not in {None, ""} for value in claims.values())
    return claims


def half_hash(text: str) -> str:
    """Return the left half of the SHA-256 of a text, in base64url."""
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:16]).decode().rstrip("=")


def _response(answer: Answer) -> dict[str, str]:
    return posted_back(answer) if "data-submits-itself" in answer.text else led_back(answer)
