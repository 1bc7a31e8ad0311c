"""The caller's profile, in the context of the session."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - the reference is made from the fields of `Profile`
from typing import TYPE_CHECKING
from uuid import UUID  # noqa: TC003 - likewise

from core.errors import Forbidden
from core.organizations import access
from core.organizations.access import Capability  # noqa: TC001 - likewise

if TYPE_CHECKING:
    from core.sessions.callers import Caller
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The caller's account in the context of the session; `org` and `service` are empty outside such a context."""

    id: UUID
    email: str
    org: str
    service: str
    email_verified: bool
    is_platform_owner: bool
    created_at: datetime
    role: str | None
    permissions: list[Capability]
    plan: str | None
    features: list[str]


def read(uow: UnitOfWork) -> Profile:
    """Return the caller's profile (identity 2.1, decisions 3.10).

    Raise `Forbidden` when the caller no longer belongs to the session's organization or service.
    """
    caller = uow.caller
    if not caller.belongs_to_context:
        raise Forbidden("You no longer belong to the organization of this session. Sign in again without naming it.")
    return _profile_of(caller)


def _profile_of(caller: Caller) -> Profile:
    capabilities = access.capabilities_of(caller.role, caller.custom_permissions) if caller.role is not None else ()
    return Profile(
        id=caller.user_id,
        email=caller.email,
        org=caller.organization_slug or "",
        service=caller.service_slug or "",
        email_verified=caller.is_verified,
        is_platform_owner=caller.is_platform_owner,
        created_at=caller.user_created_at,
        role=caller.role,
        permissions=sorted(capabilities),
        plan=caller.service_plan.name if caller.service_plan is not None else None,
        features=caller.service_plan.features if caller.service_plan is not None else [],
    )
