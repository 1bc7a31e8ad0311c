"""Everything personal that is kept of somebody, in one package (identity 2.8); being forgotten is `anonymization.py`.

Nothing that signs in is in it, not even as a hash, and nothing encrypted is opened for it. The owner of an organization
gets of it what concerns that organization, and what happened in none (decisions 7.2): of which others somebody is a
member, and how they sign in there, is no business of theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - the reference is made from the fields of the classes below
from typing import TYPE_CHECKING, Final
from uuid import UUID  # noqa: TC003 - likewise

from core.accounts.users import UserUnknown
from core.credentials.passkeys import PasskeyItem  # noqa: TC001 - likewise
from core.errors import Forbidden, OrganizationNotActive
from core.organizations import access

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.sessions.callers import Caller
    from ports.unit_of_work import UnitOfWork

# The newest of them; `login_events_count` counts them all.
LOGIN_EVENTS_MAX: Final = 1000
MFA_EVENTS_MAX: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedMembership:
    """An organization that the person is a member of."""

    organization_id: UUID
    organization_slug: str
    role: str
    joined_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedLogin:
    """One attempt to sign in; `risk_score` is 0 to 100, `risk_factors` a list of words as JSON text."""

    id: UUID
    timestamp: datetime
    ip_address: str | None
    user_agent: str | None
    provider: str
    success: bool
    risk_score: int
    risk_factors: str
    geo_country: str | None
    geo_city: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedIdentity:
    """An account elsewhere that the person signs in with."""

    provider: str
    provider_user_id: str
    linked_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedMfaEvent:
    """Something that happened to the person's second factor or to the security of the account."""

    event_type: str
    timestamp: datetime
    success: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportPackage:
    """What is kept of a person; the newest login events, and how many there are in all."""

    user_id: UUID
    email: str
    created_at: datetime
    memberships: list[ExportedMembership]
    login_events_count: int
    login_events: list[ExportedLogin]
    oauth_identities: list[ExportedIdentity]
    mfa_events: list[ExportedMfaEvent]
    passkeys: list[PasskeyItem]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedOrganization:
    """An organization that the caller owns and the person is a member of."""

    organization_id: UUID
    is_active: bool
    mfa_required: bool


def export(uow: UnitOfWork, user_id: UUID) -> ExportPackage:
    """Put together what is kept of somebody: for themselves, an owner of an organization of theirs, the platform."""
    within = _within(uow, uow.caller, user_id)
    user = uow.users.by_id(user_id)
    if user is None:
        raise UserUnknown
    kept = uow.privacy_export
    return ExportPackage(
        user_id=user.id,
        email=user.email,
        created_at=user.created_at,
        memberships=list(kept.memberships(user.id, within=within)),
        login_events_count=kept.count_logins(user.id, within=within),
        login_events=list(kept.newest_logins(user.id, LOGIN_EVENTS_MAX, within=within)),
        # Nobody can link one yet.
        oauth_identities=[],
        mfa_events=list(kept.newest_mfa_events(user.id, MFA_EVENTS_MAX)),
        passkeys=[passkey.item for passkey in uow.passkeys.of_user(user.id)],
    )


def _within(uow: UnitOfWork, caller: Caller, user_id: UUID) -> Sequence[UUID] | None:
    """List the organizations of which the caller may know; None is all of them. Refuse whoever may know of none."""
    if caller.user_id == user_id or caller.acts_as_platform_owner:
        return None
    caller.forbid_service_tokens()
    owned = uow.privacy_export.organizations_of_both(user_id, caller.user_id)
    if not owned:
        raise Forbidden("You may export your own data, and those of the members of an organization that you own.")
    active = [one for one in owned if one.is_active]
    if not active:
        raise OrganizationNotActive
    if any(one.mfa_required for one in active):
        access.require_second_factor(caller)
    return [one.organization_id for one in active]
