"""Identity providers of customers: real servers on this machine that behave like Okta and Microsoft Entra.

Each speaks OpenID Connect and SAML 2.0, signs its answers, and asks for no password: a page lists its people, or the
test says who is signed in there. The differences between the two products are in the two classes at the end.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import secrets
import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Final
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from gatehouse_client.testing import saml
from gatehouse_client.testing.requests import KitFailed

CLIENT_ID: Final = "gatehouse"
TOKEN_SECONDS: Final = 300
KEY_BITS: Final = 2048
# Making a key takes a tenth of a second, and all providers of a run may have the same.
_KEY: Final = rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS)
_KEY_ID: Final = "tests"
_HTML: Final = "text/html; charset=utf-8"
_JSON: Final = "application/json"


@dataclass(frozen=True, kw_only=True)
class Employee:
    """A person as their identity provider knows them."""

    id: str
    email: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer of a provider to a browser or to Gatehouse."""

    status: int = HTTPStatus.OK
    media_type: str = _HTML
    body: bytes = b""
    location: str | None = None


@dataclass
class IdentityProvider(ABC):
    """An identity provider with its people; `base_url` is where it listens, `redirect_uri` where it leads to."""

    product: ClassVar[str] = "a provider"
    # What the pages of a setup link call it.
    word: ClassVar[str] = "oidc"
    base_url: str = ""
    client_secret: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    redirect_uri: str = ""
    connection_id: str = ""
    # The time of the instance, which checks the times in the answers.
    clock: Callable[[], float] = field(default=time.time, repr=False)
    people: dict[str, Employee] = field(default_factory=dict[str, Employee])
    # The person with a session at the provider in this browser: then no page asks.
    signed_in: str | None = None
    _codes: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]], repr=False)
    _server: ThreadingHTTPServer | None = field(default=None, repr=False)

    def group_id(self, name: str) -> str:
        """Return a group as the answers name it: its name, or its object id with Entra."""
        return name

    def add(self, email: str, *, groups: Iterable[str] = ()) -> Employee:
        """Add a person, or change their groups."""
        known = self.people.get(email)
        self.people[email] = Employee(id=known.id if known else self.new_id(), email=email, groups=tuple(groups))
        return self.people[email]

    def sign_in_as(self, email: str | None) -> None:
        """Let the browser have a session of this person; None: the page asks who it is."""
        if email is not None and email not in self.people:
            raise KitFailed(f"{email} is not known to {self.product}: add them first")
        self.signed_in = email

    def start(self) -> None:
        """Begin to listen, on a free port of this machine."""
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(provider.answer(self.path, {}, ""))

            def do_POST(self) -> None:
                form = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
                self._send(provider.answer(self.path, dict(parse_qsl(form)), self.headers.get("Authorization", "")))

            def _send(self, reply: Reply) -> None:
                self.send_response(reply.status)
                self.send_header("Content-Type", reply.media_type)
                self.send_header("Content-Length", str(len(reply.body)))
                if reply.location is not None:
                    self.send_header("Location", reply.location)
                self.end_headers()
                self.wfile.write(reply.body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    @property
    @abstractmethod
    def issuer(self) -> str:
        """The issuer of its ID tokens."""

    @property
    @abstractmethod
    def entity_id(self) -> str:
        """Its name in SAML."""

    @property
    def metadata_xml(self) -> str:
        """Its SAML metadata."""
        return saml.metadata(self.entity_id, f"{self.base_url}/saml/sso", _KEY)

    @abstractmethod
    def new_id(self) -> str:
        """Return an id of a person, in the form of the product."""

    @abstractmethod
    def claims(self, person: Employee) -> dict[str, Any]:
        """Return what an ID token says of a person, besides what every one has."""

    @abstractmethod
    def attributes(self, person: Employee) -> dict[str, list[str]]:
        """Return what an assertion says of a person."""

    def answer(self, target: str, form: Mapping[str, str], authorization: str) -> Reply:
        """Answer a request."""
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query))
        issuer_path = urlsplit(self.issuer).path
        if parts.path == f"{issuer_path}/.well-known/openid-configuration":
            return _json(self._metadata())
        match parts.path:
            case "/authorize":
                return self._authorize(query)
            case "/token":
                return self._token(form, authorization)
            case "/keys":
                key: dict[str, Any] = RSAAlgorithm.to_jwk(_KEY.public_key(), as_dict=True)
                return _json({"keys": [{**key, "kid": _KEY_ID, "use": "sig", "alg": "RS256"}]})
            case "/saml/sso":
                return self._saml(query)
            case _:
                return Reply(status=HTTPStatus.NOT_FOUND)

    def _metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.base_url}/authorize",
            "token_endpoint": f"{self.base_url}/token",
            "jwks_uri": f"{self.base_url}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def _authorize(self, query: dict[str, str]) -> Reply:
        if (query.get("client_id"), query.get("redirect_uri")) != (CLIENT_ID, self.redirect_uri):
            return _page("This request is not from Gatehouse.", HTTPStatus.BAD_REQUEST)
        person = self._chosen(query)
        if person is None:
            return self._choice("/authorize", query)
        code = secrets.token_urlsafe(24)
        self._codes[code] = {**query, "person": person.email}
        back = {"code": code, "state": query.get("state", "")}
        return Reply(status=HTTPStatus.SEE_OTHER, location=f"{self.redirect_uri}?{urlencode(back)}")

    def _token(self, form: Mapping[str, str], authorization: str) -> Reply:
        if (CLIENT_ID, self.client_secret) not in {
            (form.get("client_id"), form.get("client_secret")),
            _by_basic(authorization),
        }:
            return _json({"error": "invalid_client"}, HTTPStatus.UNAUTHORIZED)
        asked = self._codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or asked.get("code_challenge", challenge) != challenge:
            return _json({"error": "invalid_grant"}, HTTPStatus.BAD_REQUEST)
        now = int(self.clock())
        claims = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + TOKEN_SECONDS}
        claims |= self.claims(self.people[asked["person"]])
        claims |= {"nonce": asked["nonce"]} if "nonce" in asked else {}
        signed = jwt.encode(claims, _KEY, "RS256", headers={"kid": _KEY_ID})
        tokens = {"access_token": secrets.token_urlsafe(24), "token_type": "Bearer", "id_token": signed}
        return _json({**tokens, "expires_in": TOKEN_SECONDS})

    def _saml(self, query: dict[str, str]) -> Reply:
        request = saml.read_request(query["SAMLRequest"])
        person = self._chosen(query)
        if person is None:
            return self._choice("/saml/sso", query)
        response = saml.response(
            request,
            key=_KEY,
            entity_id=self.entity_id,
            name_id=person.email,
            attributes=self.attributes(person),
            now=datetime.fromtimestamp(self.clock(), UTC),
        )
        fields = {"SAMLResponse": response, "RelayState": query.get("RelayState", "")}
        inputs = "".join(
            f'<input type="hidden" name="{name}" value="{html.escape(value)}">' for name, value in fields.items()
        )
        action = html.escape(request.acs_url)
        return _page(
            f'<form method="post" action="{action}">{inputs}<button>Continue</button></form>'
            "<script>document.forms[0].submit()</script>"
        )

    def _chosen(self, query: dict[str, str]) -> Employee | None:
        return self.people.get(query.get("as", self.signed_in or ""))

    def _choice(self, path: str, query: dict[str, str]) -> Reply:
        addresses = {email: html.escape(f"{path}?{urlencode(query | {'as': email})}") for email in self.people}
        links = "".join(f'<li><a href="{to}">{html.escape(email)}</a>' for email, to in addresses.items())
        return _page(f"<h1>Sign in with {self.product}</h1><ul>{links}</ul>")


