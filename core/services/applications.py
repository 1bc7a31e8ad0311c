"""The applications that a person has signed in to: services of organizations, and what each of them has of the account.

The first sign-in to a service is the consent to it, and the link that it makes keeps that consent. Disconnecting a
service ends its sessions, and the link if the person made it; what an organization gave, by a membership or a key,
stays, and so does a subscription.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import NotFound
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations import departures
from core.organizations.departures import LinkOrigin
from core.sessions import sessions
from core.sessions.caller_limits import Act

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# More than a person has; the ones used last are listed.
APPLICATIONS_MAX: Final = 100


class ApplicationUnknown(NotFound):
    """The person has not signed in to such a service, whether or not it exists."""

    default_message = "You have not signed in to this application."


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """A service that a person has signed in to; `id` is the service's.

    `created_at` is when the person was linked to it. `sessions` counts its live sessions, and `scopes` are theirs.
    `origin` is what the link came with, and `is_subscribed` whether the person has a live subscription.
    """

    id: UUID
    client_id: UUID
    client_name: str
    organization_id: UUID
    org_slug: str
    organization_name: str
    service_slug: str
    is_saml: bool
    scopes: list[str]
    created_at: datetime
    last_used_at: datetime
    sessions: int
    origin: LinkOrigin
    is_subscribed: bool

    @property
    def is_kept(self) -> bool:
        """Whether disconnecting it keeps the link."""
        return self.origin is not LinkOrigin.SELF or self.is_subscribed

    @property
    def can_be_disconnected(self) -> bool:
        """Whether disconnecting it ends anything."""
        return self.sessions > 0 or not self.is_kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Applications:
    """The applications that a person used last, and the number of all."""

    applications: Sequence[Application]
    total: int


def list_mine(uow: UnitOfWork) -> Applications:
    """Return the caller's applications, as far as their session shows them, the one used last first."""
    caller = uow.caller
    found, total = uow.applications.of_user(caller.account.id, limits=caller.shown_within, limit=APPLICATIONS_MAX)
    return Applications(applications=found, total=total)


def show_mine(uow: UnitOfWork, service_id: UUID) -> Application:
    """Return one of the caller's applications; raise `ApplicationUnknown` for one that their session does not show."""
    caller = uow.caller
    found = uow.applications.find(caller.account.id, service_id, limits=caller.shown_within)
    if found is None:
        raise ApplicationUnknown
    return found


def disconnect_mine(uow: UnitOfWork, service_id: UUID) -> None:
    """Disconnect one of the caller's applications; raise `ApplicationUnknown` as `show_mine` does."""
    caller = uow.caller
    caller.require(Act.IN_PERSON)
    application = show_mine(uow, service_id)
    sessions.end_at_service(uow, application.organization_id, service_id, caller.account.id, caller.account.email)
    if departures.end_own_link(uow, application.organization_id, service_id, caller.account.id):
        uow.record(
            AuditAction.USER_REMOVED,
            caller.account.id,
            organization_id=application.organization_id,
            user_id=str(caller.account.id),
            service_id=str(service_id),
            service_slug=application.service_slug,
            left=True,
        )
