"""Troubles of a client: refused requests in the name of a service, for people who look after it (ops/decisions/0100).

Anyone who knows a client id can cause them, so one is kept for each kind, network and minute, and the last few of each
kind. The newest of each network stay longest, and before them the newest of each block that one party may own as a
whole (a /16, or a /32 of IPv6), so that a stranger hides nothing by sending many. None names a person or has a secret:
of an address and a text, what could be either is left out and shown as "…", which no address contains. The endpoints of
OAuth note their refusals by `core/openid/client_troubles.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeVar

from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.networks import shown_network
from core.organizations.access import Operation
from core.services import service_access
from core.services.redirect_uris import URI_CHARACTERS_MAX
from core.services.services import Service

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

LEFT_OUT: Final = "…"
_TEXT_CHARACTERS_MAX: Final = 200
_WORD_CHARACTERS_MAX: Final = 64
# An id has 36 characters, a secret of ours 43.
_SEGMENT_CHARACTERS_MAX: Final = 39
# An `@`, characters that stand for one, and an `@` that was encoded, also several times.
_OF_PERSON: Final = re.compile("[@\N{FULLWIDTH COMMERCIAL AT}\N{SMALL COMMERCIAL AT}]|%(?:25)*40")
_HOST_CHARACTERS_MAX: Final = 253
_LABEL_CHARACTERS_MAX: Final = 63
# Scheme, authority, path, query and fragment; every text has these parts (RFC 3986, appendix B).
_PARTS: Final = re.compile(
    r"(?:((?:[a-z][a-z0-9+.-]{0,39}:)?//)([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?", re.DOTALL | re.IGNORECASE
)
# Begins a parameter in a path, also encoded.
_PARAMETER: Final = re.compile("[;&=]|%(?:25)*(?:26|3[bdf])", re.IGNORECASE)
# Such as a token or a key.
_UNSPOKEN: Final = re.compile(r"[\w+/=~-]{40,}")
# Such as `action=sign-in`: a word of the program, and no number, code or name of a user.
_WORD: Final = re.compile(r"[A-Za-z:/_-]{0,40}")
_PRIVATE_NAME: Final = re.compile(
    "access|account|assert|auth|code|customer|hash|hint|jwt|key|login|mail|name|nonce|otp|pass|person|secret|session"
    "|state|sub|ticket|token|user|(?<![a-z])id(?![a-z])",
    re.IGNORECASE,
)


def shown_words(text: str) -> str:
    """Return a text of a few words, such as scopes, without words that could be a secret or a mail address."""
    words = [
        LEFT_OUT if len(word) > _WORD_CHARACTERS_MAX or _UNSPOKEN.fullmatch(word) or _OF_PERSON.search(word) else word
        for word in printable(text[: _TEXT_CHARACTERS_MAX + 1]).split(" ")
    ]
    if len(text) > _TEXT_CHARACTERS_MAX:
        words[-1] = LEFT_OUT
    return " ".join(words)


def shown_address(uri: str) -> str:
    """Return an address without user, password and fragment, and without values in path and query that are no words."""
    parts = _PARTS.fullmatch(printable(uri))
    assert parts is not None, "an address without the parts that every text has"
    scheme, authority, path, query, fragment = parts.groups(default="")
    _, at, host = authority.rpartition("@")
    shown = f"{scheme}{LEFT_OUT}@{_host(host)}" if at else f"{scheme}{_host(host)}"
    if len(uri) > URI_CHARACTERS_MAX:
        return shown + _path(path[:_TEXT_CHARACTERS_MAX]) + LEFT_OUT
    shown += _path(path)
    if query:
        shown += "?" + "&".join(_parameter(parameter) for parameter in query[1:].split("&"))
    return f"{shown}#{LEFT_OUT}" if len(fragment) > 1 else shown + fragment


def printable(text: str) -> str:
    """Return a text without control characters, such as those for its direction."""
    return "".join(character if character.isprintable() else LEFT_OUT for character in text)


def _host(host: str) -> str:
    is_too_long = len(host) > _HOST_CHARACTERS_MAX or max(map(len, host.split("."))) > _LABEL_CHARACTERS_MAX
    return LEFT_OUT if is_too_long or _OF_PERSON.search(host) else host


def _path(path: str) -> str:
    return "/".join(_segment(segment) for segment in path.split("/"))


def _segment(segment: str) -> str:
    if len(segment) > _SEGMENT_CHARACTERS_MAX or _OF_PERSON.search(segment):
        return LEFT_OUT
    before, *parameters = _PARAMETER.split(segment, maxsplit=1)
    return f"{before}{LEFT_OUT}" if parameters else before


def _parameter(parameter: str) -> str:
    name, equals, value = parameter.partition("=")
    if not equals:
        return parameter if _WORD.fullmatch(parameter) else LEFT_OUT
    if not _WORD.fullmatch(name):
        return LEFT_OUT
    return parameter if _WORD.fullmatch(value) and not _PRIVATE_NAME.search(name) else f"{name}={LEFT_OUT}"


KEPT_FOR: Final = timedelta(days=30)
KEPT_OF_KIND: Final = 20
_REGISTERED_MAX: Final = 20
AnyRefusal = TypeVar("AnyRefusal", bound=Refusal)


class ProblemKind(StrEnum):
    """What was wrong with a request."""

    CLIENT_AUTHENTICATION = "client_authentication"
    REDIRECT_URI = "redirect_uri"
    LOGOUT_URI = "logout_uri"
    GRANT = "grant"
    PKCE = "pkce"
    RESPONSE_TYPE = "response_type"
    SCOPE = "scope"
    ACCESS = "access"


# These requests come from the backend of a confidential service, all others through the browser of a person.
_OF_BACKENDS: Final = frozenset({ProblemKind.CLIENT_AUTHENTICATION, ProblemKind.GRANT})
_ABOUT_ADDRESSES: Final = frozenset({ProblemKind.REDIRECT_URI, ProblemKind.LOGOUT_URI})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemDetails:
    """What the request sent, and what the service had registered, or what would have been valid."""

    sent: str | None
    registered: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientProblem:
    """A refused request; `ip_address` is only the network of a request through a browser."""

    at: datetime
    kind: ProblemKind
    details: ProblemDetails
    ip_address: str


def note(
    uow: UnitOfWork, service: Service, kind: ProblemKind, *, sent: str | None = None, registered: Sequence[str] = ()
) -> None:
    """Note that a request in the name of a service was refused, if it is the first of its kind, network and minute.

    For a refusal that rolls everything back, see `leaving`.
    """
    network = shown_network(uow.origin.ip_address)
    is_of_backend = kind in _OF_BACKENDS and service.service_type.is_confidential
    shown = shown_address if kind in _ABOUT_ADDRESSES else shown_words
    problem = ClientProblem(
        at=uow.now,
        kind=kind,
        details=ProblemDetails(
            sent=shown(sent) if sent is not None else None, registered=list(registered[:_REGISTERED_MAX])
        ),
        ip_address=(is_of_backend and uow.origin.ip_address) or network,
    )
    uow.client_problems.add(service.organization_id, service.id, problem, network=network)


def note_closed(uow: UnitOfWork, service: Service) -> None:
    """Note that a service did not admit a user because of its `access`."""
    note(uow, service, ProblemKind.ACCESS, registered=[service.access])


def leaving(
    refusal: AnyRefusal,
    service: Service,
    kind: ProblemKind,
    *,
    sent: str | None = None,
    registered: Sequence[str] = (),
) -> AnyRefusal:
    """Return a refusal that is noted for the service when it is raised."""
    return refusal.leaving(lambda later: note(later, service, kind, sent=sent, registered=registered))


def show(uow: UnitOfWork, slug: str, service_slug: str) -> Sequence[ClientProblem]:
    """Return the troubles of a service, newest first; the platform's support reads them too."""
    service = service_access.authorize_reader(uow, slug, service_slug, Operation.SERVICE_PROBLEMS_READ)
    return of_service(uow, service)


def of_service(uow: UnitOfWork, service: Service) -> Sequence[ClientProblem]:
    """Return the kept troubles of a service, newest first."""
    return uow.client_problems.of_service(service.organization_id, service.id, since=uow.now - KEPT_FOR)
