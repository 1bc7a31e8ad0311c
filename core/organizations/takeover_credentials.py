"""Withdraws or switches off what was made with the power of a takeover (ops/decisions/0051).

What opens something by itself ends: invitations, setup links, keys, SCIM tokens, the secrets of services. Webhooks,
streams and connections are switched off, and keep their settings for the admins to look at. `takeovers.py` says who
acted.

What a vendor has made for its customers is in their internal organizations; the logs of vendor and customer record it,
because no person reads the log of an internal organization. A directory's token puts members into groups and takes them
out, and a service's key links people to the service, which no audit entry names one by one. What they did in their
first eight days is kept beside the logs, because a credential of a takeover is never older when the takeover is undone:
a day from the request to the change of the address, and seven days to undo it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from enum import StrEnum
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.events.actions import AuditAction
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.organizations import group_roles
from core.organizations.departures import LinkOrigin, MadeCredentialKind
from core.organizations.takeovers import REASON, Acting, MadeThing, RevertedAccess, SetUpCustomer
from core.parts import ROWS_AT_ONCE_MAX
from core.secrets import hash_token
from core.sessions import customer_endings, sessions

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class EndedKind(StrEnum):
    """A kind of things that end or are switched off, by the words for people."""

    INVITATION = "invitation"
    SETUP_LINK = "setup link"
    ORGANIZATION_KEY = "management key"
    GROUP_RULE = "rule of groups"
    SCIM_TOKEN = MadeCredentialKind.SCIM_TOKEN
    API_KEY = MadeCredentialKind.API_KEY
    SIEM_STREAM = MadeCredentialKind.SIEM_STREAM
    WEBHOOK = MadeCredentialKind.WEBHOOK
    CONNECTION = MadeCredentialKind.CONNECTION
    WORKLOAD = MadeCredentialKind.WORKLOAD


def acting_with_invited(reverted: RevertedAccess) -> Sequence[Acting]:
    """Return who acted with the power of a takeover, with everyone who joined in it, by whatever way."""
    invited = (
        Acting(organization_id=one.organization_id, user_id=one.user_id, since=reverted.since)
        for one in reverted.suspended
    )
    return [*reverted.acting, *invited]


def withdraw_invitations(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Withdraw open invitations."""
    withdrawn = uow.takeover_credentials.end(EndedKind.INVITATION, acting, reason=REASON)
    if withdrawn:
        targets = [(one.organization_id, one.id) for one in withdrawn]
        uow.record_each(AuditAction.INVITATION_REVOKED, targets, reason=REASON)
    return withdrawn


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


def _withdraw(
    kind: EndedKind,
    action: AuditAction,
    uow: UnitOfWork,
    acting: Sequence[Acting],
    *,
    is_target: bool = False,
    id_name: str | None = None,
    host_name: str | None = None,
    **details: Any,
) -> Sequence[MadeThing]:
    """End what of a kind was made, each with an entry of its own or of the organization.

    `id_name` is the name of its id in events, `host_name` the detail that has the host to which it leads.
    """
    withdrawn = uow.takeover_credentials.end(kind, acting, reason=REASON)
    for one in withdrawn:
        host = {host_name: one.label.removeprefix("to ")} if host_name is not None else {}
        event_only = {id_name: str(one.id)} if id_name is not None else None
        target_id = one.id if is_target else one.organization_id
        _record(uow, action, target_id, one, event_only=event_only, **host, **details)
    return withdrawn


