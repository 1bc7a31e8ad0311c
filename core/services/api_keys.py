"""API keys, with which the backend of a service calls `/api/service`.

A key belongs to one service and has permissions, and is found by its prefix (`core/prefixed_tokens.py`). What a key may
do is in `core/service_api/`. Its maker must be allowed to do the same when the key is made; the key keeps its
permissions when the maker leaves. A key of the organization makes API keys too, within its own capabilities.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core import prefixed_tokens
from core.errors import BadRequest, Forbidden, NotFound, OrganizationNotActive, Unauthorized, all_valid
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, Operation
from core.organizations.key_callers import BeyondKey
from core.organizations.organizations import OrganizationStatus
from core.positions import FoundRows, Position, found_rows
from core.prefixed_tokens import PrefixedToken, TokenCaller, TokenForm
from core.secrets import Secret, hash_token
from core.services import service_access
from core.services.service_access import ServiceAccess
from core.services.services import Service
from core.tables import PartialTable
from core.text import checked_name
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Enough for any service; a key that is lost in a long list is a risk.
KEYS_MAX: Final = 100
LIFETIME_DAYS_MAX: Final = 3650
_FORM: Final = TokenForm("sk")


class Permission(StrEnum):
    """What a key allows."""

    READ_USERS = "read:users"
    WRITE_USERS = "write:users"
    DELETE_USERS = "delete:users"
    READ_SUBSCRIPTIONS = "read:subscriptions"
    WRITE_SUBSCRIPTIONS = "write:subscriptions"
    DELETE_SUBSCRIPTIONS = "delete:subscriptions"
    READ_ANALYTICS = "read:analytics"
    READ_SERVICE = "read:service"
    WRITE_SERVICE = "write:service"
    READ_CUSTOMERS = "read:customers"
    WRITE_CUSTOMERS = "write:customers"
    SETUP_CUSTOMERS = "setup:customers"


# What the maker of a key must be allowed to do, so that a key does nothing that its maker may not.
CAPABILITIES: Final[Mapping[Permission, tuple[Capability, ...]]] = {
    Permission.READ_USERS: (Capability.END_USERS_VIEW,),
    Permission.WRITE_USERS: (Capability.END_USERS_MANAGE,),
    Permission.DELETE_USERS: (Capability.END_USERS_MANAGE,),
    Permission.READ_SUBSCRIPTIONS: (Capability.END_USERS_VIEW,),
    # They decide who has a paid plan.
    Permission.WRITE_SUBSCRIPTIONS: (Capability.BILLING_MANAGE,),
    Permission.DELETE_SUBSCRIPTIONS: (Capability.BILLING_MANAGE,),
    Permission.READ_ANALYTICS: (Capability.ANALYTICS_VIEW,),
    Permission.READ_SERVICE: (Capability.SERVICES_VIEW,),
    Permission.WRITE_SERVICE: (Capability.SERVICES_MANAGE,),
    # These reach customers and their people.
    Permission.READ_CUSTOMERS: (Capability.SERVICES_MANAGE, Capability.END_USERS_VIEW),
    Permission.WRITE_CUSTOMERS: (Capability.SERVICES_MANAGE, Capability.END_USERS_MANAGE),
    # This includes reading them.
    Permission.SETUP_CUSTOMERS: (Capability.SERVICES_MANAGE, Capability.END_USERS_VIEW),
}
# Another permission that allows the same.
ALSO_BY: Final[PartialTable[Permission, Permission]] = PartialTable(
    {Permission.READ_CUSTOMERS: Permission.SETUP_CUSTOMERS}
)


class ApiKeyUnknown(NotFound):
    """The service has no API key with that id."""

    default_message = "This service has no such API key."


class ApiKeyInvalid(Unauthorized):
    """The API key is missing, unknown, deleted or expired; the answer does not tell which."""

    default_message = "A valid API key is missing. Send one in the X-Api-Key header."


class PermissionMissing(Forbidden):
    """The API key lacks the permission for this endpoint."""

    default_message = "This API key lacks the permission for this. Create one that has it."


class PermissionBeyondMaker(Forbidden):
    """The key would allow what its maker may not do."""

    def __init__(self, beyond: Mapping[Permission, Sequence[Capability]]) -> None:
        super().__init__(
            Wording(
                "A key allows nothing that you may not do yourself. Your role lacks the rights for"
                " %(lacking)s. Leave these permissions out, or ask the owner of the organization.",
                lacking=_listed(beyond),
            )
        )


class TooManyKeys(BadRequest):
    """The service has the maximum number of API keys."""

    default_message = Wording(
        "A service can have at most %(maximum)s API keys. Delete one that is not in use.", maximum=KEYS_MAX
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """An API key of a service, without its secret."""

    id: UUID
    service_id: UUID
    name: str
    prefix: str
    permissions: list[Permission]
    last_used_at: datetime | None
    expires_at: datetime | None
    created_at: datetime
    created_by: UUID | None
    # The key of the organization that made it; None for one that a person made.
    made_by_key: UUID | None = None

    def has_expired(self, at: datetime) -> bool:
        """Whether the key has expired at a moment."""
        return self.expires_at is not None and self.expires_at <= at


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedApiKey:
    """A key in the console; `maker_email` is None when its maker is no member of the organization any more.

    `key_name` is the name of the key of the organization that made it; None for a person, and when that key has ended.
    """

    key: ApiKey
    maker_email: str | None
    key_name: str | None

    @property
    def position(self) -> Position:
        """The place of the key in the list."""
        return Position(at=self.key.created_at, id=self.key.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKeysPage:
    """A page of API keys, and their total number."""

    api_keys: Sequence[ApiKey]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCaller(TokenCaller):
    """The backend of a service, which calls with an API key: the stored key, its service and its organization.

    `made_by` is the person who made the key; None when their account is gone.
    """

    key_id: UUID
    permissions: list[str]
    made_by: UUID | None = None
    service_id: UUID
    service_slug: str


def presented(text: str) -> PrefixedToken:
    """Return a presented key."""
    return _FORM.presented(text)


def identify(candidates: Sequence[ServiceCaller], key: PrefixedToken, *, at: datetime) -> ServiceCaller:
    """Return the caller among those whose key has the prefix; raise `ApiKeyInvalid`."""
    found = prefixed_tokens.find(candidates, key, at=at)
    if found is None:
        raise ApiKeyInvalid
    return found


def authorize(uow: UnitOfWork, permission: Permission) -> ServiceCaller:
    """Authorize the backend of a service, and record that its key was used.

    Raise `ApiKeyInvalid`, then `OrganizationNotActive`, then `PermissionMissing`.
    """
    caller = uow.service_caller
    if caller.organization_status != OrganizationStatus.ACTIVE:
        raise OrganizationNotActive(Wording("This organization is %(status)s.", status=caller.organization_status))
    if permission not in caller.permissions and ALSO_BY.get(permission) not in caller.permissions:
        raise PermissionMissing(
            Wording("This API key lacks the permission %(permission)s. Create one that has it.", permission=permission)
        )
    if caller.is_use_due(uow.now):
        uow.api_keys.record_use(caller, at=uow.now)
    return caller


def service_of(uow: UnitOfWork, caller: ServiceCaller) -> Service:
    """Return the service of a key; raise `ApiKeyInvalid` when it was deleted at this moment, and its keys with it."""
    service = uow.services.by_id(caller.organization_id, caller.service_id)
    if service is None:
        raise ApiKeyInvalid
    return service


def create(
    uow: UnitOfWork,
    slug: str,
    service_slug: str,
    *,
    name: str,
    permissions: Iterable[Permission],
    expires_in_days: int | None,
) -> tuple[ApiKey, Secret]:
    """Create a key and return it with its secret, which cannot be read again."""
    authorized = service_access.authorize_and_lock(uow, slug, service_slug, Operation.API_KEY_CREATE)
    given = set(permissions)
    checked, _ = all_valid(lambda: checked_name(name, characters_min=1), lambda: _require_any(given))
    _require_having(authorized, given)
    prefix, secret = _FORM.create(uow)
    key = ApiKey(
        id=uow.randomness.new_id(),
        service_id=authorized.service.id,
        name=checked,
        prefix=prefix,
        permissions=[permission for permission in Permission if permission in given],
        last_used_at=None,
        expires_at=uow.now + timedelta(days=expires_in_days) if expires_in_days is not None else None,
        created_at=uow.now,
        created_by=authorized.caller.maker_id,
        made_by_key=authorized.caller.limits.made_by_key,
    )
    # The organization is locked, so no other transaction adds a key meanwhile.
    if uow.api_keys.count(authorized.service) >= KEYS_MAX:
        raise TooManyKeys
    uow.api_keys.add(authorized.service, key, key_hash=hash_token(secret.reveal()))
    _record(uow, AuditAction.API_KEY_CREATED, authorized.service, key)
    return key, secret


def _require_any(permissions: Collection[Permission]) -> None:
    if not permissions:
        raise BadRequest.of_field("permissions", "Name at least one permission.")


def list_page(uow: UnitOfWork, slug: str, service_slug: str, *, limit: int, offset: int) -> ApiKeysPage:
    """List the keys of a service, the newest first, also those that have expired."""
    service = service_access.authorize(uow, slug, service_slug, Operation.API_KEYS_READ).service
    return uow.api_keys.page(service, limit=limit, offset=offset)


def show(uow: UnitOfWork, slug: str, service_slug: str, key_id: UUID) -> ApiKey:
    """Return a key; raise `ApiKeyUnknown` when the service has none with that id."""
    service = service_access.authorize(uow, slug, service_slug, Operation.API_KEYS_READ).service
    key = uow.api_keys.find(service, key_id)
    if key is None:
        raise ApiKeyUnknown
    return key


def search(
    uow: UnitOfWork, slug: str, service_slug: str, *, search: str, after: Position | None, limit: int
) -> FoundRows[ListedApiKey]:
    """Find keys of a service by a part of their name or prefix, the newest first; an empty text finds all."""
    service = service_access.authorize(uow, slug, service_slug, Operation.API_KEYS_READ).service
    part = search.strip().casefold()
    # A service has at most `KEYS_MAX`, so all of them are read.
    found = [one for one in uow.api_keys.of_service(service) if part in f"{one.key.name}\n{one.key.prefix}".casefold()]
    shown = [one for one in found if after is None or (one.key.created_at, one.key.id) < (after.at, after.id)]

    def count(*, counted_max: int) -> int:
        return len(found[:counted_max])

    return found_rows(shown[: limit + 1], after=after, limit=limit, count=count)


def show_made(
    uow: UnitOfWork, slug: str, service_slug: str, key_id: UUID, operation: Operation = Operation.API_KEYS_READ
) -> ListedApiKey:
    """Return a key with the address of its maker to a caller who may do the operation; raise `ApiKeyUnknown`."""
    service = service_access.authorize(uow, slug, service_slug, operation).service
    found = next((one for one in uow.api_keys.of_service(service) if one.key.id == key_id), None)
    if found is None:
        raise ApiKeyUnknown
    return found


def require_creatable(uow: UnitOfWork, slug: str, service_slug: str) -> None:
    """Authorize the caller to create a key before they describe it."""
    service_access.authorize(uow, slug, service_slug, Operation.API_KEY_CREATE)


def lacking(capabilities: frozenset[Capability]) -> Mapping[Permission, Sequence[Capability]]:
    """Return the permissions that a manager of the service with these capabilities cannot give, and what is missing."""
    held = capabilities | service_access.OF_MANAGERS
    missing = {permission: [one for one in taken if one not in held] for permission, taken in CAPABILITIES.items()}
    return {permission: capabilities for permission, capabilities in missing.items() if capabilities}


def delete(uow: UnitOfWork, slug: str, service_slug: str, key_id: UUID) -> None:
    """Delete a key, which loses access at once."""
    service = service_access.authorize(uow, slug, service_slug, Operation.API_KEYS_CHANGE).service
    key = uow.api_keys.remove(service, key_id)
    if key is None:
        raise ApiKeyUnknown
    _record(uow, AuditAction.API_KEY_DELETED, service, key)


def _require_having(maker: ServiceAccess, given: Collection[Permission]) -> None:
    """Raise `PermissionBeyondMaker` or `BeyondKey` when a permission requires a capability that the maker lacks.

    The maker manages the service, by their role or by a grant.
    """
    beyond = {permission: taken for permission, taken in lacking(maker.capabilities).items() if permission in given}
    if not beyond:
        return
    raise PermissionBeyondMaker(beyond) if maker.caller.limits.key_id is None else BeyondKey(_listed(beyond))


def _listed(beyond: Mapping[Permission, Sequence[Capability]]) -> str:
    return ", ".join(f"{permission} (takes {', '.join(taken)})" for permission, taken in beyond.items())


def _record(uow: UnitOfWork, action: AuditAction, service: Service, key: ApiKey) -> None:
    uow.record(
        action,
        key.id,
        organization_id=service.organization_id,
        api_key_id=str(key.id),
        service_id=str(service.id),
        service_slug=service.slug,
        name=key.name,
        permissions=key.permissions,
        expires_at=key.expires_at.isoformat().replace("+00:00", "Z") if key.expires_at is not None else None,
    )
