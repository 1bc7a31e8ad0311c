"""Departures: what a user loses with a membership, or with an address to which organizations gave something.

The links to the organization's services that came with a membership end with it, and so do their sessions, their
subscriptions, and the identities by which the organization's connections sign the user in. A link that a key or the
user made stays, and so does one whose subscription is paid. Memberships are in `members.py`.

Credentials of an organization stay when their maker leaves, and a mail tells the owner. The operation that makes one
judges what its maker may do. Setup links are not among them: they end with the rights of their maker
(`link_callers.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.events.actions import AuditAction
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations import group_roles
from core.parts import in_parts

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class LinkOrigin(StrEnum):
    """What the link of a user to a service came with."""

    MEMBERSHIP = "membership"
    KEY = "key"
    SELF = "self"


OF_MEMBERSHIP: Final = (LinkOrigin.MEMBERSHIP,)
# What the organization gave, by its membership or by a key of a service.
OF_ORGANIZATION: Final = (LinkOrigin.MEMBERSHIP, LinkOrigin.KEY)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedLink:
    """A link that has ended, and the live subscription that ended with it, if there was one."""

    organization_id: UUID
    subscription_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedSessions:
    """How many sessions of a user have ended."""

    user_id: UUID
    email: str
    sessions: int


def end(
    uow: UnitOfWork,
    organization_id: UUID,
    user_ids: Sequence[UUID],
    origins: Sequence[LinkOrigin] = OF_MEMBERSHIP,
    *,
    remembers: bool = True,
) -> None:
    """End the links of these origins and the identities of users who leave a locked organization.

    Unless `remembers` is false, a connection links them again when they belong again (`upstream/returning.py`).
    """
    ended = uow.departures.end_sessions(organization_id, user_ids, origins)
    if ended:
        uow.publish_of_users(
            EventType.SESSION_REVOKED,
            organization_id,
            [(one.user_id, one.email, {"sessions": one.sessions}) for one in ended],
        )
    _record(uow, uow.departures.end_links(organization_id, user_ids, origins), reason="user_removed")
    uow.departures.unlink_identities(organization_id, user_ids, remembers=remembers)


def end_unconfirmed_links(uow: UnitOfWork, user_id: UUID, *, reason: str, told: Collection[UUID]) -> None:
    """End the links that a user has not confirmed; their organizations get an event, except those in `told`."""
    ended = uow.departures.end_unconfirmed_links(user_id)
    _record(uow, ended, reason=reason)
    untold = sorted({one.organization_id for one in ended} - set(told))
    if untold:
        uow.record_each(AuditAction.USER_REMOVED, [(one, user_id) for one in untold], reason=reason)


def end_links_since(uow: UnitOfWork, user_id: UUID, since: datetime) -> None:
    """End the links that a user was given or made since then."""
    _record(uow, uow.departures.end_links_since(user_id, since), reason="email_change_undone")


def end_own_link(uow: UnitOfWork, organization_id: UUID, service_id: UUID, user_id: UUID) -> bool:
    """End the link to a service that its user has made; False when there is none, or a subscription keeps it."""
    uow.departures.lock_link(organization_id, service_id, user_id)
    return bool(uow.departures.end_own_link(organization_id, service_id, user_id))


def leave_mail_domain(uow: UnitOfWork, user_id: UUID, *, old_domain: str, new_domain: str) -> None:
    """End the identities of a user at the organization of the old mail domain, unless it has the new one as well.

    A user who may still use a connection, by a membership or a link, signs in to the account once and is linked again.
    """
    organization_id = uow.departures.organization_of_mail_domain(old_domain)
    if organization_id is None or uow.departures.organization_of_mail_domain(new_domain) == organization_id:
        return
    end(uow, organization_id, [user_id], (), remembers=False)
    group_roles.follow_unlinking(uow, user_id)


def _record(uow: UnitOfWork, ended: Iterable[EndedLink], *, reason: str) -> None:
    cancelled = [(one.organization_id, one.subscription_id) for one in ended if one.subscription_id is not None]
    if cancelled:
        uow.record_each(AuditAction.SUBSCRIPTION_CANCELED, cancelled, deleted=True, reason=reason)


# More are counted, not listed.
LISTED_MAX: Final = 50
# What separates credentials in the value of a mail, which is one line.
SEPARATOR: Final = "; "


class MadeCredentialKind(StrEnum):
    """A kind of credential, by the words for people."""

    SCIM_TOKEN = "SCIM token"  # noqa: S105 - a kind of token
    API_KEY = "API key"
    SIEM_STREAM = "SIEM stream"
    WEBHOOK = "webhook"
    CONNECTION = "connection"
    WORKLOAD = "workload"
    CLIENT_SECRET = "client secret"  # noqa: S105 - a kind of secret


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCredential:
    """A credential and who made it; `label` is its prefix, its host or its service, never a text of its maker."""

    kind: MadeCredentialKind
    label: str
    maker_email: str

    def __str__(self) -> str:
        """Return how a mail names it."""
        return f"{self.kind} {self.label}, made by {self.maker_email}"


def record_maker(
    uow: UnitOfWork, kind: MadeCredentialKind, organization_id: UUID, credential_id: UUID, user_id: UUID
) -> None:
    """Record who made a credential, or changed where it leads.

    SCIM tokens, API keys and workloads are stored with their maker.
    """
    uow.made_credentials.set_maker(kind, organization_id, credential_id, user_id)


def tell_owner(uow: UnitOfWork, organization_id: UUID, leaving: Sequence[UUID]) -> None:
    """Mail the owner which valid credentials of the leaving members stay, if there are any.

    Called before their memberships end, because their accounts may end with them.
    """
    found = [one for part in in_parts(leaving) for one in uow.made_credentials.of_makers(organization_id, part)]
    if not found:
        return
    listed = [str(credential) for credential in found[:LISTED_MAX]]
    if len(found) > LISTED_MAX:
        listed.append(f"and {len(found) - LISTED_MAX} more")
    owner = uow.mail_servers.owner_contact(organization_id)
    mail.send(
        uow,
        owner.email,
        MailTemplate.CREDENTIALS_LEFT,
        organization_id=organization_id,
        organization=owner.organization_name,
        credentials=SEPARATOR.join(listed),
    )
