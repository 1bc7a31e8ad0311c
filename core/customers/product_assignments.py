"""Who may use a product, one by one as the console's forms say it: groups by their names, people by their addresses.

All assignments, and all groups that the product learns of, are lists of the product's record, which programs replace as
a whole (`products.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.customers import products
from core.customers.assignments import Assignment, SubjectKind
from core.customers.products import Product
from core.email_addresses import normalize_email
from core.errors import BadRequest
from core.organizations import access
from core.organizations.access import Capability, Operation, OrganizationAccess
from core.scim import directory_groups

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def assign(
    uow: UnitOfWork, slug: str, client_id: UUID, *, kind: SubjectKind, named: str, roles: Sequence[str]
) -> Product:
    """Assign a product to everyone, to a role, a group or a person, with these roles of its service alone.

    A role is named by its slug, a group by its name and a person by the address. Raise `BadRequest` for one that the
    organization does not have; naming groups and people takes `org.members.view`.
    """
    authorized = access.authorize_and_lock(uow, slug, Operation.PRODUCTS_CHANGE)
    subject = _subject(uow, authorized, kind, named.strip())
    wanted = Assignment(subject=subject, roles=list(roles))

    def changes(product: Product) -> dict[str, Any]:
        others = [one for one in product.assignments if one.subject != subject]
        return {"assignments": [*others, wanted]}

    return _change(uow, slug, client_id, changes)


def unassign(uow: UnitOfWork, slug: str, client_id: UUID, subject: str) -> Product:
    """Take a product from a subject; one to which it is not assigned changes nothing."""
    access.authorize_and_lock(uow, slug, Operation.PRODUCTS_CHANGE)
    return _change(
        uow,
        slug,
        client_id,
        lambda product: {"assignments": [one for one in product.assignments if one.subject != subject]},
    )


def show_group(uow: UnitOfWork, slug: str, client_id: UUID, name: str) -> Product:
    """Let a product learn of the group of the organization's directory that has this name; raise `BadRequest`."""
    authorized = access.authorize_and_lock(uow, slug, Operation.PRODUCTS_CHANGE)
    group_id = _group(uow, authorized, name.strip(), "group")
    return _change(uow, slug, client_id, lambda product: {"groups": [*product.groups, group_id]})


def hide_group(uow: UnitOfWork, slug: str, client_id: UUID, group_id: UUID) -> Product:
    """Let a product no longer learn of a group; one of which it does not learn changes nothing."""
    access.authorize_and_lock(uow, slug, Operation.PRODUCTS_CHANGE)
    return _change(uow, slug, client_id, lambda product: {"groups": [one for one in product.groups if one != group_id]})


def _change(uow: UnitOfWork, slug: str, client_id: UUID, changes: Callable[[Product], dict[str, Any]]) -> Product:
    """Change lists of a product by what they are now; the organization is locked, so they stay so meanwhile."""
    return products.change(uow, slug, client_id, changes(products.show(uow, slug, client_id)))


def _subject(uow: UnitOfWork, authorized: OrganizationAccess, kind: SubjectKind, named: str) -> str:
    if kind is SubjectKind.EVERYONE:
        return kind.value
    if kind is SubjectKind.GROUP:
        named = str(_group(uow, authorized, named, "named"))
    elif kind is SubjectKind.USER:
        named = str(_person(uow, authorized, named))
    return f"{kind}:{named}"


def _group(uow: UnitOfWork, authorized: OrganizationAccess, name: str, field: str) -> UUID:
    authorized.require(Capability.ORG_MEMBERS_VIEW)
    found = directory_groups.named(uow, authorized.organization.id, name) if name else None
    if found is None:
        raise BadRequest.of_field(field, "Your directory has no group with this name. Type it as your directory does.")
    return found


def _person(uow: UnitOfWork, authorized: OrganizationAccess, address: str) -> UUID:
    authorized.require(Capability.ORG_MEMBERS_VIEW)
    email = normalize_email(address, uow.domain_names.to_ascii, "named")
    found = uow.found_products.member(authorized.organization.id, email)
    if found is None:
        raise BadRequest.of_field("named", "Your organization has no active member with this address.")
    return found