class OktaProvider(IdentityProvider):
    """Behaves like Okta: ids of twenty characters, groups by their names, a verified address."""

    product = "Okta"
    word = "okta"

    @property
    def issuer(self) -> str:
        """The issuer of the organization's own authorization server."""
        return self.base_url

    @property
    def entity_id(self) -> str:
        """With the id of the application."""
        return "http://www.okta.com/exk1tests0000000000"

    def new_id(self) -> str:
        """Return an id such as 00u…"""
        return f"00u{secrets.token_hex(9)[:17]}"

    def claims(self, person: Employee) -> dict[str, Any]:
        """With groups as names."""
        said = {"sub": person.id, "email": person.email, "email_verified": True, "preferred_username": person.email}
        return {**said, "amr": ["pwd"], "groups": list(person.groups)}

    def attributes(self, person: Employee) -> dict[str, list[str]]:
        """By the names that Okta's wizard proposes."""
        return {"email": [person.email], "groups": list(person.groups)}


class EntraProvider(IdentityProvider):
    """Behaves like Microsoft Entra: a tenant in its issuer, `oid` and `tid`, groups by ids, no `email_verified`."""

    product = "Microsoft Entra"
    word = "entra"
    tenant: ClassVar[str] = "5e7c1f1a-0000-4000-8000-000000000001"

    @property
    def issuer(self) -> str:
        """The tenant's."""
        return f"{self.base_url}/{self.tenant}/v2.0"

    @property
    def entity_id(self) -> str:
        """The tenant's."""
        return f"https://sts.windows.net/{self.tenant}/"

    def new_id(self) -> str:
        """Return an object id."""
        return str(uuid.uuid4())

    def group_id(self, name: str) -> str:
        """Return the object id of a group."""
        return str(uuid.uuid5(uuid.UUID(self.tenant), name))

    def claims(self, person: Employee) -> dict[str, Any]:
        """With an id for this application alone as `sub`, and groups as ids."""
        pairwise = base64.urlsafe_b64encode(hashlib.sha256(f"{person.id}{CLIENT_ID}".encode()).digest()).decode()
        said = {"sub": pairwise, "oid": person.id, "tid": self.tenant, "ver": "2.0"}
        said |= {"email": person.email, "preferred_username": person.email}
        return {**said, "groups": [self.group_id(name) for name in person.groups]}

    def attributes(self, person: Employee) -> dict[str, list[str]]:
        """By the addresses of claims."""
        claims = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims"
        microsoft = "http://schemas.microsoft.com/identity/claims"
        return {
            f"{claims}/emailaddress": [person.email],
            f"{claims}/name": [person.email],
            f"{microsoft}/objectidentifier": [person.id],
            f"{microsoft}/tenantid": [self.tenant],
            "http://schemas.microsoft.com/ws/2008/06/identity/claims/groups": [
                self.group_id(name) for name in person.groups
            ],
        }


def _by_basic(authorization: str) -> tuple[str, str]:
    scheme, _, encoded = authorization.partition(" ")
    if scheme != "Basic":
        return "", ""
    client_id, _, secret = base64.b64decode(encoded).decode().partition(":")
    return unquote_plus(client_id), unquote_plus(secret)


def _json(body: Any, status: int = HTTPStatus.OK) -> Reply:
    return Reply(status=status, media_type=_JSON, body=json.dumps(body).encode())


def _page(content: str, status: int = HTTPStatus.OK) -> Reply:
    text = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Identity provider</title>{content}'
    return Reply(status=status, body=text.encode())
