"""The directory of an organization as the console shows it: its members, its calls, and the refused ones.

The console only reads: the directory itself changes its users, and setup links and `tokens.py` connect it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from core.email_addresses import part_of_email
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.positions import FoundRows, Position, found_rows
from core.scim.log import FAILURES_MAX, ProvisioningLogEntry
from core.scim.tokens import ScimToken

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvisionedMember:
    """A member that the directory has described; `user_name` and `name` are the directory's."""

    id: UUID
    email: str
    user_name: str
    external_id: str | None
    name: str | None
    role: str
    is_active: bool
    updated_at: datetime

    @property
    def position(self) -> Position:
        """The place of the member in the list, which the id alone decides."""
        return Position(at=self.updated_at, id=self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryOverview:
    """The found members of a directory, its tokens, and its latest refused calls, both the newest first."""

    members: FoundRows[ProvisionedMember]
    tokens: Sequence[ScimToken]
    failures: Sequence[ProvisioningLogEntry]

    @property
    def last_called_at(self) -> datetime | None:
        """When the directory called last, by any token that still exists; None for never."""
        return max((token.last_used_at for token in self.tokens if token.last_used_at is not None), default=None)


def show(uow: UnitOfWork, slug: str, *, search: str, after: Position | None, limit: int) -> DirectoryOverview:
    """Return the directory, with the members whose address or name there contains a part."""
    organization_id = authorize(uow, slug, Operation.SCIM_LOG_READ).organization.id
    part = part_of_email(search, uow.domain_names.to_ascii)
    found = uow.elsewhere.scim_directory.page(organization_id, part=part, after=after, limit=limit + 1)
    count = partial(uow.elsewhere.scim_directory.count, organization_id, part=part)
    return DirectoryOverview(
        members=found_rows(found, after=after, limit=limit, count=count),
        tokens=uow.scim_tokens.of_organization(organization_id),
        failures=uow.elsewhere.scim_log.failures(organization_id, limit=FAILURES_MAX),
    )


def listed(
    uow: UnitOfWork, slug: str, *, search: str, after: Position | None, limit: int
) -> Sequence[ProvisionedMember]:
    """Return a part of the members that `show` finds, without a count; for files."""
    organization_id = authorize(uow, slug, Operation.SCIM_LOG_READ).organization.id
    part = part_of_email(search, uow.domain_names.to_ascii)
    return uow.elsewhere.scim_directory.page(organization_id, part=part, after=after, limit=limit)
