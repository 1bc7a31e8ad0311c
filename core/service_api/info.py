"""The service itself, as its backend reads and changes it with an API key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from core.errors import Forbidden
from core.services import api_keys, management
from core.services.api_keys import Permission
from core.services.client_records import Outside
from core.services.services import Service

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


# These set what tokens of the service open and say, and who gets one.
_OF_MEMBERS: Final = frozenset({"scopes", "machine_scopes", "claims", "access"})


class OwnPowers(Forbidden):
    """A key of the service may not set who has which scopes, what tokens say, and who may sign in."""

    default_message = (
        "A key of the service cannot change its scopes, which roles have them, its claims, and who may sign in. A"
        " member of the organization who may manage services can."
    )


def read(uow: UnitOfWork) -> Service:
    """Return the service of the key."""
    return api_keys.service_of(uow, api_keys.authorize(uow, Permission.READ_SERVICE))


def change(uow: UnitOfWork, changes: dict[str, Any], *, outside: Outside) -> Service:
    """Change the named fields of the service as its members can, except scopes, claims and who may sign in.

    Raise `OwnPowers` for another value of these: the program of the service does not decide about its own powers.
    """
    # Locked as for changes of members, and before the use of the key is recorded, because deleting the service locks
    # the organization first and then the keys.
    uow.organizations.lock(uow.service_caller.organization_id)
    caller = api_keys.authorize(uow, Permission.WRITE_SERVICE)
    service = api_keys.service_of(uow, caller)
    roles = changes.get("roles", service.roles)
    # The program does not see the assignments, so naming them counts as a change.
    is_other = "assignments" in changes or any(
        changes[name] != getattr(service, name) for name in _OF_MEMBERS & changes.keys()
    )
    if is_other or management.scopes_of_roles(roles) != management.scopes_of_roles(service.roles):
        raise OwnPowers
    return management.apply(uow, service, changes, outside=outside)
