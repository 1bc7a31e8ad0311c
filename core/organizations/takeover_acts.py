"""Takes back what the credentials of a takeover did that no audit entry names one by one.

A directory's token puts members into groups and takes them out; a service's key links people to the service. What they
did in their first eight days is kept beside the logs, because a credential of a takeover is never older when the
takeover is undone: a day from the request to the change of the address, and seven days to undo it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.events.actions import AuditAction
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.organizations.departures import LinkOrigin
from core.organizations.takeovers import REASON, Acting, MadeThing
from core.parts import ROWS_AT_ONCE_MAX
from core.sessions import customer_endings

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

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
