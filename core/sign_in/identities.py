"""Identities: accounts at other providers that sign a user in, each in one context only.

A context is the platform, a service of an organization, or a connection of an organization. The same account at a
provider may sign in to different users in different contexts, so that no service and no organization opens what
belongs to another. While it stands for one user alone, the services know that user by it (`known_elsewhere.py`). How an
identity is proved is in `upstream/`; what its tokens are good for in `provider_tokens.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts.sign_in_methods import Provider, title_of
from core.errors import BadRequest, Conflict, NotFound
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations import group_roles
from core.secrets import Secret
from core.sessions import callers, sessions
from core.sessions.caller_limits import Act, Confinement
from core.sessions.callers import Caller

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class IdentityUnknown(NotFound):
    """No account of the provider is linked in the caller's context."""

    default_message = "No account of this provider is linked here."


class IdentityLinkedElsewhere(Conflict):
    """The account at the provider signs another user in."""

    default_message = (
        "This account of the provider is linked to another user. Sign in with it and unlink it there first, or link"
        " another one."
    )


class ProviderLinkedAlready(Conflict):
    """The user has linked another account of the provider."""

    default_message = "Another account of this provider is linked already. Unlink it first, and repeat this."


class LastIdentity(BadRequest):
    """Without the identity its user could not sign in any more."""

    default_message = (
        "This is the last way to sign in to your account. Set a password or add a passkey first, and repeat this."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityContext:
    """Where an identity signs in: on the platform, at a service of an organization, or by a connection of one."""

    organization_id: UUID | None = None
    service_id: UUID | None = None
    connection_id: UUID | None = None

    @property
    def confinement(self) -> Confinement | None:
        """The limits of the sessions that begin with such an identity."""
        if self.organization_id is None:
            return None
        return Confinement(
            organization_id=self.organization_id, service_id=self.service_id, connection_id=self.connection_id
        )


PLATFORM = IdentityContext()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderTokens:
    """What a provider has issued for the account of a user, and to which client."""

    client_id: str
    access_token: Secret = field(repr=False)
    refresh_token: Secret | None = field(default=None, repr=False)
    token_type: str = "Bearer"  # noqa: S105 - the name of a kind, not a secret
    expires_at: datetime | None = None
    scopes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSession:
    """How the provider of a connection names a user and their session, so that each side can end the other's session.

    By SAML these are NameID and SessionIndex, by OpenID Connect `sub` and `sid`. None stands for what the provider does
    not say; the qualifiers are given back to it as they came. `id_token` goes back to an OpenID provider as a hint when
    its user signs out here, where the connection says so.
    """

    name_id: str
    name_format: str | None = None
    name_qualifier: str | None = None
    sp_name_qualifier: str | None = None
    session_index: str | None = None
    id_token: Secret | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertedNames:
    """What a connection calls a user; None for what it does not say. At least one of the three is set."""

    name: str | None = None
    given_name: str | None = None
    family_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertedGroups:
    """The groups that a connection asserts of a user; None when it says that they are too many to name."""

    values: Sequence[str] | None

    @property
    def is_overage(self) -> bool:
        """Whether the groups are too many, so that what was asserted before counts on."""
        return self.values is None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenIdentity:
    """An account at a provider whose holder has just signed in there, as the provider's answers describe it.

    `email` is the address that the provider gave, or what a connection gave in its place, `is_email_verified` whether
    it vouches for it, and `is_email_trusted` whether its word on addresses counts at all. `denies_email`: a connection
    calls its address not verified. `session_ends_at` is when the holder's session there ends, if the provider says so.
    `groups` are those that a connection asserts, None where it asserts nothing about them. `own_subject` is the id by
    which the provider itself names the account, where the connection takes another one. `names` is what a connection
    calls the person, None where it says nothing.
    """

    provider: Provider
    subject: str
    email: str | None = None
    is_email_verified: bool = False
    is_email_trusted: bool = True
    tokens: ProviderTokens | None = None
    provider_session: ProviderSession | None = None
    session_ends_at: datetime | None = None
    groups: AssertedGroups | None = None
    own_subject: str | None = None
    denies_email: bool = False
    names: AssertedNames | None = None

    @property
    def address(self) -> str | None:
        """What the provider gave as the address, if it can be one."""
        return self.email if self.email is not None and "@" in self.email else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A linked identity."""

    id: UUID
    user_id: UUID
    provider: Provider
    subject: str
    email: str | None
    linked_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityItem:
    """An identity, as its user sees it."""

    provider: str
    provider_user_id: str
    email: str | None
    linked_at: datetime


def context_of(caller: Caller) -> IdentityContext:
    """Return the context of the caller's session."""
    if caller.place.service_id is not None:
        return IdentityContext(organization_id=caller.place.organization_id, service_id=caller.place.service_id)
    return IdentityContext(organization_id=caller.limits.confined_to)


def list_mine(uow: UnitOfWork) -> list[IdentityItem]:
    """List what is linked in the context of the caller's session, or all without limits, the oldest first."""
    caller = uow.caller
    return [
        IdentityItem(
            provider=identity.provider,
            provider_user_id=identity.subject,
            email=identity.email,
            linked_at=identity.linked_at,
        )
        for identity in uow.identities.of_user(caller.account.id, _seen_by(caller))
    ]


def linked_here(uow: UnitOfWork) -> set[Provider]:
    """Return the providers whose accounts are linked in exactly the context of the caller's session."""
    caller = uow.caller
    return {identity.provider for identity in uow.identities.of_user(caller.account.id, context_of(caller))}


def unlink_mine(uow: UnitOfWork, provider: Provider | None, signs_in: Callable[[Provider, str], bool]) -> None:
    """Unlink what the caller sees of a provider, unless it is the last way to sign in.

    The provider is None when none has the name. A session without limits unlinks it everywhere. `signs_in` says whether
    a stable id at a provider can sign in: one whose provider was removed cannot.
    """
    uow.caller.require(Act.IN_PERSON)
    # Locked, so that when two identities are unlinked at once the second finds itself the last one.
    caller = callers.lock_account(uow)
    caller.require(Act.PROVED)
    context = _seen_by(caller)
    linked = uow.identities.of_user(caller.account.id, context)
    if provider is None or provider not in {identity.provider for identity in linked}:
        raise IdentityUnknown
    ways = {identity.provider for identity in linked if signs_in(identity.provider, identity.subject)}
    if ways == {provider} and not _has_other_way(uow, caller.account.id):
        raise LastIdentity
    uow.identities.remove(caller.account.id, provider, context)
    # One of them may have begun with this identity, as the first of two factors.
    uow.unfinished_sign_ins.end_all(caller.account.id)
    if provider is Provider.UPSTREAM:
        group_roles.follow_unlinking(uow, caller.account.id)
        ended = uow.sessions.revoke_by_any_connection(caller.account.id, except_session_id=caller.session.id)
        sessions.record_ended(uow, caller.account.id, caller.account.email, ended)


def link(
    uow: UnitOfWork,
    user_id: UUID,
    email: str,
    proven: ProvenIdentity,
    context: IdentityContext,
    *,
    is_mailed: bool = False,
    is_by_word_alone: bool = False,
) -> None:
    """Link a proved identity to a locked account whose user is signed in to it, and tell the user by mail.

    With `is_by_word_alone` nothing but the word of an organization's connection says that it is that user's.

    Linking again renews the tokens, and confirms the identity if the user has signed in by mail (`is_mailed`). Raise
    `IdentityLinkedElsewhere` or `ProviderLinkedAlready`.
    """
    present = uow.identities.find(proven.provider, proven.subject, context)
    if present is not None:
        if present.user_id != user_id:
            raise IdentityLinkedElsewhere
        uow.identities.use(present, proven, is_confirmed=is_mailed)
        return
    add(uow, user_id, proven, context, is_confirmed=not is_by_word_alone)
    mail.send(
        uow,
        email,
        MailTemplate.IDENTITY_LINKED,
        provider=title_of(proven.provider),
        account=proven.address or proven.subject,
        ip_address=uow.origin.ip_address or "unknown",
        at=uow.now.strftime("%Y-%m-%d %H:%M UTC"),
    )


def add(
    uow: UnitOfWork, user_id: UUID, proven: ProvenIdentity, context: IdentityContext, *, is_confirmed: bool
) -> None:
    """Store a new identity of a locked account; raise `ProviderLinkedAlready` when it has one of the provider.

    It is confirmed unless nothing but the word of an organization's connection links it.
    """
    identity = Identity(
        id=uow.randomness.new_id(),
        user_id=user_id,
        provider=proven.provider,
        subject=proven.subject,
        email=proven.address,
        linked_at=uow.now,
    )
    if not uow.identities.add(identity, proven, context, confirmed_at=uow.now if is_confirmed else None):
        raise ProviderLinkedAlready


def _seen_by(caller: Caller) -> IdentityContext | None:
    """Return the context whose identities a session shows; None for all."""
    return context_of(caller) if caller.is_limited else None


def _has_other_way(uow: UnitOfWork, user_id: UUID) -> bool:
    return uow.credentials.has_password(user_id) or any(one.begins_sign_ins for one in uow.passkeys.of_user(user_id))
