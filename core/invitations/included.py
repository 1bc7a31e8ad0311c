"""What an invitation includes besides the membership: services of its organization, and a message.

The person is linked to the services with the acceptance, and the links end with the membership (`departures.py`). An
inviter who includes services needs the right that linking a user by a key of a service takes. The message is for the
person alone, after a proof of the address; no mail, no event and no audit entry has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import BadRequest
from core.organizations.access import Capability, Operation
from core.organizations.authorization import OrganizationAccess, authorize
from core.text import SLUG_CHARACTERS_MAX, checked_message
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

SERVICES_MAX: Final = 20
# How many services a form offers.
OFFERED_MAX: Final = 100


def offered(uow: UnitOfWork, slug: str) -> Mapping[str, str]:
    """Return the names of services by slug that the caller may include; none for one who may not, or sees none."""
    access = authorize(uow, slug, Operation.INVITATIONS_LIST)
    needed = {Capability.ORG_MEMBERS_MANAGE, Capability.END_USERS_MANAGE, Capability.SERVICES_VIEW}
    if not access.capabilities >= needed:
        return {}
    return uow.services.names(access.organization.id, limit=OFFERED_MAX)


def require_right(access: OrganizationAccess, services: Sequence[str]) -> None:
    """Raise `Forbidden` for a member who may not link people to services, where an invitation names any."""
    if services:
        access.require(Capability.END_USERS_MANAGE)


def checked_services(uow: UnitOfWork, access: OrganizationAccess, slugs: Sequence[str]) -> Mapping[str, UUID]:
    """Return the ids of the services that an invitation names by slugs, each once; raise `BadRequest`, `Forbidden`."""
    require_right(access, slugs)
    unique = sorted(set(slugs))
    if len(unique) > SERVICES_MAX:
        raise BadRequest.of_field(
            "services", Wording("An invitation names at most %(maximum)s services.", maximum=SERVICES_MAX)
        )
    if not unique:
        return {}
    found = uow.services.ids_by_slug(access.organization.id, unique)
    unknown = [slug for slug in unique if slug not in found]
    if unknown:
        raise BadRequest.of_field(
            "services",
            Wording(
                "This organization has no service with the slug “%(slug)s”.", slug=unknown[0][:SLUG_CHARACTERS_MAX]
            ),
        )
    return found


def checked_message_or_none(message: str | None) -> str | None:
    """Return the message of an invitation as it is stored; None for an empty one. Raise `BadRequest`."""
    return (checked_message(message) or None) if message is not None else None