withdraw_organization_keys: Final = partial(
    _withdraw, EndedKind.ORGANIZATION_KEY, AuditAction.ORGANIZATION_KEY_DELETED, is_target=True, id_name="key_id"
)
withdraw_api_keys: Final = partial(_withdraw, EndedKind.API_KEY, AuditAction.API_KEY_DELETED, is_target=True)
withdraw_workloads: Final = partial(
    _withdraw, EndedKind.WORKLOAD, AuditAction.WORKLOAD_DELETED, is_target=True, id_name="workload_id"
)
withdraw_scim_tokens: Final = partial(_withdraw, EndedKind.SCIM_TOKEN, AuditAction.SCIM_TOKEN_REVOKED)
withdraw_rules: Final = partial(
    _withdraw, EndedKind.GROUP_RULE, AuditAction.ORGANIZATION_UPDATED, change="group_rule_withdrawn"
)
switch_webhooks_off: Final = partial(
    _withdraw,
    EndedKind.WEBHOOK,
    AuditAction.ORGANIZATION_UPDATED,
    host_name="webhook_host",
    is_active=False,
    change="webhook_switched_off",
)
switch_streams_off: Final = partial(
    _withdraw, EndedKind.SIEM_STREAM, AuditAction.SIEM_CONFIGURED, host_name="host", enabled=False
)


