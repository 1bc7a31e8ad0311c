"""Adding and removing single redirect URIs of a service, and the ones that were refused lately.

A request to `/auth/authorize` with an address that the service has not registered is one of the service's troubles
(`problems.py`). Anyone can cause it, so by itself it changes nothing. The console offers to add the address only where
the service has registered another address at the same host: a stranger can choose any other host, and would need only
one press of the owner. Any other address is shown, and the owner has to type it; so is one that was kept in part.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from core.errors import Conflict, NotFound
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.services import management, problems, redirect_uris, service_access
from core.services.client_records import Outside
from core.services.problems import ClientProblem, ProblemKind
from core.services.services import Service

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_FIELD: Final = "redirect_uris"


class RedirectUriGone(Conflict):
    """The redirect URI was removed, or the refused one is forgotten by now."""

    default_message = "This address is no longer here, or is added already. Check what is shown now."


class NoRefusedRedirect(NotFound):
    """No redirect URI of the service was refused lately that leads to a host of its own."""

    default_message = (
        "No redirect URI waits to be added here. It may be added or forgotten already, or lead to a host at which this"
        " service has no address yet: type such an address yourself."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedRedirect:
    """A redirect URI that was refused."""

    redirect_uri: str
    refused_at: datetime

    @property
    def host(self) -> str:
        """The host to which it leads, or its scheme if it has none; empty where neither can be read."""
        try:
            parts = urlsplit(self.redirect_uri)
        except ValueError:
            return ""
        return parts.hostname or parts.scheme

    def is_at_host_of(self, service: Service) -> bool:
        """Return whether the service has registered an address at the same host, by the same scheme."""
        place = _place_of(self.redirect_uri)
        return place is not None and place in {_place_of(one) for one in service.redirect_uris}

    @property
    def is_registrable(self) -> bool:
        """Whether a service of some type could register it."""
        return redirect_uris.is_registrable(self.redirect_uri)


def add(uow: UnitOfWork, slug: str, service_slug: str, redirect_uri: str, *, seen: str, outside: Outside) -> Service:
    """Register a redirect URI; raise `BadRequest` for one that is invalid, and `ServiceChanged`."""
    service = service_access.authorize(uow, slug, service_slug, Operation.SERVICE_UPDATE).service
    wanted = [*service.redirect_uris, redirect_uri.strip()]
    return management.change(uow, slug, service_slug, {_FIELD: wanted}, outside=outside, seen=seen)


def remove(uow: UnitOfWork, slug: str, service_slug: str, redirect_uri: str, *, seen: str, outside: Outside) -> Service:
    """Remove a redirect URI; raise `RedirectUriGone` when the service does not have it, and `ServiceChanged`."""
    service = service_access.authorize(uow, slug, service_slug, Operation.SERVICE_UPDATE).service
    if redirect_uri not in service.redirect_uris:
        raise RedirectUriGone
    wanted = [one for one in service.redirect_uris if one != redirect_uri]
    return management.change(uow, slug, service_slug, {_FIELD: wanted}, outside=outside, seen=seen)


def show(uow: UnitOfWork, slug: str, service_slug: str) -> RefusedRedirect | None:
    """Return the last refused redirect URI that is not registered; None when there is none.

    One that may be added comes before one at another host.
    """
    service = service_access.authorize(uow, slug, service_slug, Operation.SERVICE_READ).service
    refused = _waiting(uow, service)
    return next((one for one in refused if one.is_at_host_of(service)), refused[0] if refused else None)


def show_refused(uow: UnitOfWork, slug: str, service_slug: str, redirect_uri: str | None) -> RefusedRedirect:
    """Return a refused redirect URI, the last one if none is named, to decide about it.

    Raise `NoRefusedRedirect` for one that was not refused, or that leads to another host.
    """
    service = service_access.authorize(uow, slug, service_slug, Operation.SERVICE_UPDATE).service
    for refused in _waiting(uow, service):
        if refused.is_at_host_of(service) and redirect_uri in {None, refused.redirect_uri}:
            return refused
    raise NoRefusedRedirect


def add_refused(uow: UnitOfWork, slug: str, service_slug: str, redirect_uri: str, *, outside: Outside) -> Service:
    """Register the refused redirect URI that the caller saw; raise `RedirectUriGone` when it is gone.

    Raise `NoRefusedRedirect` for one at a host at which the service has no address.
    """
    service = service_access.authorize_and_lock(uow, slug, service_slug, Operation.SERVICE_UPDATE).service
    if not _require_waiting(uow, service, redirect_uri).is_at_host_of(service):
        raise NoRefusedRedirect
    return add(uow, slug, service_slug, redirect_uri, seen=service.version, outside=outside)


def forget(uow: UnitOfWork, slug: str, service_slug: str, redirect_uri: str) -> None:
    """Forget the refused redirect URI that the caller saw; raise `RedirectUriGone` when it is gone."""
    service = service_access.authorize(uow, slug, service_slug, Operation.SERVICE_UPDATE).service
    _require_waiting(uow, service, redirect_uri)
    uow.client_problems.remove(service.organization_id, service.id, ProblemKind.REDIRECT_URI, redirect_uri)


def refused_in(problem: ClientProblem, service: Service) -> RefusedRedirect | None:
    """Return the redirect URI of a trouble; None if it is no address, or registered."""
    sent = problem.details.sent
    if problem.kind is not ProblemKind.REDIRECT_URI or sent is None or not redirect_uris.is_address(sent):
        return None
    if service.has_registered(sent, among=service.redirect_uris):
        return None
    return RefusedRedirect(redirect_uri=sent, refused_at=problem.at)


def _waiting(uow: UnitOfWork, service: Service) -> Sequence[RefusedRedirect]:
    """Return the refused redirect URIs that could be registered, the last one first."""
    found = (refused_in(problem, service) for problem in problems.of_service(uow, service))
    return [refused for refused in found if refused is not None]


def _require_waiting(uow: UnitOfWork, service: Service, redirect_uri: str) -> RefusedRedirect:
    for refused in _waiting(uow, service):
        if refused.redirect_uri == redirect_uri:
            return refused
    raise RedirectUriGone


def _place_of(redirect_uri: str) -> tuple[str, str] | None:
    """Return the scheme and the host of an address; None if they cannot be read."""
    try:
        parts = urlsplit(redirect_uri)
    except ValueError:
        return None
    return parts.scheme.lower(), parts.hostname or ""
