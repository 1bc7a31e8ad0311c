"""Adding and removing single redirect URIs of a service, and the last one that was refused.

When `/auth/authorize` is called with an address that the service has not registered, the address is remembered: one for
each service, the last, and at most one in a minute, because everybody can cause it. Nothing follows from it by itself.
It is offered to be added only where it leads to a host at which the service has registered another address: a stranger
can choose any other host, and would need one press of the owner. Such an address is shown, and typed by who knows it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from uuid import UUID

from core.errors import Conflict, NotFound
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.services import access, management, redirect_uris
from core.services.client_records import Outside
from core.services.services import Service

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

REFUSALS_KEPT_EVERY: Final = timedelta(minutes=1)
_FIELD: Final = "redirect_uris"


class RedirectUriGone(Conflict):
    """The redirect URI was removed, or the refused one is another by now."""

    default_message = "This address is no longer here, or another one was refused meanwhile. Check what is shown now."


class NoRefusedRedirect(NotFound):
    """No redirect URI of the service was refused lately that leads to a host of its own."""

    default_message = (
        "No redirect URI waits to be added here. It may be added or forgotten already, or lead to a host at which this"
        " service has no address yet: type such an address yourself."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedRedirect:
    """The redirect URI that was refused last."""

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
        """Whether a service of some type could register it as it is."""
        return redirect_uris.is_registrable(self.redirect_uri)


def add(uow: UnitOfWork, slug: str, service_slug: str, redirect_uri: str, *, seen: str, outside: Outside) -> Service:
    """Register a redirect URI; raise `BadRequest` for one that is invalid, and `ServiceChanged`."""
    service = access.authorize(uow, slug, service_slug, Operation.SERVICE_UPDATE).service
    wanted = [*service.redirect_uris, redirect_uri.strip()]
    changed = management.change(uow, slug, service_slug, {_FIELD: wanted}, outside=outside, seen=seen)
    _forget(uow, changed, redirect_uri.strip())
    return changed


def remove(uow: UnitOfWork, slug: str, service_slug: str, redirect_uri: str, *, seen: str, outside: Outside) -> Service:
    """Remove a redirect URI; raise `RedirectUriGone` when it is none of the service, and `ServiceChanged`."""
    service = access.authorize(uow, slug, service_slug, Operation.SERVICE_UPDATE).service
    if redirect_uri not in service.redirect_uris:
        raise RedirectUriGone
    wanted = [one for one in service.redirect_uris if one != redirect_uri]
    return management.change(uow, slug, service_slug, {_FIELD: wanted}, outside=outside, seen=seen)


def show(uow: UnitOfWork, slug: str, service_slug: str) -> RefusedRedirect | None:
    """Return the redirect URI that was refused last and is not registered; None when there is none."""
    return _waiting(uow, access.authorize(uow, slug, service_slug, Operation.SERVICE_READ).service)


def show_refused(uow: UnitOfWork, slug: str, service_slug: str) -> RefusedRedirect:
    """Return the redirect URI that was refused last, to decide about it; raise `NoRefusedRedirect`."""
    service = access.authorize(uow, slug, service_slug, Operation.SERVICE_UPDATE).service
    refused = _waiting(uow, service)
    if refused is None or not refused.is_at_host_of(service):
        raise NoRefusedRedirect
    return refused


def add_refused(uow: UnitOfWork, slug: str, service_slug: str, redirect_uri: str, *, outside: Outside) -> Service:
    """Register the refused redirect URI that the caller saw; raise `RedirectUriGone` when it is another by now.

    Raise `NoRefusedRedirect` for one at a host at which the service has no address.
    """
    service = access.authorize_and_lock(uow, slug, service_slug, Operation.SERVICE_UPDATE).service
    if not _require_waiting(uow, service, redirect_uri).is_at_host_of(service):
        raise NoRefusedRedirect
    return add(uow, slug, service_slug, redirect_uri, seen=service.version, outside=outside)


def forget(uow: UnitOfWork, slug: str, service_slug: str, redirect_uri: str) -> None:
    """Forget the refused redirect URI that the caller saw; raise `RedirectUriGone` when it is another by now."""
    service = access.authorize(uow, slug, service_slug, Operation.SERVICE_UPDATE).service
    _require_waiting(uow, service, redirect_uri)
    uow.refused_redirects.remove(service.organization_id, service.id)


def is_kept(uow: UnitOfWork, service: Service, redirect_uri: str) -> bool:
    """Return whether a refused redirect URI is to be remembered: one in a minute, if it could be an address at all.

    One that leads to another host takes no place from one that may be added.
    """
    if not redirect_uris.is_address(redirect_uri):
        return False
    last = _waiting(uow, service)
    if last is None:
        return True
    refused = RefusedRedirect(redirect_uri=redirect_uri, refused_at=uow.now)
    is_worth = refused.is_at_host_of(service) or not last.is_at_host_of(service)
    return is_worth and uow.now - last.refused_at >= REFUSALS_KEPT_EVERY


def keep(uow: UnitOfWork, organization_id: UUID, service_id: UUID, redirect_uri: str) -> None:
    """Remember a refused redirect URI in place of the one before; of several at once one is remembered."""
    refused = RefusedRedirect(redirect_uri=redirect_uri, refused_at=uow.now)
    uow.refused_redirects.save(organization_id, service_id, refused, unless_since=uow.now - REFUSALS_KEPT_EVERY)


def _waiting(uow: UnitOfWork, service: Service) -> RefusedRedirect | None:
    refused = uow.refused_redirects.find(service.organization_id, service.id)
    if refused is None or service.has_registered(refused.redirect_uri, among=service.redirect_uris):
        return None
    return refused


def _require_waiting(uow: UnitOfWork, service: Service, redirect_uri: str) -> RefusedRedirect:
    refused = _waiting(uow, service)
    if refused is None or refused.redirect_uri != redirect_uri:
        raise RedirectUriGone
    return refused


def _place_of(redirect_uri: str) -> tuple[str, str] | None:
    """Return the scheme and the host of an address; None for one of which they cannot be read."""
    try:
        parts = urlsplit(redirect_uri)
    except ValueError:
        return None
    return parts.scheme.lower(), parts.hostname or ""


def _forget(uow: UnitOfWork, service: Service, redirect_uri: str) -> None:
    refused = uow.refused_redirects.find(service.organization_id, service.id)
    if refused is not None and refused.redirect_uri == redirect_uri:
        uow.refused_redirects.remove(service.organization_id, service.id)
