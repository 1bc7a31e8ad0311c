"""A search over the whole platform by an address, a name or an id.

The form of a text decides. A whole address, slug, domain or id is looked up by its index; any other text is a part of
names and addresses. Support finds nothing of platform owners, and no log.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from ipaddress import ip_network
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import support_access
from core.accounts.support_access import NarrowedList, Narrowing
from core.email_addresses import canonical_email, part_of_email
from core.lazy_dataclasses import dataclass
from core.organizations.authorization import authorize_support
from core.platform import organization_records
from core.platform.organization_records import OrganizationFilter
from core.platform.users import UserPosition

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# A part of a name or address finds so many hits of each kind.
SHOWN_MAX: Final = 10
# The form of the ids of requests in answers and on pages.
_REQUEST_ID: Final = re.compile(r"[0-9a-f]{32}")


class HitKind(StrEnum):
    """The kind of a hit."""

    USER = "user"
    ORGANIZATION = "organization"
    DOMAIN = "domain"
    SERVICE = "service"
    SESSION = "session"
    SIGN_IN = "sign_in"
    LOG_OF_REQUEST = "log_of_request"
    LOG_OF_ADDRESS = "log_of_address"
    LOG_ENTRY = "log_entry"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A hit, with its name and what it belongs to.

    `id` is the id of the account for a user, a session or a sign-in, of the entry for a log, and of the organization
    for any other kind; None for several entries.
    """

    kind: HitKind
    id: UUID | None
    title: str
    about: str = ""


def is_request_id(typed: str) -> bool:
    """Return whether a text is the id of a request."""
    return _REQUEST_ID.fullmatch(typed.strip().lower()) is not None


def find(uow: UnitOfWork, typed: str) -> Sequence[SearchHit]:
    """Return what a text names as a whole, else what it is a part of; nothing for an empty text."""
    support_access.open_list(uow, NarrowedList.SEARCH, _narrowing_of(typed))
    text = typed.strip()
    if not text:
        return []
    return _named(uow, text) or _containing(uow, text)


def find_while_typed(uow: UnitOfWork, typed: str) -> Sequence[SearchHit]:
    """Return what `find` does, only to owners: searches of support are recorded, and half a word is no search."""
    return find(uow, typed) if authorize_support(uow).acts_as_platform_owner else []


def _narrowing_of(typed: str) -> Narrowing | None:
    """Return what a search is narrowed to; any text may name a person, or be a part of a name or an address."""
    text = typed.strip().lower()
    with suppress(ValueError):
        return Narrowing(id=UUID(text))
    with suppress(ValueError):
        return Narrowing(network=str(ip_network(text, strict=False)))
    return Narrowing.of(text)


def _named(uow: UnitOfWork, text: str) -> Sequence[SearchHit]:
    """Return what a whole text names."""
    if "@" in text:
        return _with_email(uow, text)
    sees_owners = uow.caller.acts_as_platform_owner
    searches, lower = uow.elsewhere.platform_searches, text.lower()
    hits: list[SearchHit] = []
    if is_request_id(text):
        hits += searches.by_request(lower, hides_owners=not sees_owners)
        if sees_owners and not hits and uow.elsewhere.audit_searches.has_request(lower):
            hits.append(SearchHit(kind=HitKind.LOG_OF_REQUEST, id=None, title=lower))
        return hits
    with suppress(ValueError):
        row_id = UUID(lower)
        return [*searches.by_id(row_id, hides_owners=not sees_owners), *(_entry(uow, row_id) if sees_owners else ())]
    with suppress(ValueError):
        network = ip_network(lower, strict=False)
        title = lower if "/" in lower else str(network.network_address)
        return [SearchHit(kind=HitKind.LOG_OF_ADDRESS, id=None, title=title)] if sees_owners else []
    return searches.by_slug_or_domain(lower)


def _entry(uow: UnitOfWork, entry_id: UUID) -> Sequence[SearchHit]:
    entry = uow.elsewhere.audit_searches.entry(None, entry_id)
    return [SearchHit(kind=HitKind.LOG_ENTRY, id=entry.id, title=str(entry.id))] if entry is not None else []


def _with_email(uow: UnitOfWork, text: str) -> Sequence[SearchHit]:
    user = uow.users.by_email(canonical_email(text, uow.domain_names.to_ascii))
    if user is None or not support_access.sees(uow.caller, user):
        return []
    return [SearchHit(kind=HitKind.USER, id=user.id, title=user.email)]


def _containing(uow: UnitOfWork, text: str) -> Sequence[SearchHit]:
    """Return organizations and users with a text in their names or addresses."""
    organizations = organization_records.listed(uow, OrganizationFilter(search=text), after=None, limit=SHOWN_MAX)
    users = uow.elsewhere.found_users.page(
        part_of_email(text, uow.domain_names.to_ascii),
        after=UserPosition(),
        limit=SHOWN_MAX,
        hides_owners=not uow.caller.acts_as_platform_owner,
    )
    return [
        *(SearchHit(kind=HitKind.USER, id=one.id, title=one.email, about=one.name or "") for one in users),
        *(SearchHit(kind=HitKind.ORGANIZATION, id=one.id, title=one.name, about=one.slug) for one in organizations),
    ]
