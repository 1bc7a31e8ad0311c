"""The service itself, as its backend reads and changes it with an API key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.services import api_keys, management
from core.services.api_keys import ApiKeyInvalid, Permission, ServiceCaller
from core.services.client_records import Outside
from core.services.services import Service

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def read(uow: UnitOfWork) -> Service:
    """Return the service of the key."""
    return find_service(uow, api_keys.authorize(uow, Permission.READ_SERVICE))


def change(uow: UnitOfWork, changes: dict[str, Any], *, outside: Outside) -> Service:
    """Change the named fields of the service, as its members can."""
    # Locked, as for the changes of members, and before the use of the key is recorded: deleting the service locks the
    # organization first, and its keys then.
    uow.organizations.lock(uow.service_caller.organization_id)
    caller = api_keys.authorize(uow, Permission.WRITE_SERVICE)
    return management.apply(uow, find_service(uow, caller), changes, outside=outside)


def find_service(uow: UnitOfWork, caller: ServiceCaller) -> Service:
    """Return the service of an API key; raise `ApiKeyInvalid` when it was deleted at this moment."""
    service = uow.services.by_id(caller.organization_id, caller.service_id)
    if service is None:
        # It was deleted at this moment, and its keys with it.
        raise ApiKeyInvalid
    return service
