"""Who may use a product, changed one assignment at a time, for the forms of the console.

The assignments, and the groups that the product sees, are lists of the product's record, which programs replace as a
whole (`products.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.customers import products
from core.customers.products import Product
from core.organizations.access import Capability, Operation
from core.organizations.authorization import authorize_and_lock
from core.services import assignments
from core.services.assignments import SubjectKind

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Only a caller who sees the members chooses one of them, or a group.
_OF_MEMBERS: Final = tuple(f"{kind}:" for kind in (SubjectKind.GROUP, SubjectKind.USER))


def assign(uow: UnitOfWork, slug: str, client_id: UUID, subject: str, roles: Sequence[str]) -> Product:
    """Assign a product to everyone, to a role, a group or a person, with these roles of its service alone.

    Raise `BadRequest` for a subject that the organization does not have; groups and people take `org.members.view`.
    """
    authorized = authorize_and_lock(uow, slug, Operation.PRODUCTS_CHANGE)
    if subject.startswith(_OF_MEMBERS):
        authorized.require(Capability.ORG_MEMBERS_VIEW)
    return _change(
        uow,
        slug,
        client_id,
        lambda product: {"assignments": assignments.with_one(product.assignments, subject, roles)},
    )


def unassign(uow: UnitOfWork, slug: str, client_id: UUID, subject: str) -> Product:
    """Take a product from a subject; without an assignment nothing changes."""
    authorize_and_lock(uow, slug, Operation.PRODUCTS_CHANGE)
    return _change(
        uow, slug, client_id, lambda product: {"assignments": assignments.without(product.assignments, subject)}
    )


def show_group(uow: UnitOfWork, slug: str, client_id: UUID, group_id: UUID) -> Product:
    """Let a product see a group of the organization's directory, which requires `org.members.view`.

    Raise `BadRequest` for any other group.
    """
    authorize_and_lock(uow, slug, Operation.PRODUCTS_CHANGE).require(Capability.ORG_MEMBERS_VIEW)
    return _change(uow, slug, client_id, lambda product: {"groups": [*product.groups, group_id]})


def hide_group(uow: UnitOfWork, slug: str, client_id: UUID, group_id: UUID) -> Product:
    """Let a product no longer see a group; nothing changes if it does not."""
    authorize_and_lock(uow, slug, Operation.PRODUCTS_CHANGE)
    return _change(uow, slug, client_id, lambda product: {"groups": [one for one in product.groups if one != group_id]})


def _change(uow: UnitOfWork, slug: str, client_id: UUID, changes: Callable[[Product], dict[str, Any]]) -> Product:
    """Change lists of a product; the organization is locked, so that nothing else changes them meanwhile."""
    return products.change(uow, slug, client_id, changes(products.show(uow, slug, client_id)))
