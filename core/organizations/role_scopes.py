"""The scopes of services that a role of the organization or a role of one of its services lists.

A scope that any role lists is given by roles alone. Who has which is in `core/sessions/token_additions.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import BadRequest
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

LISTED_MAX: Final = 100


def checked(
    uow: UnitOfWork,
    organization_id: UUID,
    names: Iterable[str],
    *,
    field: str,
    before: Iterable[str] = (),
    beside: Collection[str] = (),
) -> list[str]:
    """Return the scopes that a role is to list, each once.

    Raise `BadRequest` for too many, and for one that no service of the organization has. A scope that the role listed
    `before` may be gone, and gives nothing; `beside` are scopes that are stored at the same time.
    """
    unique = list(dict.fromkeys(names))
    if len(unique) > LISTED_MAX:
        raise BadRequest.of_field(field, Wording("A role lists at most %(maximum)s scopes.", maximum=LISTED_MAX))
    new = set(unique).difference(before, beside)
    unknown = uow.services.unknown_scope(organization_id, sorted(new)) if new else None
    if unknown is not None:
        raise BadRequest.of_field(
            field, Wording("No service of your organization has the scope %(scope)s.", scope=unknown)
        )
    return unique
