"""The headers of every response: its request id, security headers, and CORS headers for pages of other origins."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from quart import Request, Response

from core.services.redirect_uris import is_loopback
from entrypoints.settings import Settings

HSTS_SECONDS: Final = 365 * 24 * 3600
PREFLIGHT_SECONDS: Final = 600
# An API response is data: nothing in it may run, load or be framed. Pages have a policy of their own.
CONTENT_SECURITY_POLICY: Final = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_METHODS: Final = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
_REQUEST_HEADERS: Final = "Authorization, Content-Type, X-Api-Key, X-Device-Token, X-Request-Id"
_EXPOSED_HEADERS: Final = "X-Request-Id, Retry-After, Link"
# For routes that pages of every origin may call: they send no cookies.
_OPEN_METHODS: Final = "GET, POST, OPTIONS"
_OPEN_REQUEST_HEADERS: Final = "Authorization, Content-Type, DPoP"
_OPEN_EXPOSED_HEADERS: Final = "X-Request-Id, Retry-After, Link, WWW-Authenticate, DPoP-Nonce"


class ResponseHeaders:
    """Adds the headers that do not depend on the route."""

    def __init__(self, settings: Settings) -> None:
        self._origins = frozenset(settings.cors_origins)
        self._is_development = settings.dev
        always = {
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Content-Security-Policy": CONTENT_SECURITY_POLICY,
            # Nearly every response contains personal data; the few that may be cached set their own header.
            "Cache-Control": "no-store",
        }
        if settings.base_url.startswith("https:"):
            always["Strict-Transport-Security"] = f"max-age={HSTS_SECONDS}"
        self._always = [(name.lower(), name, value) for name, value in always.items()]

    def add(self, response: Response, request_id: str) -> None:
        """Add the headers of every response, except the ones that it has already."""
        headers = response.headers
        headers["X-Request-Id"] = request_id
        # This runs for every response, and a look-up in the headers for each name takes four times as long.
        present = {name.lower() for name, _ in headers}
        for lowered, name, value in self._always:
            if lowered not in present:
                headers.add(name, value)

    def allow_any_origin(self, response: Response, request: Request) -> None:
        """Add the CORS headers for pages of every origin, which the browser lets send no cookies."""
        headers = response.headers
        headers["Access-Control-Allow-Origin"] = "*"
        headers["Access-Control-Expose-Headers"] = _OPEN_EXPOSED_HEADERS
        if request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers:
            headers["Access-Control-Allow-Methods"] = _OPEN_METHODS
            headers["Access-Control-Allow-Headers"] = _OPEN_REQUEST_HEADERS
            headers["Access-Control-Max-Age"] = str(PREFLIGHT_SECONDS)

    def allow_origin(self, response: Response, request: Request) -> None:
        """Add the CORS headers for a configured origin, and the headers of a preflight response."""
        if not self._origins and not self._is_development:
            return
        headers, request_headers = response.headers, request.headers
        # A cache must not use the response for one origin for another.
        headers.add("Vary", "Origin")
        origin = request_headers.get("Origin")
        if origin is None or not self._is_known(origin):
            return
        headers["Access-Control-Allow-Origin"] = origin
        headers["Access-Control-Allow-Credentials"] = "true"
        headers["Access-Control-Expose-Headers"] = _EXPOSED_HEADERS
        if request.method == "OPTIONS" and "Access-Control-Request-Method" in request_headers:
            headers["Access-Control-Allow-Methods"] = _METHODS
            headers["Access-Control-Allow-Headers"] = _REQUEST_HEADERS
            headers["Access-Control-Max-Age"] = str(PREFLIGHT_SECONDS)

    def _is_known(self, origin: str) -> bool:
        """Return whether pages of an origin may call the interface; in development mode, pages of this machine may."""
        return origin in self._origins or (self._is_development and _is_on_loopback(origin))


def _is_on_loopback(origin: str) -> bool:
    try:
        host = urlsplit(origin).hostname
    except ValueError:
        return False
    return host is not None and is_loopback(host)
