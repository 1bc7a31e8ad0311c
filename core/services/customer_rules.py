"""The settings of a service for its customers: which organizations may use it, its roles, and who else may use it.

The customers themselves are in `core/customers/`, the customer of a session in `core/sessions/customer_contexts.py`,
and who may sign in for a customer in `core/sign_in/customer_choices.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from enum import StrEnum
from typing import Final

from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.text import checked_name
from core.wording import Wording

ROLES_MAX: Final = 50
# Of the id or slug that names a customer.
CUSTOMER_CHARACTERS_MAX: Final = 100
DESCRIPTION_CHARACTERS_MAX: Final = 500
_ROLE_NAME: Final = re.compile(r"[a-z0-9_.-]{1,50}")


class CustomerPolicy(StrEnum):
    """Which organizations may use a service: none, those that it lists, or any."""

    NONE = "none"
    LISTED = "listed"
    ANY = "any"


class Individuals(StrEnum):
    """Who may use a service without a customer: no person, people of none of its customers, or everyone."""

    NONE = "none"
    OTHERS = "others"
    ALL = "all"


class Admission(StrEnum):
    """Who may sign in to a service without a customer: everyone, active members, or members that an assignment fits."""

    EVERYONE = "everyone"
    MEMBERS = "members"
    ASSIGNED = "assigned"

    def lets_in_more_than(self, other: Admission) -> bool:
        """Return whether it admits people that the other one does not."""
        return _FROM_OPEN.index(self) < _FROM_OPEN.index(other)


_FROM_OPEN: Final = (Admission.EVERYONE, Admission.MEMBERS, Admission.ASSIGNED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceRole:
    """A role of the service itself, which its organization and its customers assign to their people."""

    name: str
    title: str
    description: str = ""
    # Scopes of services of the organization that this role gives.
    scopes: list[str] = field(default_factory=list[str])


def individuals_by_default(customers: CustomerPolicy) -> Individuals:
    """Return who may use a service without a customer if the service does not set it."""
    return Individuals.ALL if customers is CustomerPolicy.NONE else Individuals.OTHERS


def require_roles(roles: Sequence[ServiceRole]) -> None:
    """Raise `BadRequest` for roles that a service cannot have."""
    if len(roles) > ROLES_MAX:
        raise BadRequest.of_field("roles", Wording("At most %(maximum)s roles.", maximum=ROLES_MAX))
    if len({role.name for role in roles}) < len(roles):
        raise BadRequest.of_field("roles", "Each role has a name of its own.")
    for role in roles:
        _require_role(role)


def require_policy(customers: CustomerPolicy, individuals: Individuals) -> None:
    """Raise `BadRequest` for a service that limits individuals without having customers."""
    if customers is CustomerPolicy.NONE and individuals is not Individuals.ALL:
        raise BadRequest.of_field(
            "individuals", "Only a service with customers can limit use without a customer. Set access instead."
        )


def _require_role(role: ServiceRole) -> None:
    if not _ROLE_NAME.fullmatch(role.name):
        raise BadRequest.of_field(
            "roles", "The name of a role has 1 to 50 of the characters a to z, 0 to 9, the dot, the dash and _."
        )
    checked_name(role.title, characters_min=1, field="roles")
    if len(role.description) > DESCRIPTION_CHARACTERS_MAX:
        raise BadRequest.of_field(
            "roles",
            Wording(
                "The description of a role has at most %(maximum)s characters.", maximum=DESCRIPTION_CHARACTERS_MAX
            ),
        )
