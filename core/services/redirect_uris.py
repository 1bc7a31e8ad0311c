"""Redirect URIs: the addresses of a service to which a browser may be sent back, compared exactly.

They are absolute and without a fragment. Plain http is only for loopback (also `*.localhost`), where an application
listens on the user's own machine. Custom schemes are only for applications that are installed there (RFC 8252, 7).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import SplitResult, urlsplit, urlunsplit

from core.errors import BadRequest
from core.wording import Wording

URIS_MAX: Final = 50
URI_CHARACTERS_MAX: Final = 2000

# The characters of RFC 3986, 2. A browser reads a backslash as a slash, and some of the others end an attribute.
_CHARACTERS: Final = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
# Schemes that a browser handles itself: as a redirect they would run scripts or open local files.
_BROWSER_SCHEMES: Final = frozenset(
    {
        "about",
        "blob",
        "data",
        "file",
        "filesystem",
        "ftp",
        "javascript",
        "mailto",
        "vbscript",
        "view-source",
        "ws",
        "wss",
    }
)


def require_valid(uris: Sequence[str], *, is_native: bool, field: str = "redirect_uris") -> None:
    """Raise `BadRequest` when one of the URIs cannot be registered; `is_native` is an installed application."""
    if len(uris) > URIS_MAX:
        raise BadRequest.of_field(field, Wording("At most %(maximum)s addresses.", maximum=URIS_MAX))
    for uri in uris:
        if _has_own_scheme(uri):
            _require_own_scheme(uri, field, is_native=is_native)
        else:
            require_web_uri(uri, field)


def require_web_uri(uri: str, field: str) -> None:
    """Raise `BadRequest` unless it is an absolute https address, or an http address of loopback."""
    parts = _parts(uri, field)
    if parts.scheme not in {"https", "http"} or not parts.hostname:
        raise BadRequest.of_field(field, "Each address is absolute, such as https://app.example.com/callback.")
    if parts.username is not None or parts.password is not None:
        raise BadRequest.of_field(field, "An address must not contain a user name or password.")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise BadRequest.of_field(field, "An address begins with https; http is only for localhost and 127.0.0.1.")


def matches(registered: str, given: str, *, any_loopback_port: bool) -> bool:
    """Return whether an address is the registered one, character by character.

    An installed application gets its loopback port only when it starts to listen (RFC 8252, 7.3), so for it the port
    is left out of the comparison.
    """
    if registered == given:
        return True
    if not any_loopback_port:
        return False
    registered_rest, given_rest = without_loopback_port(registered), without_loopback_port(given)
    return registered_rest is not None and registered_rest == given_rest


def without_loopback_port(uri: str) -> str | None:
    """Return an http address of loopback without its port; None for any other address."""
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    host = parts.hostname or ""
    if parts.scheme != "http" or "@" in parts.netloc or not _CHARACTERS.fullmatch(uri) or "#" in uri:
        return None
    return urlunsplit(parts._replace(netloc=host)) if is_loopback(host) else None


def is_address(uri: str) -> bool:
    """Return whether it has the characters and the length of a redirect URI."""
    return len(uri) <= URI_CHARACTERS_MAX and _CHARACTERS.fullmatch(uri) is not None


def is_registrable(uri: str) -> bool:
    """Return whether a service of some type could register it."""
    try:
        require_valid([uri], is_native=True)
    except BadRequest:
        return False
    return True


def _has_own_scheme(uri: str) -> bool:
    scheme = _SCHEME.match(uri)
    return scheme is not None and scheme[0].lower() not in {"https:", "http:"}


def _require_own_scheme(uri: str, field: str, *, is_native: bool) -> None:
    parts = _parts(uri, field)
    if not is_native:
        raise BadRequest.of_field(
            field, "Only mobile and desktop services have addresses with a scheme of their own; use https."
        )
    if parts.scheme in _BROWSER_SCHEMES:
        raise BadRequest.of_field(
            field, Wording("The scheme %(scheme)s belongs to the browser. Use one of your own.", scheme=parts.scheme)
        )
    if not (parts.netloc or parts.path):
        raise BadRequest.of_field(field, "An address has more than its scheme, such as com.example.app:/callback.")


def _parts(uri: str, field: str) -> SplitResult:
    if len(uri) > URI_CHARACTERS_MAX or not _CHARACTERS.fullmatch(uri):
        raise BadRequest.of_field(
            field,
            Wording(
                "An address has 1 to %(maximum)s characters, all of them allowed in a URI (RFC 3986).",
                maximum=URI_CHARACTERS_MAX,
            ),
        )
    if "#" in uri:
        raise BadRequest.of_field(field, "An address must not contain a fragment, which begins with #.")
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        raise BadRequest.of_field(field, "The host or the port of an address is not valid.") from None
    return parts


def is_loopback(host: str) -> bool:
    """Return whether a host is the machine of the browser itself."""
    # Browsers ask no name server for these either (RFC 6761, 6.3).
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
