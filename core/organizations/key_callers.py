"""Programs that call with a key of an organization: what such a key opens (ops/decisions/0033).

A key acts for the member who made it, so it can do nothing that the maker cannot do at that moment: `KeyCaller` has the
membership of the maker as it is now. It opens operations that require a capability, and the key must have that one.
Creating keys is in `keys.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core import prefixed_tokens
from core.errors import Forbidden, OrganizationNotActive, Unauthorized
from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, Operation, implied_by
from core.organizations.authorization import AccessContext, OrganizationAccess
from core.organizations.organizations import ADMIN, OWNER, Membership, Organization
from core.prefixed_tokens import PrefixedToken, TokenCaller, TokenForm
from core.secrets import hash_token
from core.sessions.callers import Caller
from core.tables import PartialTable
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

FORM: Final = TokenForm("gk")
# Begins the subject of a token that stands for a key.
SUBJECT_PREFIX: Final = "key:"
# Every member reads these without a capability; a key reads them if it may change them.
_READ_BY: Final = PartialTable(
    {
        Operation.ORGANIZATION_READ: Capability.ORG_SETTINGS_MANAGE,
        Operation.ROLES_READ: Capability.ORG_ROLES_MANAGE,
        Operation.PRODUCTS_READ: Capability.PRODUCTS_MANAGE,
    }
)
# Only owners do this, and keys that an owner has made, with the capability to change the same thing.
_OF_OWNERS: Final = PartialTable({Operation.SERVICE_DELETE: Capability.SERVICES_MANAGE})
# A sign-in of a person in a browser.
_IN_BROWSERS: Final = frozenset({Operation.SERVICE_TRY})


class OrganizationKeyInvalid(Unauthorized):
    """The key is missing, unknown, deleted or expired, or its maker is gone; the answer does not tell which."""

    default_message = "A valid key of the organization is missing. Send one in the X-Api-Key header."


class ClosedToKeys(Forbidden):
    """No key of an organization opens the operation; it takes a person."""

    default_message = "A key of an organization cannot do this. Sign in as a member with the right to do it."


class KeyOpensNothingHere(Unauthorized):
    """A valid key was sent to a route that no key of an organization opens."""

    default_message = (
        "A key of an organization does not open this. It opens what is below /api/organizations/ and the slug of its"
        " organization, where /docs says so of a route. For anything else a person signs in, and sends an access token."
    )


class BeyondKey(Forbidden):
    """A key would make something that allows more than the key itself."""

    def __init__(self, lacking: str) -> None:
        super().__init__(
            Wording(
                "A key cannot create anything with more rights than it has itself, or than the member who made it has"
                " now. It lacks the rights for %(lacking)s.",
                lacking=lacking,
            )
        )


class NotOfOwner(Forbidden):
    """The operation is for owners, and the maker of the key is none."""

    default_message = "A key does this only while the member who made it is the owner of the organization."


class MakerWithoutAccess(Forbidden):
    """The maker of the key could not use the organization now, so the key cannot either."""

    default_message = (
        "The member who made this key has no access to the organization now: the membership is deactivated or not"
        " confirmed. Create a key as another owner or admin."
    )


class MadeWithOneFactor(Forbidden):
    """The organization requires two factors of its members, and the key was made in a session that began with one."""

    default_message = (
        "This organization requires multi-factor authentication, and this key was made without it. Sign in with a"
        " second factor and create a new key."
    )


class MadeWithoutPasskey(MadeWithOneFactor):
    """The organization accepts passkeys alone as a second factor, and the key was made with another one."""

    default_message = (
        "This organization accepts a passkey alone as a second factor, and this key was made with another one. Sign in"
        " with a passkey and create a new key."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenOfKey:
    """A token that stands for a key: the key, and the workload that got the token."""

    organization_id: UUID
    key_id: UUID
    workload_id: UUID

    @property
    def prefix(self) -> str:
        """What the log calls the caller."""
        return f"{SUBJECT_PREFIX}{self.key_id}"

    @property
    def token_hash(self) -> bytes:
        """What the requests with any token of the key are counted by."""
        return hash_token(self.prefix)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyCaller(TokenCaller):
    """A program that calls with a key: the stored key, its organization, and its maker as a member of it.

    `maker` is the caller of use cases, and names the key; `workload_id` is the workload whose token stands for the key,
    None for the key itself. `custom_permissions` are the permissions of the maker's custom role, `has_second_factor` is
    whether the key was made in a session with a second factor, and `is_phishing_resistant` whether that factor is.
    """

    key_id: UUID
    key_name: str
    workload_id: UUID | None
    permissions: list[str]
    organization: Organization
    membership: Membership
    custom_permissions: list[str] | None
    maker: Caller
    is_unconfirmed: bool
    is_suspended: bool
    has_second_factor: bool
    is_phishing_resistant: bool

    def context(self, slug: str) -> AccessContext:
        """Return what `authorize` decides from; no organization for the slug of another one than the key's."""
        return AccessContext(
            caller=self.maker,
            organization=self.organization if slug == self.organization.slug else None,
            membership=self.membership,
            custom_permissions=self.custom_permissions,
            is_unconfirmed=self.is_unconfirmed,
            narrowed=self.narrowed,
        )

    def narrowed(self, uow: UnitOfWork, maker: OrganizationAccess, operation: Operation) -> OrganizationAccess:
        """Return the access of the maker, with no capability that the key lacks, and record that the key was used.

        Raise `OrganizationNotActive` in every status but active, `MakerWithoutAccess`, `MadeWithOneFactor`,
        `ClosedToKeys`, `Forbidden` without a capability that the operation requires, or `NotOfOwner`.
        """
        if not self.organization.is_active:
            raise OrganizationNotActive(Wording("This organization is %(status)s.", status=self.organization.status))
        if self.is_suspended or self.is_unconfirmed:
            raise MakerWithoutAccess
        if self.organization.mfa_required and not self.has_second_factor:
            raise MadeWithOneFactor
        if (
            self.organization.mfa_required
            and self.organization.is_phishing_resistant
            and not self.is_phishing_resistant
        ):
            raise MadeWithoutPasskey
        authorized = replace(maker, capabilities=maker.capabilities & implied_by(self.permissions))
        for capability in sorted(_required(operation)):
            if capability not in authorized.capabilities:
                raise Forbidden(
                    Wording(
                        "This key does not allow %(capability)s, or the member who made it may not do this any"
                        " more. Create one that does.",
                        capability=capability,
                    )
                )
        if operation in _OF_OWNERS and self.membership.role != OWNER:
            raise NotOfOwner
        if self.is_use_due(uow.now):
            uow.organization_keys.record_use(self, at=uow.now)
        return authorized


