"""Where the endpoints of an installation are: its discovery document (OpenID Connect Discovery), cached."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any, Final, cast
from urllib.parse import quote, urlsplit

import httpx

from gatehouse_client.errors import Unreachable
from gatehouse_client.steps import Steps, locked, locked_if_free, now, send

LIFETIME_SECONDS: Final = 3600.0
RETRY_SECONDS: Final = 2.0


class Provider:
    """An installation, by its issuer. The document of the last success stays when it cannot be read again."""

    def __init__(self, issuer: str) -> None:
        self.issuer = checked_issuer(issuer)
        self._document: Mapping[str, Any] = {}
        self._read_at = 0.0
        self._failed_at = 0.0

    def endpoint(self, name: str) -> Steps[str]:
        """Return an address of the document, such as `jwks_uri`, which is of the issuer's origin."""
        document = yield from self._current()
        address = document.get(name)
        if not isinstance(address, str) or not _has_origin(address, self.issuer):
            raise Unreachable(f"the discovery document of {self.issuer} has no {name} of the same origin")
        return address

    def _current(self) -> Steps[Mapping[str, Any]]:
        at = yield from now()
        if self._document and 0 <= at - self._read_at < LIFETIME_SECONDS:
            return self._document
        lock = f"discovery {self.issuer}"
        if self._document:
            # One caller reads it again, the others go on with what they know.
            yield from locked_if_free(lock, self._read_again())
            return self._document
        return (yield from locked(lock, self._read()))

    def _read_again(self) -> Steps[None]:
        yield from self._read()

    def _read(self) -> Steps[Mapping[str, Any]]:
        at = yield from now()
        if self._document and 0 <= at - self._read_at < LIFETIME_SECONDS:
            return self._document
        if not 0 <= at - self._failed_at < RETRY_SECONDS:
            try:
                self._document = yield from self._fetch()
            except Unreachable:
                # From its end: waiting for an answer takes longer than a failure counts.
                self._failed_at = yield from now()
                if not self._document:
                    raise
            else:
                self._read_at = at
        if not self._document:
            raise Unreachable(f"the discovery document of {self.issuer} could not be read a moment ago")
        return self._document

    def _fetch(self) -> Steps[Mapping[str, Any]]:
        address = f"{self.issuer}/.well-known/openid-configuration"
        document = yield from fetch_json(address)
        if document.get("issuer") != self.issuer:
            raise Unreachable(f"{address} names another issuer: use the one that Gatehouse has as its base URL")
        return document


def fetch_json(address: str) -> Steps[Mapping[str, Any]]:
    """Return the JSON object at an address; raise `Unreachable` for any other answer."""
    response = yield from send(httpx.Request("GET", address, headers={"Accept": "application/json"}))
    return object_of(response, address)


def authenticated(request: httpx.Request, client_id: str, client_secret: str) -> httpx.Request:
    """Return the request with the credentials of a client, by Basic (RFC 6749, 2.3.1)."""
    credentials = httpx.BasicAuth(quote(client_id, safe=""), quote(client_secret, safe=""))
    # The flow of basic authentication sends one request, whose header it has set.
    return next(credentials.auth_flow(request))


def object_of(response: httpx.Response, address: str) -> Mapping[str, Any]:
    """Return the JSON object of a successful response; raise `Unreachable` for any other response."""
    try:
        document: object = response.json() if response.is_success else None
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise Unreachable(f"{address} answered {response.status_code}, and no JSON object")
    return cast("Mapping[str, Any]", document)


def checked_issuer(issuer: str) -> str:
    """Return the issuer without a slash at its end; raise `ValueError` unless it is https, or http on loopback."""
    parts = urlsplit(issuer)
    is_secure = parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(parts.hostname or ""))
    if not parts.hostname or not is_secure or parts.query or parts.fragment:
        raise ValueError(f"the issuer is the https address of Gatehouse, or http on loopback, not {issuer!r}")
    return issuer.rstrip("/")


def _has_origin(address: str, issuer: str) -> bool:
    """Return whether an address has scheme, host and port of the issuer."""
    try:
        return _origin_of(address) == _origin_of(issuer)
    except ValueError:
        return False


def _origin_of(address: str) -> tuple[str, str, int | None]:
    parts = urlsplit(address)
    port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    return parts.scheme, parts.hostname or "", port


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
