"""Keys of an organization, with which programs call its management interface.

A key has capabilities, and acts for the member who made it: `key_callers.py` says what it opens. It ends when it is
deleted or expires, and with the membership of its maker or the organization. It is found by its prefix
(`core/prefixed_tokens.py`). What it has made is in `made_by_keys.py`. The keys of a service, `sk_…`, are in
`core/services/api_keys.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.errors import BadRequest, NotFound, all_valid
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations import access, made_by_keys
from core.organizations.access import Capability, Operation
from core.organizations.key_callers import FORM, SUBJECT_PREFIX
from core.organizations.made_by_keys import SHOWN_MAX, MadeByKeyPage
from core.secrets import Secret, hash_token
from core.sessions import callers
from core.text import checked_name
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

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
    authorized = access.authorize_and_lock(uow, slug, Operation.KEY_CREATE)
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
    organization = access.authorize(uow, slug, Operation.KEYS_READ).organization
    return uow.organization_keys.of_organization(organization.id)


def list_with_makers(uow: UnitOfWork, slug: str) -> Sequence[MadeOrganizationKey]:
    """List the same keys with their makers."""
    organization = access.authorize(uow, slug, Operation.KEYS_READ).organization
    return uow.organization_keys.with_makers(organization.id)


def list_made(uow: UnitOfWork, slug: str, key_id: UUID, *, limit: int, offset: int) -> MadeByKeyPage:
    """List the things of a key that still exist; raise `OrganizationKeyUnknown`."""
    organization = access.authorize(uow, slug, Operation.KEYS_READ).organization
    if all(one.id != key_id for one in uow.organization_keys.of_organization(organization.id)):
        raise OrganizationKeyUnknown
    return uow.made_by_keys.page(organization.id, key_id, limit=limit, offset=offset)


def show_ends(uow: UnitOfWork, slug: str, key_id: UUID) -> OrganizationKeyEnds:
    """Return a key before it is deleted, and what it has made; raise `OrganizationKeyUnknown`."""
    organization = access.authorize(uow, slug, Operation.KEYS_CHANGE).organization
    known = uow.organization_keys.with_makers(organization.id)
    found = next((one for one in known if one.key.id == key_id), None)
    if found is None:
        raise OrganizationKeyUnknown
    made = uow.made_by_keys.page(organization.id, key_id, limit=SHOWN_MAX, offset=0)
    return OrganizationKeyEnds(key=found.key, maker_email=found.maker_email, made=made)


def delete(uow: UnitOfWork, slug: str, key_id: UUID, *, with_made: bool) -> None:
    """Delete a key, which loses access at once, with its setup links; `with_made` ends all that it has made."""
    # Locked, so that the key makes nothing meanwhile: what it makes locks the organization, too.
    organization = access.authorize_and_lock(uow, slug, Operation.KEYS_CHANGE).organization
    links = uow.made_by_keys.links(organization.id, key_id)
    key = uow.organization_keys.remove(organization.id, key_id)
    if key is None:
        raise OrganizationKeyUnknown
    _record(uow, organization.id, AuditAction.ORGANIZATION_KEY_DELETED, key)
    made_by_keys.record_ended(uow, organization.id, links)
    if with_made:
        made_by_keys.end(uow, organization.id, key_id)


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
