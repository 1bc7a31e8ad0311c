"""Withdraws or switches off what was made with the power of a takeover (ops/decisions/0051).

What opens something by itself ends: invitations, setup links, keys, SCIM tokens, the secrets of services. Webhooks,
streams and connections are switched off, and keep their settings for the admins to look at. `takeovers.py` says who
acted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.events.actions import AuditAction
from core.organizations import group_roles
from core.organizations.takeovers import REASON, Acting, MadeThing, RevertedAccess
from core.secrets import hash_token
from core.sessions import sessions

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def acting_with_invited(reverted: RevertedAccess) -> Sequence[Acting]:
    """Return who acted with the power of a takeover, with everyone who joined in it, by whatever way."""
    invited = (
        Acting(organization_id=one.organization_id, user_id=one.user_id, since=reverted.since)
        for one in reverted.suspended
    )
    return [*reverted.acting, *invited]


def withdraw_invitations(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Withdraw open invitations."""
    withdrawn = uow.takeover_credentials.withdraw_invitations(acting)
    if withdrawn:
        targets = [(one.organization_id, one.id) for one in withdrawn]
        uow.record_each(AuditAction.INVITATION_REVOKED, targets, reason=REASON)
    return withdrawn


def withdraw_setup_links(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Delete setup links."""
    withdrawn = uow.takeover_credentials.withdraw_setup_links(acting)
    for one in withdrawn:
        _record(uow, AuditAction.ORGANIZATION_UPDATED, one.organization_id, one)
    return withdrawn


def withdraw_organization_keys(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Delete keys of organizations."""
    keys = uow.takeover_credentials.withdraw_organization_keys(acting)
    for one in keys:
        _record(uow, AuditAction.ORGANIZATION_KEY_DELETED, one.id, one, event_only={"key_id": str(one.id)})
    return keys


def withdraw_api_keys(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Delete API keys of services."""
    keys = uow.takeover_credentials.withdraw_api_keys(acting)
    for one in keys:
        _record(uow, AuditAction.API_KEY_DELETED, one.id, one)
    return keys


def withdraw_workloads(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Delete workloads."""
    workloads = uow.takeover_credentials.withdraw_workloads(acting)
    for one in workloads:
        _record(uow, AuditAction.WORKLOAD_DELETED, one.id, one, event_only={"workload_id": str(one.id)})
    return workloads


def withdraw_scim_tokens(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Delete SCIM tokens."""
    tokens = uow.takeover_credentials.withdraw_scim_tokens(acting)
    for one in tokens:
        _record(uow, AuditAction.SCIM_TOKEN_REVOKED, one.organization_id, one)
    return tokens


def withdraw_secrets(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Replace the secrets of services by secrets that no person knows; an admin makes new ones."""
    unknown = hash_token(uow.randomness.token().reveal())
    withdrawn = uow.takeover_credentials.replace_client_secrets(acting, unknown)
    for one in withdrawn:
        event_only = {"service_id": str(one.id)}
        _record(uow, AuditAction.SERVICE_UPDATED, one.id, one, event_only=event_only, change="client_secret_withdrawn")
    return withdrawn


def switch_webhooks_off(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Switch webhooks off."""
    webhooks = uow.takeover_credentials.switch_webhooks_off(acting, REASON)
    for one in webhooks:
        _record(uow, AuditAction.ORGANIZATION_UPDATED, one.organization_id, one, change="webhook_switched_off")
    return webhooks


def switch_streams_off(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Switch streams to SIEMs off."""
    streams = uow.takeover_credentials.switch_streams_off(acting, REASON)
    for one in streams:
        _record(uow, AuditAction.SIEM_CONFIGURED, one.organization_id, one)
    return streams


def switch_connections_off(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Switch upstream connections off, and end what began by them."""
    connections = uow.takeover_credentials.switch_connections_off(acting, REASON)
    for one in connections:
        uow.upstream_connections.forget_groups(one.organization_id, one.id)
        uow.unfinished_sign_ins.end_by_connection(one.organization_id, one.id)
        ended = list(uow.sessions.revoke_by_connection(one.organization_id, one.id))
        # A statement of its own: it finds sessions that began while the ones above waited for a lock.
        ended += uow.sessions.revoke_by_connection(one.organization_id, one.id)
        sessions.record_ended_of(uow, ended, one.organization_id, connection_id=str(one.id))
        _record(uow, AuditAction.UPSTREAM_CONNECTION_UPDATED, one.organization_id, one, sessions_ended=len(ended))
    return connections


def withdraw_rules(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Delete rules of groups."""
    withdrawn = uow.takeover_credentials.withdraw_group_rules(acting)
    for one in withdrawn:
        _record(uow, AuditAction.ORGANIZATION_UPDATED, one.organization_id, one, change="group_rule_withdrawn")
    return withdrawn


def apply_rules(uow: UnitOfWork, acting: Sequence[Acting]) -> None:
    """Take back the roles that withdrawn rules, groups and connections gave."""
    for organization_id in sorted({one.organization_id for one in acting}):
        group_roles.apply(uow, organization_id, None)


def _record(
    uow: UnitOfWork,
    action: AuditAction,
    target_id: UUID,
    made: MadeThing,
    *,
    event_only: dict[str, str] | None = None,
    **details: Any,
) -> None:
    uow.record(
        action,
        target_id,
        organization_id=made.organization_id,
        event_only=event_only,
        **made.recorded,
        **details,
        reason=REASON,
    )
