"""Troubles of a client: refused requests in the name of a service, for people who look after it (ops/decisions/0100).

Anyone who knows a client id can cause them, so one is kept for each kind, network and minute, and the last few of each
kind. The newest of each network stay longest, and before them the newest of each block that one party may own as a
whole (a /16, or a /32 of IPv6), so that a stranger hides nothing by sending many. None names a person or has a secret:
an address is kept without the values that could be either. The endpoints of OAuth note their refusals by
`core/openid/client_troubles.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeVar

from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.networks import shown_network
from core.organizations.access import Operation
from core.services import access
from core.services.services import Service
from core.services.shown_requests import shown_address, shown_words

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

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
    service = access.authorize_reader(uow, slug, service_slug, Operation.SERVICE_PROBLEMS_READ)
    return of_service(uow, service)


def of_service(uow: UnitOfWork, service: Service) -> Sequence[ClientProblem]:
    """Return the kept troubles of a service, newest first."""
    return uow.client_problems.of_service(service.organization_id, service.id, since=uow.now - KEPT_FOR)