def forbid_admins(access: OrganizationAccess, role: str) -> None:
    """Raise `ClosedToKeys` when a key would make an admin, who could create keys that outlive it."""
    if role == ADMIN and access.caller.limits.key_id is not None:
        raise ClosedToKeys("A key cannot make anyone an admin. Ask the owner or an admin to do it.")


def is_open_to_keys(operation: Operation) -> bool:
    """Return whether a key can open an operation."""
    return (
        operation in _READ_BY
        or operation in _OF_OWNERS
        or (isinstance(operation.takes, Capability) and operation not in _IN_BROWSERS)
    )


def presented(text: str) -> PrefixedToken:
    """Return a presented key."""
    return FORM.presented(text)


def presented_token(claims: Mapping[str, Any]) -> TokenOfKey | None:
    """Return the key that a valid access token stands for; None for any other token."""
    prefix, key_id = claims["sub"][: len(SUBJECT_PREFIX)], claims["sub"][len(SUBJECT_PREFIX) :]
    if prefix != SUBJECT_PREFIX or "sid" in claims:
        return None
    return TokenOfKey(
        organization_id=UUID(claims["organization_id"]), key_id=UUID(key_id), workload_id=UUID(claims["workload"])
    )


def require_none(uow: UnitOfWork) -> None:
    """Raise `KeyOpensNothingHere` for a valid key, and `OrganizationKeyInvalid` for any other."""
    uow.access_context("")
    raise KeyOpensNothingHere


def identify_token(candidates: Sequence[KeyCaller], *, at: datetime) -> KeyCaller:
    """Return the caller with a token; raise `OrganizationKeyInvalid` when the key or the workload has ended."""
    found = next((one for one in candidates if one.expires_at is None or one.expires_at > at), None)
    if found is None:
        raise OrganizationKeyInvalid("The key or the workload of this token has ended.")
    return found


def identify(candidates: Sequence[KeyCaller], key: PrefixedToken, *, at: datetime) -> KeyCaller:
    """Return the caller among those whose key has the prefix; raise `OrganizationKeyInvalid`."""
    found = prefixed_tokens.find(candidates, key, at=at)
    if found is None:
        raise OrganizationKeyInvalid
    return found


def _required(operation: Operation) -> frozenset[Capability]:
    """Return the capabilities that an operation requires of a key; raise `ClosedToKeys`."""
    if not is_open_to_keys(operation):
        raise ClosedToKeys
    instead = _READ_BY.get(operation) or _OF_OWNERS.get(operation)
    return frozenset({instead}) if instead is not None else operation.capabilities
