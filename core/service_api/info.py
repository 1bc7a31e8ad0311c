"""The service itself, as its backend reads and changes it with an API key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from core.errors import Forbidden
from core.services import api_keys, management
from core.services.api_keys import ApiKeyInvalid, Permission, ServiceCaller
from core.services.client_records import Outside
from core.services.services import Service

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


# What tokens of the service are good for, what they say, and who gets one.
_OF_MEMBERS: Final = frozenset({"scopes", "machine_scopes", "claims", "access"})


class OwnPowers(Forbidden):
    """A key of the service may not say who has which scopes, what tokens tell, and who may sign in (decisions 14.1)."""

    default_message = (
        "A key of the service cannot change its scopes, which roles have them, its claims, and who may sign in. A"
        " member of the organization who may manage services can."
    )


def read(uow: UnitOfWork) -> Service:
    """Return the service of the key."""
    return find_service(uow, api_keys.authorize(uow, Permission.READ_SERVICE))


def change(uow: UnitOfWork, changes: dict[str, Any], *, outside: Outside) -> Service:
    """Change the named fields of the service, as its members can, but for those that say what tokens are good for.

    Raise `OwnPowers` for another value of these: what the program of the service may do is not its own to say.
    """
    # Locked, as for the changes of members, and before the use of the key is recorded: deleting the service locks the
    # organization first, and its keys then.
    uow.organizations.lock(uow.service_caller.organization_id)
    caller = api_keys.authorize(uow, Permission.WRITE_SERVICE)
    service = find_service(uow, caller)
    roles = changes.get("roles", service.roles)
    # It is not told whom the service is assigned to, so naming that changes it.
    is_other = "assignments" in changes or any(
        changes[name] != getattr(service, name) for name in _OF_MEMBERS & changes.keys()
    )
    if is_other or management.scopes_of_roles(roles) != management.scopes_of_roles(service.roles):
        raise OwnPowers
    return management.apply(uow, service, changes, outside=outside)


def find_service(uow: UnitOfWork, caller: ServiceCaller) -> Service:
    """Return the service of an API key; raise `ApiKeyInvalid` when it was deleted at this moment."""
    service = uow.services.by_id(caller.organization_id, caller.service_id)
    if service is None:
        # It was deleted at this moment, and its keys with it.
        raise ApiKeyInvalid
    return service
