"""Takeovers: reverts what an account did and was given while another person had it (ops/decisions/0051).

A takeover begins with the request for another address, which records what the account held, and ends when the change
of address is undone. An account takes others along: a user who got a role, an invitation or the ownership from it acts
with the power of the takeover, and so does a user who gets a role from them. `takeover_credentials.py` withdraws what
all of these made since in the organizations of the account; `takeover_mails.py` tells the owners and admins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Self
from uuid import UUID

from core.events.actions import AlikeTargets, AuditAction
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.organizations import access, inviters, management, members, takeover_claims
from core.organizations.access import Capability
from core.organizations.organizations import BUILT_IN_ROLES, MEMBER, OWNER, Membership, Organization, OrganizationStatus
from core.parts import in_parts
from core.sessions import customer_endings, sessions

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_NOTHING: Final[frozenset[Capability]] = frozenset()
REASON: Final = "email_change_undone"
SUSPENSION_REASON: Final = "address_undone"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldAccess:
    """What an account held, and had confirmed, when a takeover began.

    `roles` has the roles of its memberships by the ids of the organizations, `grants` the relations to services by
    the ids of the services.
    """

    roles: Mapping[UUID, str]
    grants: Mapping[UUID, str]

    def stored(self) -> dict[str, Any]:
        """Return the form in which the token of a mail carries it."""
        return {
            "roles": {str(organization_id): role for organization_id, role in self.roles.items()},
            "grants": {str(service_id): relation for service_id, relation in self.grants.items()},
        }

    @classmethod
    def read(cls, stored: Mapping[str, Mapping[str, str]]) -> Self:
        """Return what `stored` has returned."""
        return cls(
            roles={UUID(organization_id): role for organization_id, role in stored["roles"].items()},
            grants={UUID(service_id): relation for service_id, relation in stored["grants"].items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Takeover:
    """An account that another person has had since a moment, and what the account held then."""

    user_id: UUID
    since: datetime
    held: HeldAccess


@dataclass(frozen=True, slots=True, kw_only=True)
class Acting:
    """A user or a credential that has had the power of a takeover in an organization since a moment.

    Either `user_id` is None, or both others are: `named_by` is the detail by which audit entries name the credential,
    `key_id` the key of the organization as which a workload calls.
    """

    organization_id: UUID
    user_id: UUID | None
    named_by: str | None = None
    credential_id: UUID | None = None
    key_id: UUID | None = None
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """An entry of an audit log about an act with the power of a takeover."""

    organization_id: UUID
    action: str
    target_id: str
    details: Mapping[str, Any]
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenRole:
    """The role of a member before the takeover, the last one that the takeover gave, and the present one."""

    organization_id: UUID
    user_id: UUID
    before: str
    given: str
    now: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedRole:
    """A custom role that was changed with the power of a takeover, with its permissions and scopes before.

    `scopes` is None where they were not changed.
    """

    organization_id: UUID
    slug: str
    permissions: list[str]
    scopes: list[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitedMember:
    """A member by an invitation that was sent with the power of a takeover."""

    organization_id: UUID
    user_id: UUID
    email: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RevertedGrant:
    """A grant on a service that has fallen back; `relation` is the present one, None when it has ended."""

    organization_id: UUID
    service_id: UUID
    service_slug: str
    user_id: UUID
    relation: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RevertedAccess:
    """What access was reverted, in which organizations, and who used the power of the takeover."""

    organizations: Mapping[UUID, Organization]
    since: datetime
    acting: Sequence[Acting]
    suspended: Sequence[InvitedMember]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUpCustomer:
    """A customer for which a person of its vendor has made something with the power of a takeover."""

    vendor_id: UUID
    customer_id: UUID
    internal_id: UUID
    user_id: UUID
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeThing:
    """Something that was made or made to lead elsewhere; `label` never contains a text of its maker.

    `recorded` are the details by which an audit entry names it.
    """

    kind: str
    organization_id: UUID
    id: UUID
    label: str
    recorded: dict[str, Any]


def held_by(uow: UnitOfWork, user_id: UUID) -> HeldAccess:
    """Return what an account holds and has confirmed."""
    return HeldAccess(roles=uow.takeovers.confirmed_roles(user_id), grants=uow.takeovers.grants(user_id))


def revert(uow: UnitOfWork, takeover: Takeover) -> RevertedAccess | None:
    """Give a locked account the access back that it held, and take back what was given with the takeover's power.

    Return None when only an operator can: the account has become the owner of an organization of other people, or has
    passed such an ownership on. The caller rolls back then.
    """
    # The locks first: a role given at this moment is either found below, or refused because the session has ended.
    organizations = _locked(uow, takeover)
    mine = {one.organization_id: one for one in uow.members.of_account(takeover.user_id)}
    acting = uow.takeovers.acting(takeover.user_id, list(organizations), since=takeover.since)
    given = uow.takeovers.given_roles(acting)
    founded = {
        organization_id
        for organization_id, one in mine.items()
        if organization_id not in takeover.held.roles
        and one.created_at == organizations[organization_id].created_at >= takeover.since
        and not organizations[organization_id].is_internal
    }
    claimed = takeover_claims.claimed(
        uow, [one for one in mine.values() if one.organization_id not in takeover.held.roles], since=takeover.since
    )
    founded |= claimed
    if _needs_operator(takeover, mine, given, founded):
        return None
    _revert_definitions(uow, acting)
    for organization_id in founded:
        suspend_organization(uow, organizations[organization_id])
    for organization_id in sorted(claimed):
        takeover_claims.give_back(uow, organizations[organization_id], reason=REASON)
    roles = _Roles(uow)
    _revert_ownerships(uow, takeover, organizations, given, roles)
    _revert_own(uow, takeover, mine, founded, roles)
    _revert_given(uow, takeover, given, roles)
    suspended = _suspend_invited(uow, takeover, acting)
    _record_grants(uow, uow.takeovers.revert_grants(acting, takeover))
    return RevertedAccess(organizations=organizations, since=takeover.since, acting=acting, suspended=suspended)


class _Roles:
    """What the roles of organizations allow; each organization is read once."""

    def __init__(self, uow: UnitOfWork) -> None:
        self._uow = uow
        self._known: dict[UUID, Mapping[str, frozenset[Capability]]] = {}

    def lower_of(self, organization_id: UUID, then: str, now: str) -> str:
        """Return the one of the two roles that allows less; member where neither includes the other.

        A custom role that was deleted allows nothing, and is no role to go back to.
        """
        if then == now:
            return now
        allowed = self._of(organization_id)
        allowed_then, allowed_now = allowed.get(then, _NOTHING), allowed.get(now, _NOTHING)
        if allowed_now <= allowed_then:
            return now
        return then if allowed_then <= allowed_now and then in allowed else MEMBER

    def to_fall_back_to(self, organization_id: UUID, role: str) -> str:
        """Return a role that a member had, if it can be given: the ownership cannot, and a deleted role is gone."""
        is_given = role in BUILT_IN_ROLES or role in self._of(organization_id)
        return role if role != OWNER and is_given else MEMBER

    def _of(self, organization_id: UUID) -> Mapping[str, frozenset[Capability]]:
        if organization_id not in self._known:
            custom = self._uow.roles.of_organization(organization_id)
            built_in = {role: access.capabilities_of(role, None) for role in BUILT_IN_ROLES}
            self._known[organization_id] = built_in | {one.slug: access.implied_by(one.permissions) for one in custom}
        return self._known[organization_id]


def _locked(uow: UnitOfWork, takeover: Takeover) -> Mapping[UUID, Organization]:
    """Lock the organizations of an account, and those in which it held something; return the ones that still exist.

    The account joins no further one: a membership is written only while no one changes the address of its account.
    """
    known = {*uow.members.all_organizations_of(takeover.user_id), *takeover.held.roles}
    locked = {organization_id: uow.organizations.lock(organization_id) for organization_id in sorted(known)}
    return {organization_id: one for organization_id, one in locked.items() if one is not None}


def _needs_operator(
    takeover: Takeover, mine: Mapping[UUID, Membership], given: Sequence[GivenRole], founded: set[UUID]
) -> bool:
    held = takeover.held.roles
    return any(
        one.role == OWNER and held.get(one.organization_id) != OWNER and one.organization_id not in founded
        for one in mine.values()
    ) or any(
        one.now == OWNER
        and one.user_id != takeover.user_id
        and held.get(one.organization_id) != OWNER
        and one.organization_id not in founded
        for one in given
    )


def _revert_definitions(uow: UnitOfWork, acting: Sequence[Acting]) -> None:
    """Give custom roles their permissions and scopes back; this comes first, because roles are compared by these."""
    for changed in uow.takeovers.changed_roles(acting):
        uow.takeovers.restore_role(changed)
        allowed = access.capabilities_of(changed.slug, changed.permissions)
        inviters.withdraw_of_role(uow, changed.organization_id, changed.slug, allowed)
        uow.record(
            AuditAction.ORGANIZATION_UPDATED,
            changed.organization_id,
            organization_id=changed.organization_id,
            audit_only={"permissions": changed.permissions},
            change="role_updated",
            role_slug=changed.slug,
            reason=REASON,
        )


def suspend_organization(uow: UnitOfWork, organization: Organization) -> None:
    """Suspend an organization that was founded or claimed in the takeover, until the platform has looked at it."""
    if organization.status in {OrganizationStatus.ACTIVE, OrganizationStatus.PENDING}:
        after = organization.suspended_for_review(SUSPENSION_REASON, at=uow.now)
        management.save_and_record(uow, organization, after)


def _revert_ownerships(
    uow: UnitOfWork,
    takeover: Takeover,
    organizations: Mapping[UUID, Organization],
    given: Sequence[GivenRole],
    roles: _Roles,
) -> None:
    """Give the account its ownerships back, from the present owners, with its memberships."""
    owned = [one for one, role in takeover.held.roles.items() if role == OWNER and one in organizations]
    before = {(one.organization_id, one.user_id): one.before for one in given}
    for owner in uow.takeovers.owners(owned):
        if owner.user_id == takeover.user_id:
            continue
        role = roles.to_fall_back_to(owner.organization_id, before.get((owner.organization_id, owner.user_id), MEMBER))
        # A unique index allows no two owners, so the present one is lowered first.
        _set_roles(uow, owner.organization_id, owner.role, role, [owner.user_id])
        earlier = uow.takeovers.restore_owner(
            Membership(
                id=uow.randomness.new_id(),
                organization_id=owner.organization_id,
                user_id=takeover.user_id,
                role=OWNER,
                created_at=uow.now,
            )
        )
        _record_restored_owner(uow, owner.organization_id, takeover.user_id, earlier)
        uow.publish(
            EventType.ORGANIZATION_OWNER_CHANGED,
            organization_id=owner.organization_id,
            old_owner_user_id=str(owner.user_id),
            new_owner_user_id=str(takeover.user_id),
        )


def _record_restored_owner(uow: UnitOfWork, organization_id: UUID, user_id: UUID, earlier: str | None) -> None:
    if earlier is None:
        uow.audit(AuditAction.USER_JOINED, user_id, organization_id=organization_id, role=OWNER, reason=REASON)
        return
    uow.audit(
        AuditAction.USER_ROLE_UPDATED,
        user_id,
        organization_id=organization_id,
        old_role=earlier,
        new_role=OWNER,
        reason=REASON,
    )


def _revert_own(
    uow: UnitOfWork, takeover: Takeover, mine: Mapping[UUID, Membership], founded: set[UUID], roles: _Roles
) -> None:
    """End the memberships that the account was given, and lower the roles that were raised."""
    for organization_id, membership in mine.items():
        then = takeover.held.roles.get(organization_id)
        if then == OWNER or (organization_id in founded and membership.role == OWNER):
            continue
        if then is None:
            members.end_membership(uow, membership, reason=REASON)
            continue
        role = roles.lower_of(organization_id, then, membership.role)
        if role != membership.role:
            _set_roles(uow, organization_id, membership.role, role, [takeover.user_id])


def _revert_given(uow: UnitOfWork, takeover: Takeover, given: Sequence[GivenRole], roles: _Roles) -> None:
    """Give other members their roles back; a role that was changed by right since is only lowered."""
    alike: dict[tuple[UUID, str, str, str], list[UUID]] = {}
    for one in given:
        # A present owner owns an organization that was founded in the takeover and is suspended; the others have fallen
        # back with the ownership.
        if one.user_id != takeover.user_id and one.now != OWNER:
            alike.setdefault((one.organization_id, one.before, one.given, one.now), []).append(one.user_id)
    for (organization_id, before, last_given, now), user_ids in alike.items():
        fallen = roles.to_fall_back_to(organization_id, before)
        role = fallen if now == last_given else roles.lower_of(organization_id, fallen, now)
        if role != now:
            _set_roles(uow, organization_id, now, role, user_ids)


def _suspend_invited(uow: UnitOfWork, takeover: Takeover, acting: Sequence[Acting]) -> Sequence[InvitedMember]:
    """Suspend the members that came by invitations of the takeover, and end their sessions there."""
    invited = uow.takeovers.suspend_invited(acting, except_user_id=takeover.user_id)
    for one in invited:
        ended = sessions.end_in_organization(uow, one.organization_id, one.user_id)
        sessions.record_ended(uow, one.user_id, one.email, ended)
    if invited:
        targets = [(one.organization_id, one.user_id) for one in invited]
        uow.record_each(AuditAction.USER_DEACTIVATED, targets, reason=REASON)
    return invited


def _record_grants(uow: UnitOfWork, reverted: Sequence[RevertedGrant]) -> None:
    if reverted:
        uow.record_alike(
            AuditAction.SERVICE_UPDATED,
            [
                AlikeTargets(
                    targets=[(one.organization_id, one.service_id)],
                    details={
                        "service_slug": one.service_slug,
                        "change": "access_revoked" if one.relation is None else "access_granted",
                        "user_id": str(one.user_id),
                        "relation": one.relation,
                        "reason": REASON,
                    },
                )
                for one in reverted
            ],
        )


def _set_roles(uow: UnitOfWork, organization_id: UUID, before: str, role: str, user_ids: Sequence[UUID]) -> None:
    """Give members, who all have the same role, another one."""
    for part in in_parts(user_ids):
        uow.members.set_role(organization_id, part, role)
        customer_endings.end_lost(uow, organization_id, part)
        inviters.withdraw_of_moved(uow, organization_id, dict.fromkeys(part, role))
        uow.record_each(
            AuditAction.USER_ROLE_UPDATED,
            [(organization_id, user_id) for user_id in part],
            old_role=before,
            new_role=role,
            reason=REASON,
        )
