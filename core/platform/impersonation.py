"""Impersonation: starting a session in which a platform owner acts as a user, for an hour at most, to help them.

It is a session of the user, and every request in it knows the impersonator (`Caller.impersonator_id`): operations that
give access to accounts, end sessions or remove the user are refused (`Caller.forbid_impersonation`), and every audit
entry names the impersonator. The user sees it in the list of their sessions, marked as an impersonation, and can end
it. It appears neither in the user's login events nor in their devices, because they did not sign in.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - the reference is made from the fields of the classes below
from typing import TYPE_CHECKING, Final
from uuid import UUID  # noqa: TC003 - likewise

from core.accounts.users import UserUnknown
from core.errors import BadRequest, Forbidden, NotFound, OrganizationNotActive, all_valid
from core.events.platform_actions import PlatformAction
from core.limits import IMPERSONATION_LIFETIME_MAX
from core.organizations.access import authorize_platform
from core.secrets import hash_token
from core.sessions import refresh, security_profiles
from core.sessions.refresh import SessionOver
from core.sessions.sessions import Session
from core.sessions.token_claims import TokenGrant, token_grant
from core.sign_in import places
from core.text import checked_reason

if TYPE_CHECKING:
    from core.accounts.users import User
    from core.organizations.organizations import Organization
    from core.services.services import Service
    from core.sessions.callers import Caller
    from ports.unit_of_work import UnitOfWork

PROVIDER: Final = "impersonation"


class TargetIsPlatformOwner(BadRequest):
    """The user is a platform owner, possibly the caller."""

    default_message = "A platform owner cannot be impersonated."


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpersonationTarget:
    """The reason for an impersonation, and its context."""

    reason: str
    organization_slug: str | None = None
    service_slug: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpersonatedUser:
    """The user who is impersonated."""

    id: UUID
    email: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Impersonation:
    """A new impersonation session (identity 2.9)."""

    grant: TokenGrant
    user: ImpersonatedUser
    audit_log_id: UUID

    @property
    def expires_at(self) -> datetime:
        """When the session ends at the latest."""
        return self.grant.session_expires_at


def start(uow: UnitOfWork, user_id: UUID, wanted: ImpersonationTarget) -> Impersonation:
    """Start a session as another user, for an hour at most."""
    owner = authorize_platform(uow)
    reason, _ = all_valid(lambda: checked_reason(wanted.reason), lambda: _require_organization(wanted))
    # Locked, so that an account that is deactivated or promoted at this moment keeps no earlier session.
    user = uow.users.lock(user_id)
    if user is None or not user.is_active:
        raise UserUnknown
    if user.is_platform_owner:
        raise TargetIsPlatformOwner
    organization, service = _context(uow, wanted)
    # Locked, so that the end of the owner's session finds this impersonation and ends it too.
    if uow.sessions.lock_refresh_hash(owner.session_id) is None:
        raise SessionOver

    session = _session(uow, owner, user, organization, service)
    refresh_token = refresh.first_token(uow, session.id)
    uow.sessions.add(session, refresh_hash=hash_token(refresh_token.reveal()))
    caller = uow.callers.of_session(session.id)
    if caller is None:
        # The caller was demoted at this moment; raising rolls everything back.
        raise Forbidden("Only a platform owner can do this.")
    if not caller.belongs_to_context:
        raise _does_not_belong(wanted)
    entry_id = uow.audit_platform(
        PlatformAction.IMPERSONATION_STARTED,
        user.id,
        organization_id=session.organization_id,
        reason=reason,
        impersonation_session=str(session.id),
        service_id=str(service.id) if service is not None else None,
    )
    return Impersonation(
        grant=token_grant(caller, refresh_token, session_expires_at=session.expires_at),
        user=ImpersonatedUser(id=user.id, email=user.email),
        audit_log_id=entry_id,
    )


def _context(uow: UnitOfWork, wanted: ImpersonationTarget) -> tuple[Organization | None, Service | None]:
    organization = places.require_known(uow, wanted.organization_slug)
    if organization is None:
        return None, None
    if not organization.is_active:
        raise OrganizationNotActive
    if wanted.service_slug is None:
        return organization, None
    service = uow.services.by_slug(organization.id, wanted.service_slug)
    if service is None:
        raise NotFound("This organization has no such service.")
    security_profiles.require_pushed(service.security_profile, is_pushed=False)
    return organization, service


def _require_organization(wanted: ImpersonationTarget) -> None:
    if wanted.service_slug is not None and wanted.organization_slug is None:
        raise BadRequest.of_field("org_slug", "Name the organization of the service.")


def _does_not_belong(wanted: ImpersonationTarget) -> BadRequest:
    if wanted.service_slug is None:
        return BadRequest.of_field("org_slug", "This user is not a member of this organization.")
    return BadRequest.of_field("service_slug", "This user has never signed in to this service.")


def _session(
    uow: UnitOfWork, owner: Caller, user: User, organization: Organization | None, service: Service | None
) -> Session:
    return Session(
        id=uow.randomness.new_id(),
        user_id=user.id,
        organization_id=organization.id if organization is not None else None,
        service_id=service.id if service is not None else None,
        device_id=None,
        provider=PROVIDER,
        # The authentication of the platform owner, because the user has not authenticated.
        amr=list(owner.amr),
        authenticated_at=owner.authenticated_at,
        refreshed_at=uow.now,
        expires_at=uow.now + IMPERSONATION_LIFETIME_MAX,
        # The owner's origin is in the platform's log; the user, who can list this session, must not see it.
        ip_address=None,
        user_agent=None,
        impersonator_id=owner.user_id,
        impersonator_session_id=owner.session_id,
        created_at=uow.now,
    )
