"""Inviters: a member's open invitations end when the member may no longer send them.

Sending, answering and expiry are in `core/invitations/`. A transaction that uses this has locked the organization.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.events.actions import AuditAction
from core.organizations.access import Capability, capabilities_of, implied_by
from core.organizations.organizations import ADMIN, MEMBER

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_NOTHING: Final[frozenset[Capability]] = frozenset()


def may_invite_to(capabilities: frozenset[Capability], role: str, allowed_by_role: frozenset[Capability]) -> bool:
    """Return whether a member who manages others may invite to a role that allows `allowed_by_role`.

    Else members who manage others could invite themselves to a role that allows more than their own.
    """
    return role == MEMBER or (Capability.ORG_ROLES_MANAGE in capabilities and allowed_by_role <= capabilities)


def withdraw(
    uow: UnitOfWork, organization_id: UUID, inviter_id: UUID, capabilities: frozenset[Capability] = _NOTHING
) -> None:
    """Withdraw a member's open invitations whose role or services these capabilities no longer allow."""
    kept = _kept_roles(uow, organization_id, capabilities)
    gives_services = _gives_services(capabilities)
    _record(
        uow,
        uow.invitations.withdraw(organization_id, [inviter_id], except_roles=kept, keeps_services=gives_services),
    )


def withdraw_of_moved(uow: UnitOfWork, organization_id: UUID, new_roles: Mapping[UUID, str]) -> None:
    """Do what `withdraw` does for members whose roles have changed to these, in one statement for each new role."""
    if not new_roles:
        return
    inviters: dict[str, list[UUID]] = {}
    for inviter_id in uow.scim_groups.inviters_among(organization_id, list(new_roles)):
        inviters.setdefault(new_roles[inviter_id], []).append(inviter_id)
    if not inviters:
        return
    allowed = _allowed_by_roles(uow, organization_id)
    for role, inviter_ids in inviters.items():
        # A role that was deleted allows nothing.
        capabilities = allowed.get(role, _NOTHING)
        withdrawn = uow.invitations.withdraw(
            organization_id,
            inviter_ids,
            except_roles=_roles_to_invite_to(allowed, capabilities),
            keeps_services=_gives_services(capabilities),
        )
        _record(uow, withdrawn)


def withdraw_of_leaving(uow: UnitOfWork, organization_id: UUID, user_ids: Sequence[UUID]) -> None:
    """Withdraw all open invitations of members who leave."""
    if inviter_ids := uow.scim_groups.inviters_among(organization_id, user_ids):
        _record(uow, uow.invitations.withdraw(organization_id, inviter_ids, except_roles=(), keeps_services=False))


def withdraw_of_role(uow: UnitOfWork, organization_id: UUID, role: str, capabilities: frozenset[Capability]) -> None:
    """Do what `withdraw` does for every member with a role whose capabilities have changed to these."""
    kept = _kept_roles(uow, organization_id, capabilities)
    gives_services = _gives_services(capabilities)
    _record(
        uow,
        uow.invitations.withdraw_of_role(organization_id, role, except_roles=kept, keeps_services=gives_services),
    )


def withdraw_everywhere(uow: UnitOfWork, inviter_id: UUID) -> None:
    """Withdraw a user's open invitations to all organizations, because their account can no longer be used."""
    _record(uow, uow.invitations.withdraw(None, [inviter_id], except_roles=(), keeps_services=False))


def _gives_services(capabilities: frozenset[Capability]) -> bool:
    """Return whether a member may link people to services, as an invitation that names services does."""
    return Capability.END_USERS_MANAGE in capabilities


def _kept_roles(uow: UnitOfWork, organization_id: UUID, capabilities: frozenset[Capability]) -> Sequence[str]:
    if Capability.ORG_MEMBERS_MANAGE not in capabilities:
        return ()
    return _roles_to_invite_to(_allowed_by_roles(uow, organization_id), capabilities)


def _roles_to_invite_to(
    allowed: Mapping[str, frozenset[Capability]], capabilities: frozenset[Capability]
) -> Sequence[str]:
    if Capability.ORG_MEMBERS_MANAGE not in capabilities:
        return ()
    return [role for role, allowed_by_role in allowed.items() if may_invite_to(capabilities, role, allowed_by_role)]


def _allowed_by_roles(uow: UnitOfWork, organization_id: UUID) -> Mapping[str, frozenset[Capability]]:
    """Return what each role to which members are invited allows."""
    allowed = {role: capabilities_of(role, None) for role in (ADMIN, MEMBER)}
    return allowed | {role.slug: implied_by(role.permissions) for role in uow.roles.of_organization(organization_id)}


def _record(uow: UnitOfWork, withdrawn: Sequence[tuple[UUID, UUID]]) -> None:
    if withdrawn:
        uow.record_each(AuditAction.INVITATION_REVOKED, withdrawn)
