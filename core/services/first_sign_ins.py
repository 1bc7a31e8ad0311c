"""The first sign-in to a service, which shows that a newly connected application works.

All sign-ins are read in `core/sign_in/sign_ins.py` and `core/audit/sign_in_log.py`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from core.lazy_dataclasses import dataclass
from core.limits import SIGN_INS_KEPT_FOR
from core.organizations.access import Capability, Operation
from core.services import redirect_changes, service_access
from core.services.redirect_changes import RefusedRedirect

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstSignIn:
    """The oldest kept successful sign-in to a service, and the address of its user.

    `email` is None for a reader who may not see the end users, and where the account is gone or has left the service.
    `is_first` says that no earlier one can have been forgotten.
    """

    signed_in_at: datetime
    email: str | None
    is_first: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Connecting:
    """The progress of connecting an application: the last refused redirect URI, and the first sign-in."""

    refused: RefusedRedirect | None
    first_sign_in: FirstSignIn | None


def show(uow: UnitOfWork, slug: str, service_slug: str) -> FirstSignIn | None:
    """Return the first sign-in to a service; None while there is none."""
    authorized = service_access.authorize(uow, slug, service_slug, Operation.SERVICE_READ)
    service = authorized.service
    found = uow.first_sign_ins.find(service.organization_id, service.id, since=service.created_at)
    if found is None:
        return None
    sees_people = Capability.END_USERS_VIEW in authorized.capabilities
    return replace(
        found,
        email=found.email if sees_people else None,
        is_first=service.created_at > uow.now - SIGN_INS_KEPT_FOR,
    )


def show_connecting(uow: UnitOfWork, slug: str, service_slug: str) -> Connecting:
    """Return the progress of connecting an application to a service."""
    return Connecting(
        refused=redirect_changes.show(uow, slug, service_slug), first_sign_in=show(uow, slug, service_slug)
    )
