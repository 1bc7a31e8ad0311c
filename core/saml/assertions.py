"""What an assertion says about a user: the name under which the service provider knows them, and attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.saml.admission import AdmissionStanding
from core.saml.messages import NameId, NameIdFormat
from core.saml.providers import SamlProvider
from core.sessions.callers import GROUPS_NAMED_MAX

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_PURPOSE: Final = "persistent name of SAML"
# When no mapping is set (decisions 9.2).
DEFAULT_MAPPING: Final = {"email": "email", "id": "id"}
_BETWEEN_NAMES: Final = re.compile(r"[._+-]+")


def name_id(uow: UnitOfWork, provider: SamlProvider, user_id: UUID, email: str) -> NameId:
    """Return the name of a user for a service, in the configured format.

    A persistent name is derived from the user and the service, so that two services cannot compare their users.
    """
    match provider.configuration.effective_format:
        case NameIdFormat.PERSISTENT as name_format:
            value = uow.pepper.mark(_PURPOSE, provider.service_id.bytes, user_id.bytes).hex()
        case NameIdFormat.TRANSIENT as name_format:
            value = f"_{uow.randomness.token().reveal()}"
        case name_format:
            value = email
    return NameId(value=value, format=name_format)


def attributes(
    mapping: Mapping[str, str] | None, *, user_id: UUID, email: str, standing: AdmissionStanding
) -> tuple[tuple[str, str | Sequence[str] | None], ...]:
    """Return the attributes of a user by the mapping; role, groups and name have a value for members alone."""
    role = standing.role
    values: dict[str, str | Sequence[str] | None] = {
        "email": email,
        "id": str(user_id),
        "name": standing.name or _name(email) if role is not None else None,
        "role": role,
        "groups": _groups(standing),
    }
    return tuple((name, values[field]) for field, name in (mapping or DEFAULT_MAPPING).items())


def _groups(standing: AdmissionStanding) -> str | Sequence[str] | None:
    """Return the names of the groups that the service learns of; the role for a service that learns of none."""
    if standing.groups is None:
        return standing.role
    return standing.groups if 0 < len(standing.groups) <= GROUPS_NAMED_MAX else None


def _name(email: str) -> str:
    """Derive a name from an address, because accounts have none; a directory may know one (decisions 8.2 and 8.4)."""
    words = _BETWEEN_NAMES.split(email.partition("@")[0])
    return " ".join(word.capitalize() for word in words if word) or email
