"""SCIM tokens, with which the directory of an organization calls `/scim/v2`, and which members they may change.

A token belongs to one organization, and is found by its prefix (`core/prefixed_tokens.py`). Creating and revoking one
is recorded as a change to the organization; tokens have no actions of their own.

A token changes members whose role its maker could have given. The role that the maker had when the token was made is
kept with it, because the token stays when the maker leaves. A token without one changes plain members only, and a token
that was made with a setup link only the roles of the link and `member`. `user_changes.py` and `groups.py` protect the
owner from every token.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core import prefixed_tokens
from core.errors import BadRequest, NotFound, OrganizationNotActive, Unauthorized
from core.events.actions import AuditAction
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.organizations import authorization
from core.organizations.access import Operation
from core.organizations.authority import Authority
from core.organizations.authorization import OrganizationAccess
from core.organizations.link_callers import Part
from core.organizations.organizations import Organization, OrganizationStatus
from core.prefixed_tokens import PrefixedToken, TokenCaller, TokenForm
from core.scim.refusals import RoleProtected
from core.secrets import Secret, hash_token
from core.text import checked_name
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# A directory needs one, and a second one while it changes over.
TOKENS_MAX: Final = 20
# The name of a token that is made with a setup link.
NAME_BY_LINK: Final = "Setup link"
_FORM: Final = TokenForm("scim_live")


class ScimTokenInvalid(Unauthorized):
    """The token is missing, unknown, revoked or expired; the answer does not tell which."""

    default_message = "A valid SCIM token is missing. Send one as Authorization: Bearer scim_live_…"


class ScimTokenUnknown(NotFound):
    """The organization has no SCIM token with that id."""

    default_message = "This organization has no such SCIM token."


class TooManyTokens(BadRequest):
    """The organization has the maximum number of SCIM tokens."""

    default_message = Wording(
        "An organization can have at most %(maximum)s SCIM tokens. Revoke one that is not in use.", maximum=TOKENS_MAX
    )


class FoundGroups(StrEnum):
    """The groups under `/Groups`: the organization as one group, or groups that the directory creates itself."""

    ORGANIZATION = "organization"
    DIRECTORY = "directory"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScimToken:
    """A SCIM token of an organization, without its secret."""

    id: UUID
    name: str
    prefix: str
    groups: FoundGroups
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    # The key of the organization that made it, itself or by a setup link; None for one that a person made.
    made_by_key: UUID | None = None

    def has_expired(self, at: datetime) -> bool:
        """Whether the directory cannot call with it any more."""
        return self.expires_at is not None and self.expires_at <= at


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenEnds:
    """A token that is about to be revoked.

    `is_valid` says whether the directory can call with it now, and `others` counts the valid tokens that stay.
    """

    token: ScimToken
    is_valid: bool
    others: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScimCaller(TokenCaller):
    """The directory of an organization, which calls with a SCIM token: the stored token and its organization.

    `maker_role`, `maker_permissions` and `link_roles` are the `Authority` of the token. `is_for_customer` means that a
    vendor has made it for a customer of its service.
    """

    token_id: UUID
    token_name: str
    groups: FoundGroups
    maker_role: str | None
    maker_permissions: list[str] | None
    link_roles: list[str] | None
    is_for_customer: bool

    @property
    def manages_groups(self) -> bool:
        """Whether the directory creates and changes groups of its own."""
        return self.groups == FoundGroups.DIRECTORY


def presented(text: str) -> PrefixedToken:
    """Return a presented token."""
    return _FORM.presented(text)


def identify(candidates: Sequence[ScimCaller], token: PrefixedToken, *, at: datetime) -> ScimCaller:
    """Return the caller among those whose token has the prefix; raise `ScimTokenInvalid`."""
    found = prefixed_tokens.find(candidates, token, at=at)
    if found is None:
        raise ScimTokenInvalid
    return found


def authorize(uow: UnitOfWork) -> ScimCaller:
    """Authorize the directory of an organization, and record that its token was used.

    Raise `ScimTokenInvalid`, then `OrganizationNotActive`.
    """
    caller = uow.scim_caller
    if caller.organization_status != OrganizationStatus.ACTIVE:
        raise OrganizationNotActive(Wording("This organization is %(status)s.", status=caller.organization_status))
    record_use(uow)
    return caller


def record_use(uow: UnitOfWork) -> None:
    """Record that the directory has called, unless that was recorded lately."""
    caller = uow.scim_caller
    tells_vendor = caller.is_for_customer and caller.last_used_at is None
    if tells_vendor:
        # Most directories begin with a read, whose transaction is read-only.
        uow.require_transaction()
    if caller.is_use_due(uow.now):
        uow.scim_tokens.record_use(caller, at=uow.now)
    if tells_vendor:
        tell_vendor(uow, caller.organization_id, caller.token_id, "connected")


def authorize_and_lock(uow: UnitOfWork) -> Organization:
    """Authorize the directory, and lock its organization, so that neither members nor roles change meanwhile."""
    organization = uow.organizations.lock(authorize(uow).organization_id)
    if organization is None or not organization.is_active:
        # The status changed while this waited for the lock.
        raise OrganizationNotActive
    return organization


def create(
    uow: UnitOfWork, slug: str, *, name: str, expires_at: datetime | None, groups: str = FoundGroups.ORGANIZATION
) -> tuple[ScimToken, Secret]:
    """Create a token and return it with its secret, which cannot be read again.

    A token that is made with a setup link outlives the link. It manages groups if the link has the part `groups`, and
    gives, changes and removes only the roles of the link and `member`.
    """
    authorized = authorization.authorize_and_lock(uow, slug, Operation.SCIM_TOKEN_CREATE)
    link = authorized.caller.limits.link
    if authorized.organization.is_internal:
        # The groups of a customer's directory only give roles of the vendor's service.
        groups = FoundGroups.DIRECTORY
    elif link is not None:
        groups = FoundGroups.DIRECTORY if Part.GROUPS.value in link.parts else FoundGroups.ORGANIZATION
    if expires_at is not None and expires_at <= uow.now:
        raise BadRequest.of_field("expires_at", "This time has passed. Name a later one, or none.")
    if groups not in set(FoundGroups):
        raise BadRequest.of_field("groups", "This must be organization or directory.")
    token, secret = make(uow, authorized, name=name, expires_at=expires_at, groups=FoundGroups(groups))
    if authorized.organization.is_internal:
        tell_vendor(uow, authorized.organization.id, token.id, "configured")
    return token, secret


def make(
    uow: UnitOfWork, authorized: OrganizationAccess, *, name: str, expires_at: datetime | None, groups: FoundGroups
) -> tuple[ScimToken, Secret]:
    """Store a token of an authorized caller in a locked organization; return it with its secret."""
    organization_id = authorized.organization.id
    prefix, secret = _FORM.create(uow)
    token = ScimToken(
        id=uow.randomness.new_id(),
        name=checked_name(name, characters_min=1),
        prefix=prefix,
        groups=groups,
        created_at=uow.now,
        expires_at=expires_at,
        last_used_at=None,
        made_by_key=authorized.caller.limits.made_by_key,
    )
    # The organization is locked, so no other transaction adds a token meanwhile.
    if len(uow.scim_tokens.of_organization(organization_id)) >= TOKENS_MAX:
        raise TooManyTokens
    uow.scim_tokens.add(
        organization_id,
        token,
        token_hash=hash_token(secret.reveal()),
        created_by=authorized.caller.maker_id,
        authority=Authority.of_maker(uow, authorized),
        made_through=uow.made_through,
    )
    _record(uow, organization_id, AuditAction.SCIM_TOKEN_CREATED, token)
    return token, secret


def list_all(uow: UnitOfWork, slug: str) -> Sequence[ScimToken]:
    """List the tokens of an organization, the newest first, also those that have expired."""
    organization = authorization.authorize(uow, slug, Operation.SCIM_TOKENS_READ).organization
    return uow.scim_tokens.of_organization(organization.id)


def show_ends(uow: UnitOfWork, slug: str, token_id: UUID) -> TokenEnds:
    """Return what ends with a token that the caller may be about to revoke; raise `ScimTokenUnknown`."""
    organization = authorization.authorize(uow, slug, Operation.SCIM_TOKENS_CHANGE).organization
    known = uow.scim_tokens.of_organization(organization.id)
    token = next((one for one in known if one.id == token_id), None)
    if token is None:
        raise ScimTokenUnknown
    return TokenEnds(
        token=token,
        is_valid=not token.has_expired(uow.now),
        others=sum(one.id != token_id and not one.has_expired(uow.now) for one in known),
    )


def revoke(uow: UnitOfWork, slug: str, token_id: UUID) -> None:
    """Delete a token, which loses access at once.

    The holder of a setup link deletes tokens of members too: the staff who enter tokens at the directory know which it
    uses.
    """
    organization = authorization.authorize(uow, slug, Operation.SCIM_TOKENS_CHANGE).organization
    token = uow.scim_tokens.remove(organization.id, token_id)
    if token is None:
        raise ScimTokenUnknown
    _record(uow, organization.id, AuditAction.SCIM_TOKEN_REVOKED, token)
    if organization.is_internal:
        tell_vendor(uow, organization.id, token.id, "removed")


def tell_vendor(uow: UnitOfWork, organization_id: UUID, token_id: UUID, state: str) -> None:
    """Tell the vendor the state of a customer's directory; nothing for the directory of an ordinary organization."""
    uow.tell_vendor(EventType.CUSTOMER_DIRECTORY_CHANGED, organization_id, scim_token_id=str(token_id), state=state)


