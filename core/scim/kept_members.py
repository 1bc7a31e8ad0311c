"""Members who stay although a directory takes them out of the group of its organization.

The owner stays, and so does a member with a role that the maker of the token could not give. The answer names both,
because the directory believes them removed; the second kind is recorded in the organization's log and mailed to the
owner.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.mail import limits, mail
from core.mail.limits import MailLimit
from core.mail.mail import MailTemplate
from core.organizations.departures import SEPARATOR
from core.parts import in_parts

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# No answer has more: making an object of each of 50,000 would stop all other requests.
SHOWN_MAX: Final = 1_000
# More are counted, not listed.
RECORDED_MAX: Final = 100
MAILED_MAX: Final = 50


class KeptReason(StrEnum):
    """Why a member stays."""

    OWNER = "owner"
    ROLE = "role"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptMember:
    """A member who stays, by the id and the address that the organization knows."""

    value: UUID
    display: str
    reason: KeptReason


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedMember:
    """A member by the id of the account, with the id and the address that the organization knows."""

    user_id: UUID
    known_id: UUID
    email: str


def report(uow: UnitOfWork, organization_id: UUID, kept: Mapping[UUID, KeptReason]) -> Sequence[KeptMember]:
    """Return the members who stay, by their addresses; record it if they are more than the owner.

    The owner gets a mail once a day.
    """
    # The owner first, so that the limit never leaves them out.
    shown = sorted(kept, key=lambda user_id: (kept[user_id] is not KeptReason.OWNER, user_id.int))[:SHOWN_MAX]
    named = [one for part in in_parts(shown) for one in uow.scim_groups.named(organization_id, part)]
    named.sort(key=lambda one: one.email)
    by_role = [one for one in named if kept[one.user_id] is KeptReason.ROLE]
    if by_role:
        total = sum(reason is KeptReason.ROLE for reason in kept.values())
        _record(uow, organization_id, by_role, total)
        # A directory that synchronizes takes the same people out again and again.
        if limits.is_due(uow, MailLimit.KEPT_OF_ORGANIZATION, MailTemplate.SCIM_KEPT, organization_id):
            _mail(uow, organization_id, by_role, total)
    return [KeptMember(value=one.known_id, display=one.email, reason=kept[one.user_id]) for one in named]


def _record(uow: UnitOfWork, organization_id: UUID, kept: Sequence[NamedMember], total: int) -> None:
    caller = uow.scim_caller
    uow.record(
        AuditAction.SCIM_KEPT,
        organization_id,
        organization_id=organization_id,
        scim_token_id=str(caller.token_id),
        kept=[str(one.user_id) for one in kept[:RECORDED_MAX]],
        kept_total=total,
    )


def _mail(uow: UnitOfWork, organization_id: UUID, kept: Sequence[NamedMember], total: int) -> None:
    owner = uow.mail_servers.owner_contact(organization_id)
    mail.send(
        uow,
        owner.email,
        MailTemplate.SCIM_KEPT,
        organization_id=organization_id,
        organization=owner.organization_name,
        token=uow.scim_caller.token_name,
        members=SEPARATOR.join(_listed(kept, total)),
    )


def _listed(kept: Sequence[NamedMember], total: int) -> Iterable[str]:
    yield from (one.email for one in kept[:MAILED_MAX])
    if total > MAILED_MAX:
        yield f"and {total - MAILED_MAX} more"