def withdraw_setup_links(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Delete setup links."""
    withdrawn = uow.takeover_credentials.end(EndedKind.SETUP_LINK, acting, reason=REASON)
    for one in withdrawn:
        link = {"id": str(one.id), "parts": one.label.split(", "), "action": "revoked"}
        _record(uow, AuditAction.ORGANIZATION_UPDATED, one.organization_id, one, setup_link=link)
    return withdrawn


def withdraw_secrets(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Replace the secrets of services by secrets that no person knows; an admin makes new ones."""
    unknown = hash_token(uow.randomness.token().reveal())
    withdrawn = uow.takeover_credentials.replace_client_secrets(acting, unknown)
    for one in withdrawn:
        event_only = {"service_id": str(one.id)}
        _record(uow, AuditAction.SERVICE_UPDATED, one.id, one, event_only=event_only, change="client_secret_withdrawn")
    return withdrawn


def switch_connections_off(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Switch upstream connections off, and end what began by them."""
    connections = uow.takeover_credentials.end(EndedKind.CONNECTION, acting, reason=REASON)
    for one in connections:
        uow.upstream_connections.forget_groups(one.organization_id, one.id)
        uow.unfinished_sign_ins.end_by_connection(one.organization_id, one.id)
        ended = list(uow.sessions.revoke_by_connection(one.organization_id, one.id))
        # A statement of its own: it finds sessions that began while the ones above waited for a lock.
        ended += uow.sessions.revoke_by_connection(one.organization_id, one.id)
        sessions.record_ended_of(uow, ended, one.organization_id, connection_id=str(one.id))
        action = AuditAction.UPSTREAM_CONNECTION_UPDATED
        _record(uow, action, one.organization_id, one, enabled=False, sessions_ended=len(ended))
    return connections


def apply_rules(uow: UnitOfWork, acting: Sequence[Acting]) -> None:
    """Take back the roles that withdrawn rules, groups and connections gave."""
    for organization_id in sorted({one.organization_id for one in acting}):
        group_roles.apply(uow, organization_id, None)


def switch_off(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Take back what these have made for customers; return it as things of the vendors."""
    return [made for part in _parts(uow, acting) for made in _switch_off(uow, part)]


def _parts(uow: UnitOfWork, acting: Sequence[Acting]) -> Iterable[Sequence[SetUpCustomer]]:
    after = None
    while part := uow.takeover_credentials.set_up_customers(acting, after=after, limit=ROWS_AT_ONCE_MAX):
        yield part
        after = part[-1].internal_id


def _switch_off(uow: UnitOfWork, customers: Sequence[SetUpCustomer]) -> Iterable[MadeThing]:
    acting = [Acting(organization_id=one.internal_id, user_id=one.user_id, since=one.since) for one in customers]
    found = [
        *withdraw_setup_links(uow, acting),
        *withdraw_scim_tokens(uow, acting),
        *switch_connections_off(uow, acting),
    ]
    by_internal = {one.internal_id: one for one in customers}
    for internal_id in sorted({one.organization_id for one in found}):
        _tell(uow, by_internal[internal_id])
    return [replace(one, organization_id=by_internal[one.organization_id].vendor_id) for one in found]


def _tell(uow: UnitOfWork, customer: SetUpCustomer) -> None:
    relation = uow.service_customers.relation_of(customer.internal_id)
    if relation is None:
        # The customer has ended and can be restored; then it comes back with its things switched off.
        return
    uow.record(
        AuditAction.CUSTOMER_CHANGED,
        customer.customer_id,
        organization_id=customer.vendor_id,
        **relation.seen_by_vendor,
        setup_withdrawn=True,
        reason=REASON,
    )
    assert relation.customer_organization_id is not None, "a customer that has not ended has no organization"
    uow.audit_elsewhere(
        AuditAction.CUSTOMER_CHANGED,
        customer.customer_id,
        organization_id=relation.customer_organization_id,
        **relation.seen_by_customer,
        by="vendor",
        setup_withdrawn=True,
        reason=REASON,
    )


KEPT_FOR: Final = timedelta(days=8)


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBackPlace:
    """A place in a group of a directory that a token has given or taken, and whether that is undone now."""

    organization_id: UUID
    group_id: UUID
    user_id: UUID
    is_out: bool
    is_back: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeLink:
    """A link of a person to a service that a key has made."""

    organization_id: UUID
    service_id: UUID
    user_id: UUID


def take_back_places(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Take back what their tokens did to groups of the directory; the roles of groups are applied afterwards."""
    counts: dict[tuple[UUID, UUID], list[int]] = {}
    while places := uow.takeover_credentials.take_back_places(acting, limit=ROWS_AT_ONCE_MAX):
        for (organization_id, group_id), of in groupby(places, lambda one: (one.organization_id, one.group_id)):
            changed = [one for one in of if one.is_out or one.is_back]
            count = counts.setdefault((organization_id, group_id), [0, 0])
            count[0] += sum(one.is_out for one in changed)
            count[1] += sum(one.is_back for one in changed)
            customer_endings.end_lost(uow, organization_id, [one.user_id for one in changed])
    return [
        _recorded(uow, organization_id, group_id, out=out, back=back)
        for (organization_id, group_id), (out, back) in sorted(counts.items())
        if out or back
    ]


def _recorded(uow: UnitOfWork, organization_id: UUID, group_id: UUID, *, out: int, back: int) -> MadeThing:
    group = uow.directory_groups.find(organization_id, group_id)
    assert group is not None, "a group whose members have changed is gone"
    uow.record(
        AuditAction.GROUP_CHANGED,
        group_id,
        organization_id=organization_id,
        event_only={"group_id": str(group_id)},
        name=group.display_name,
        external_id=group.external_id,
        members_added=back,
        members_removed=out,
        reason=REASON,
    )
    label = f"{group_id}: {out} taken out, {back} put back"
    return MadeThing(kind="members of a group", organization_id=organization_id, id=group_id, label=label, recorded={})


def end_links(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """End the links to services that their keys have made."""
    counts: dict[tuple[UUID, UUID], int] = {}
    while links := uow.takeover_credentials.made_links(acting, limit=ROWS_AT_ONCE_MAX):
        for (organization_id, service_id), of in groupby(links, lambda one: (one.organization_id, one.service_id)):
            user_ids = [one.user_id for one in of]
            ended = uow.departures.end_sessions(organization_id, user_ids, [LinkOrigin.KEY])
            uow.publish_of_users(
                EventType.SESSION_REVOKED,
                organization_id,
                [(one.user_id, one.email, {"sessions": one.sessions}) for one in ended],
            )
            uow.takeover_credentials.end_made_links(organization_id, service_id, user_ids)
            uow.record_each(
                AuditAction.USER_REMOVED,
                [(organization_id, user_id) for user_id in user_ids],
                service_id=str(service_id),
                reason=REASON,
            )
            counts[organization_id, service_id] = counts.get((organization_id, service_id), 0) + len(user_ids)
    found = ((uow.services.by_id(*place), count) for place, count in sorted(counts.items()))
    return [
        MadeThing(
            kind="end users",
            organization_id=service.organization_id,
            id=service.id,
            label=f"of the service {service.slug}: {count} that an API key added",
            recorded={},
        )
        for service, count in found
        if service is not None
    ]
