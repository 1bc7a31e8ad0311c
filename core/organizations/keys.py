"""Keys of an organization, with which programs call its management interface, and what they have made.

A key has capabilities, and acts for the member who made it: `key_callers.py` says what it opens. It ends when it is
deleted or expires, and with the membership of its maker or the organization. It is found by its prefix
(`core/prefixed_tokens.py`). The keys of a service, `sk_…`, are in `core/services/api_keys.py`.

API keys of services, SCIM tokens and setup links keep the id of the key that made them, also for customers of the
organization. Setup links act within the capabilities of the key, and end with it. The others stay, so that keys can be
replaced, unless the person who deletes the key ends them too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.errors import BadRequest, NotFound, all_valid
from core.events.actions import AuditAction
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, Operation
from core.organizations.authorization import authorize, authorize_and_lock
from core.organizations.key_callers import FORM, SUBJECT_PREFIX
from core.parts import ROWS_AT_ONCE_MAX
from core.secrets import Secret, hash_token
from core.sessions import callers
from core.text import checked_name
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The reason in the log for what ends with the key.
REASON: Final = "organization_key_deleted"
# The page that deletes a key shows so many and counts the others.
SHOWN_MAX: Final = 50


class MadeByKeyKind(StrEnum):
    """A kind of thing that a key makes, and that calls Gatehouse by itself."""

    API_KEY = "api_key"
    SCIM_TOKEN = "scim_token"  # noqa: S105 - a kind of token
    SETUP_LINK = "setup_link"


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeByKey:
    """Something that a key has made; the name of a setup link is its parts.

    `service_slug` is the service of an API key, of a link for SAML, or of the customer that `customer_id` names.
    """

    kind: MadeByKeyKind
    id: UUID
    name: str
    service_slug: str | None
    customer_id: UUID | None
    made_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeByKeyPage:
    """A page of what a key has made, the newest first, and the total number."""

    things: Sequence[MadeByKey]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedWithKey:
    """Something that ends with the key that made it, and the details by which an audit entry names it.

    What was made for a customer is in the customer's internal organization.
    """

    kind: MadeByKeyKind
    id: UUID
    organization_id: UUID
    customer_id: UUID | None
    recorded: dict[str, Any]


_ENDED: Final = {
    MadeByKeyKind.API_KEY: AuditAction.API_KEY_DELETED,
    MadeByKeyKind.SCIM_TOKEN: AuditAction.SCIM_TOKEN_REVOKED,
    MadeByKeyKind.SETUP_LINK: AuditAction.ORGANIZATION_UPDATED,
}


def end(uow: UnitOfWork, organization_id: UUID, key_id: UUID) -> None:
    """End the API keys and SCIM tokens of a key, in parts; the organization is locked, so it makes none meanwhile."""
    while ended := uow.made_by_keys.end(organization_id, key_id, limit=ROWS_AT_ONCE_MAX):
        record_ended(uow, organization_id, ended)


def record_ended(uow: UnitOfWork, organization_id: UUID, ended: Sequence[EndedWithKey]) -> None:
    """Record what has ended with the key that made it."""
    for one in ended:
        if one.customer_id is not None:
            _record_at_customer(uow, one, one.customer_id)
            continue
        target_id = one.id if one.kind is MadeByKeyKind.API_KEY else organization_id
        uow.record(_ENDED[one.kind], target_id, organization_id=organization_id, **one.recorded, reason=REASON)


def _record_at_customer(uow: UnitOfWork, ended: EndedWithKey, customer_id: UUID) -> None:
    uow.audit_at_customer(
        _ENDED[ended.kind], customer_id, ended.organization_id, is_of_vendor=True, **ended.recorded, reason=REASON
    )
    if ended.kind is MadeByKeyKind.SCIM_TOKEN:
        uow.tell_vendor(
            EventType.CUSTOMER_DIRECTORY_CHANGED,
            ended.organization_id,
            scim_token_id=str(ended.id),
            state="removed",
        )


# Enough for the programs of any organization, and few enough to be listed without pages.
KEYS_MAX: Final = 50
LIFETIME_DAYS_MAX: Final = 3650


class OrganizationKeyUnknown(NotFound):
    """The organization has no key with that id."""

    default_message = "This organization has no such key."


class TooManyOrganizationKeys(BadRequest):
    """The organization has the maximum number of keys."""

    default_message = Wording(
        "An organization can have at most %(maximum)s keys. Delete one that is not in use.", maximum=KEYS_MAX
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationKey:
    """A key of an organization, without its secret."""

    id: UUID
    name: str
    # None for a key without a secret, which only its workloads use (`core/services/workloads.py`).
    prefix: str | None
    permissions: list[Capability]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None

    @property
    def client_id(self) -> str:
        """What its workloads name at the token endpoint, and the subject of their tokens."""
        return f"{SUBJECT_PREFIX}{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeOrganizationKey:
    """A key with the address of the member who made it."""

    key: OrganizationKey
    maker_email: str

    def has_expired(self, at: datetime) -> bool:
        """Return whether the key no longer opens anything."""
        return self.key.expires_at is not None and self.key.expires_at <= at


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationKeyEnds(MadeOrganizationKey):
    """A key that is about to be deleted, with the first things that it has made and their number."""

    made: MadeByKeyPage


def create(
    uow: UnitOfWork,
    slug: str,
    *,
    name: str,
    permissions: Iterable[Capability],
    expires_in_days: int | None,
    has_secret: bool = True,
) -> tuple[OrganizationKey, Secret | None]:
    """Create a key that acts for the caller, and return it with its secret, which cannot be read again.

    One without a secret is used by its workloads alone.
    """
    authorized = authorize_and_lock(uow, slug, Operation.KEY_CREATE)
    # A transaction that ends the sessions and keys of an account locks it: either it came first, and this session is
    # over, or it finds the key.
    callers.lock_account(uow)
    organization_id = authorized.organization.id
    given = set(permissions)
    name, _ = all_valid(lambda: checked_name(name, characters_min=1), lambda: _require_any(given))
    for capability in sorted(given):
        authorized.require(capability)
    prefix, secret = FORM.create(uow) if has_secret else (None, None)
    key = OrganizationKey(
        id=uow.randomness.new_id(),
        name=name,
        prefix=prefix,
        permissions=[capability for capability in Capability if capability in given],
        created_at=uow.now,
        expires_at=uow.now + timedelta(days=expires_in_days) if expires_in_days is not None else None,
        last_used_at=None,
    )
    # The organization is locked, so no other transaction adds a key meanwhile.
    if len(uow.organization_keys.of_organization(organization_id)) >= KEYS_MAX:
        raise TooManyOrganizationKeys
    uow.organization_keys.add(
        organization_id,
        key,
        key_hash=hash_token(secret.reveal()) if secret is not None else None,
        created_by=authorized.caller.account.id,
        has_second_factor=authorized.caller.session.has_second_factor,
        is_phishing_resistant=authorized.caller.session.is_phishing_resistant,
    )
    _record(
        uow,
        organization_id,
        AuditAction.ORGANIZATION_KEY_CREATED,
        key,
        permissions=key.permissions,
        expires_at=key.expires_at.isoformat().replace("+00:00", "Z") if key.expires_at is not None else None,
    )
    return key, secret


def list_all(uow: UnitOfWork, slug: str) -> Sequence[OrganizationKey]:
    """List the keys of an organization, the newest first, also those that have expired."""
    organization = authorize(uow, slug, Operation.KEYS_READ).organization
    return uow.organization_keys.of_organization(organization.id)


def list_with_makers(uow: UnitOfWork, slug: str) -> Sequence[MadeOrganizationKey]:
    """List the same keys with their makers."""
    organization = authorize(uow, slug, Operation.KEYS_READ).organization
    return uow.organization_keys.with_makers(organization.id)


def list_made(uow: UnitOfWork, slug: str, key_id: UUID, *, limit: int, offset: int) -> MadeByKeyPage:
    """List the things of a key that still exist; raise `OrganizationKeyUnknown`."""
    organization = authorize(uow, slug, Operation.KEYS_READ).organization
    if all(one.id != key_id for one in uow.organization_keys.of_organization(organization.id)):
        raise OrganizationKeyUnknown
    return uow.made_by_keys.page(organization.id, key_id, limit=limit, offset=offset)


def show_ends(uow: UnitOfWork, slug: str, key_id: UUID) -> OrganizationKeyEnds:
    """Return a key before it is deleted, and what it has made; raise `OrganizationKeyUnknown`."""
    organization = authorize(uow, slug, Operation.KEYS_CHANGE).organization
    known = uow.organization_keys.with_makers(organization.id)
    found = next((one for one in known if one.key.id == key_id), None)
    if found is None:
        raise OrganizationKeyUnknown
    made = uow.made_by_keys.page(organization.id, key_id, limit=SHOWN_MAX, offset=0)
    return OrganizationKeyEnds(key=found.key, maker_email=found.maker_email, made=made)


def delete(uow: UnitOfWork, slug: str, key_id: UUID, *, with_made: bool) -> None:
    """Delete a key, which loses access at once, with its setup links; `with_made` ends all that it has made."""
    # Locked, so that the key makes nothing meanwhile: what it makes locks the organization, too.
    organization = authorize_and_lock(uow, slug, Operation.KEYS_CHANGE).organization
    links = uow.made_by_keys.links(organization.id, key_id)
    key = uow.organization_keys.remove(organization.id, key_id)
    if key is None:
        raise OrganizationKeyUnknown
    _record(uow, organization.id, AuditAction.ORGANIZATION_KEY_DELETED, key)
    record_ended(uow, organization.id, links)
    if with_made:
        end(uow, organization.id, key_id)


def end_of_makers(
    uow: UnitOfWork, user_ids: Sequence[UUID], organization_id: UUID | None = None, *, reason: str = "maker_left"
) -> None:
    """Delete the keys that these users have made in one organization or in all, and record why.

    Workloads that they made for keys of other members end too. Where a membership ends, its keys would end in any case,
    but without an entry in the log.
    """
    for owning_id, key in uow.organization_keys.remove_of_makers(user_ids, organization_id):
        _record(uow, owning_id, AuditAction.ORGANIZATION_KEY_DELETED, key, reason=reason)
    for owning_id, workload in uow.workloads.remove_of_makers(user_ids, organization_id):
        uow.record(
            AuditAction.WORKLOAD_DELETED,
            workload.id,
            organization_id=owning_id,
            workload_id=str(workload.id),
            name=workload.name,
            reason=reason,
        )


def _require_any(permissions: set[Capability]) -> None:
    if not permissions:
        raise BadRequest.of_field("permissions", "Name at least one permission.")


def _record(uow: UnitOfWork, organization_id: UUID, action: AuditAction, key: OrganizationKey, **details: Any) -> None:
    uow.record(
        action,
        key.id,
        organization_id=organization_id,
        event_only={"key_id": str(key.id)},
        key_name=key.name,
        key_prefix=key.prefix,
        **details,
    )
