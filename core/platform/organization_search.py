"""A search over everything that an organization has: people, services, connections and more.

The use case of its list finds each kind, so that a search shows nothing that the list would not. Sections of the
console are found elsewhere, because they are words of pages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias
from uuid import UUID

from core.audit import browser
from core.audit.browser import AuditEntryUnknown
from core.customers import found_customers, found_products
from core.lazy_dataclasses import dataclass
from core.organizations import found_members, keys, management, roles
from core.organizations.access import Operation
from core.organizations.authorization import OrganizationAccess, authorize
from core.scim import directory_groups
from core.services import end_users, found_services
from core.sign_in.upstream.connections import connections
from core.sign_in.upstream.domains import domain_routes
from core.tables import PartialTable
from core.webhooks import webhooks

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# A text finds so many of each kind.
SHOWN_MAX: Final = 10


class OrganizationHitKind(StrEnum):
    """The kind of a hit in an organization; the last is another organization of the reader."""

    MEMBER = "member"
    END_USER = "end_user"
    GROUP = "group"
    SERVICE = "service"
    CUSTOMER = "customer"
    PRODUCT = "product"
    CONNECTION = "connection"
    MAIL_DOMAIN = "mail_domain"
    WEBHOOK = "webhook"
    ROLE = "role"
    KEY = "key"
    LOG_ENTRY = "log_entry"
    ORGANIZATION = "organization"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationHit:
    """A hit: its name in the address of its page, its title, and what else names it.

    `at` is empty for a hit without a page of its own. `within` names the parent of its page: the service of a customer.
    """

    kind: OrganizationHitKind
    at: str
    title: str
    about: str = ""
    within: str = ""


_Search: TypeAlias = Callable[["UnitOfWork", str, str], Sequence[OrganizationHit]]


def find(uow: UnitOfWork, slug: str, typed: str) -> Sequence[OrganizationHit]:
    """Return what an organization has with a text in its name or address; nothing for an empty text.

    Kinds whose list the caller's role may not see are left out, and everything while the organization is not active.
    """
    return _found(uow, slug, typed, instead=PartialTable({}))


def find_while_typed(uow: UnitOfWork, slug: str, typed: str) -> Sequence[OrganizationHit]:
    """Return what `find` does, but only the newest end users, because no index finds a part of their addresses."""
    return _found(uow, slug, typed, instead=_WHILE_TYPED)


def _found(
    uow: UnitOfWork, slug: str, typed: str, *, instead: PartialTable[Operation, _Search]
) -> Sequence[OrganizationHit]:
    authorized = authorize(uow, slug, Operation.ORGANIZATION_READ)
    text = typed.strip()
    if not text:
        return []
    hits = [
        hit
        for operation, search in _SEARCHES.items()
        if _is_open(authorized, operation)
        for hit in instead.get(operation, search)(uow, slug, text)
    ]
    return [*hits, *_other_organizations(uow, slug, text)]


def _is_open(authorized: OrganizationAccess, operation: Operation) -> bool:
    is_in_status = authorized.organization.status in operation.statuses
    return is_in_status and operation.missing(authorized.membership.role, authorized.capabilities) is None


def _members(uow: UnitOfWork, slug: str, text: str) -> Sequence[OrganizationHit]:
    kind = OrganizationHitKind.MEMBER
    found = found_members.found(uow, slug, search=text, role="").page(after=None, limit=SHOWN_MAX)
    return [OrganizationHit(kind=kind, at=str(one.user_id), title=one.email, about=one.name or "") for one in found]


def _end_users(uow: UnitOfWork, slug: str, text: str) -> Sequence[OrganizationHit]:
    kind = OrganizationHitKind.END_USER
    found = end_users.found(uow, slug, search=text, service="").page(after=None, limit=SHOWN_MAX)
    return [OrganizationHit(kind=kind, at=str(one.id), title=one.email) for one in found]


def _newest_end_users(uow: UnitOfWork, slug: str, text: str) -> Sequence[OrganizationHit]:
    kind = OrganizationHitKind.END_USER
    found = end_users.newest(uow, slug, text, limit=SHOWN_MAX)
    return [OrganizationHit(kind=kind, at=str(one.id), title=one.email) for one in found]


def _groups(uow: UnitOfWork, slug: str, text: str) -> Sequence[OrganizationHit]:
    kind = OrganizationHitKind.GROUP
    found = directory_groups.found(uow, slug, search=text).page(after=None, limit=SHOWN_MAX)
    return [OrganizationHit(kind=kind, at=str(one.id), title=one.display_name) for one in found]


def _services(uow: UnitOfWork, slug: str, text: str) -> Sequence[OrganizationHit]:
    kind = OrganizationHitKind.SERVICE
    found = found_services.named(uow, slug, text, limit=SHOWN_MAX)
    return [OrganizationHit(kind=kind, at=one.slug, title=one.name, about=one.slug) for one in found]


def _customers(uow: UnitOfWork, slug: str, text: str) -> Sequence[OrganizationHit]:
    kind = OrganizationHitKind.CUSTOMER
    found = found_customers.named(uow, slug, text, limit=SHOWN_MAX)
    return [
        OrganizationHit(
            kind=kind, at=str(one.id), title=one.name or one.slug, about=one.service_name, within=one.service_slug
        )
        for one in found
    ]


def _products(uow: UnitOfWork, slug: str, text: str) -> Sequence[OrganizationHit]:
    kind = OrganizationHitKind.PRODUCT
    found = found_products.listed(uow, slug, search=text, state=None, after=None, limit=SHOWN_MAX)
    return [
        OrganizationHit(kind=kind, at=str(one.client_id), title=one.service_name, about=one.vendor_name)
        for one in found
    ]


def _connections(uow: UnitOfWork, slug: str, text: str) -> Sequence[OrganizationHit]:
    kind = OrganizationHitKind.CONNECTION
    found = connections.list_all(uow, slug)
    return _having(
        text, [OrganizationHit(kind=kind, at=str(one.id), title=one.name, about=one.issuer or "") for one in found]
    )


def _mail_domains(uow: UnitOfWork, slug: str, text: str) -> Sequence[OrganizationHit]:
    kind = OrganizationHitKind.MAIL_DOMAIN
    found = domain_routes.list_all(uow, slug)
    return _having(text, [OrganizationHit(kind=kind, at=str(one.id), title=one.domain) for one in found])


def _webhooks(uow: UnitOfWork, slug: str, text: str) -> Sequence[OrganizationHit]:
    kind = OrganizationHitKind.WEBHOOK
    found = webhooks.list_all(uow, slug)
    return _having(text, [OrganizationHit(kind=kind, at=str(one.id), title=one.name, about=one.url) for one in found])


def _roles(uow: UnitOfWork, slug: str, text: str) -> Sequence[OrganizationHit]:
    kind = OrganizationHitKind.ROLE
    found = roles.list_all(uow, slug)
    return _having(text, [OrganizationHit(kind=kind, at=one.slug, title=one.name, about=one.slug) for one in found])


def _keys(uow: UnitOfWork, slug: str, text: str) -> Sequence[OrganizationHit]:
    kind = OrganizationHitKind.KEY
    found = keys.list_all(uow, slug)
    return _having(text, [OrganizationHit(kind=kind, at="", title=one.name, about=one.prefix or "") for one in found])


def _log_entries(uow: UnitOfWork, slug: str, text: str) -> Sequence[OrganizationHit]:
    """Return the entry of the audit log with a text as its whole id."""
    try:
        entry = browser.show(uow, slug, UUID(text)).entry
    except (ValueError, AuditEntryUnknown):
        return []
    return [OrganizationHit(kind=OrganizationHitKind.LOG_ENTRY, at=str(entry.id), title=str(entry.id))]


def _other_organizations(uow: UnitOfWork, slug: str, text: str) -> Sequence[OrganizationHit]:
    found = management.search_mine(uow, search=text, after="", limit=SHOWN_MAX).found
    return [
        OrganizationHit(kind=OrganizationHitKind.ORGANIZATION, at=one.slug, title=one.name, about=one.slug)
        for one in (membership.organization for membership in found)
        if one.slug != slug
    ]


def _having(text: str, hits: Sequence[OrganizationHit]) -> Sequence[OrganizationHit]:
    """Return the first hits, of a short list, with a text in their titles or in what else names them."""
    part = text.casefold()
    return [hit for hit in hits if part in hit.title.casefold() or part in hit.about.casefold()][:SHOWN_MAX]


# The searches by the operation of their lists, in the order of the page.
_SEARCHES: Final[PartialTable[Operation, _Search]] = PartialTable(
    {
        Operation.MEMBERS_LIST: _members,
        Operation.END_USERS_READ: _end_users,
        Operation.GROUPS_READ: _groups,
        Operation.SERVICES_LIST: _services,
        Operation.CUSTOMERS_READ: _customers,
        Operation.PRODUCTS_READ: _products,
        Operation.CONNECTIONS_READ: _connections,
        Operation.DOMAIN_ROUTES_READ: _mail_domains,
        Operation.WEBHOOKS_READ: _webhooks,
        Operation.ROLES_READ: _roles,
        Operation.KEYS_READ: _keys,
        Operation.AUDIT_LOG_READ: _log_entries,
    }
)
_WHILE_TYPED: Final[PartialTable[Operation, _Search]] = PartialTable({Operation.END_USERS_READ: _newest_end_users})