def _record(uow: UnitOfWork, organization_id: UUID, action: AuditAction, token: ScimToken) -> None:
    uow.record(
        action,
        organization_id,
        organization_id=organization_id,
        scim_token_id=str(token.id),
        scim_token_name=token.name,
        scim_token_prefix=token.prefix,
        groups=token.groups,
    )


def of_caller(uow: UnitOfWork) -> Authority:
    """Return what the maker of the calling token could do when it was made."""
    caller = uow.scim_caller
    return Authority(role=caller.maker_role, permissions=caller.maker_permissions, link_roles=caller.link_roles)


def require_may_change(uow: UnitOfWork, organization_id: UUID, role: str) -> None:
    """Raise `RoleProtected` unless the calling token may change, suspend and remove members with this role."""
    if not _may_change(uow, organization_id, role):
        raise RoleProtected


def out_of_reach(uow: UnitOfWork, organization_id: UUID, roles: Collection[str]) -> frozenset[str]:
    """Return the roles among these whose members the calling token may not change."""
    return frozenset(role for role in roles if not _may_change(uow, organization_id, role))


def _may_change(uow: UnitOfWork, organization_id: UUID, role: str) -> bool:
    return of_caller(uow).may_give(role, authorization.capabilities_of_role(uow, organization_id, role))
