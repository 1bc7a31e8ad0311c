"""The provisioning log: the changes and the failed calls of an organization's directory, for its IT staff.

A change is logged in its own transaction, so that neither exists without the other; a refusal in another one, after the
rollback. Reading leaves no entry unless it fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar
from uuid import UUID

from core import log_times
from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.log_times import LogTimes
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.positions import FoundRows, Position, found_rows
from core.scim import tokens
from core.scim.tokens import ScimToken

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

PATH_CHARACTERS_MAX: Final = 300
USER_NAME_CHARACTERS_MAX: Final = 254
DETAIL_CHARACTERS_MAX: Final = 1_000
FAILURES_MAX: Final = 10

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryRequest:
    """A request of a directory; `user_name` is its name for the user, if the request has one."""

    method: str
    path: str
    resource_id: UUID | None = None
    user_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryAnswer:
    """The answer to a request: its status and, for a refusal, the error of the answer."""

    status: int
    scim_type: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvisioningLogEntry:
    """A line of the provisioning log."""

    id: UUID
    created_at: datetime
    token_id: UUID
    token_name: str
    method: str
    path: str
    resource_id: UUID | None
    user_name: str | None
    status: int
    scim_type: str | None
    detail: str | None

    @property
    def position(self) -> Position:
        """The place of the entry in the log, which its id alone decides."""
        return Position(at=self.created_at, id=self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvisioningPage:
    """A page of the log, and the number of all entries."""

    entries: Sequence[ProvisioningLogEntry]
    total: int


def perform(
    uow: UnitOfWork, attempt: DirectoryRequest, status: int, change: Callable[[UnitOfWork], Result | Refusal]
) -> Result | Refusal:
    """Run a change and log it in the same transaction; a returned refusal is logged like a raised one."""
    result = change(uow)
    if not isinstance(result, Refusal):
        _add(uow, attempt, DirectoryAnswer(status=status))
    return result


def record_refusal(uow: UnitOfWork, attempt: DirectoryRequest, outcome: DirectoryAnswer) -> None:
    """Log a refused request; raise `ScimTokenInvalid` when its token belongs to no organization.

    The use of the token is recorded again, because the refusal has rolled that back.
    """
    tokens.record_use(uow)
    _add(uow, attempt, outcome)


def list_page(uow: UnitOfWork, slug: str, *, page: int, limit: int) -> ProvisioningPage:
    """List the entries of an organization, the newest first."""
    organization = authorize(uow, slug, Operation.SCIM_LOG_READ).organization
    return uow.elsewhere.scim_log.page(organization.id, limit=limit, offset=(page - 1) * limit)


def list_failures(uow: UnitOfWork, slug: str) -> tuple[Sequence[ScimToken], Sequence[ProvisioningLogEntry]]:
    """Return the tokens of an organization, and the latest failed calls of its directory, both newest first."""
    organization = authorize(uow, slug, Operation.SCIM_LOG_READ).organization
    return tokens.list_all(uow, slug), uow.scim_log.failures(organization.id, limit=FAILURES_MAX)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCalls:
    """The calls to find, as a person has typed or chosen; empty finds any. Times without a zone are in UTC."""

    only_failed: bool = False
    since: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSearch:
    """The conditions of a search."""

    only_failed: bool
    times: LogTimes


def search(
    uow: UnitOfWork, slug: str, asked: AskedCalls, *, after: Position | None, limit: int
) -> FoundRows[ProvisioningLogEntry]:
    """Return the wanted entries of an organization, the newest first; raise `BadRequest` for an invalid time."""
    organization = authorize(uow, slug, Operation.SCIM_LOG_READ).organization
    wanted = search_of(asked)
    rows = uow.elsewhere.scim_log.found(organization.id, wanted, after=after, limit=limit + 1)
    return found_rows(
        rows, after=after, limit=limit, count=partial(uow.elsewhere.scim_log.count, organization.id, wanted)
    )


def listed(
    uow: UnitOfWork, slug: str, asked: AskedCalls, *, after: Position | None, limit: int
) -> Sequence[ProvisioningLogEntry]:
    """Return a part of the entries that `search` finds, without a count; for files."""
    organization = authorize(uow, slug, Operation.SCIM_LOG_READ).organization
    return uow.elsewhere.scim_log.found(organization.id, search_of(asked), after=after, limit=limit)


def search_of(asked: AskedCalls) -> CallSearch:
    """Return the conditions of a typed search; raise `BadRequest` for an invalid time."""
    return CallSearch(only_failed=asked.only_failed, times=log_times.typed(asked.since, asked.until))


def _add(uow: UnitOfWork, attempt: DirectoryRequest, outcome: DirectoryAnswer) -> None:
    caller = uow.scim_caller
    uow.scim_log.add(
        caller.organization_id,
        ProvisioningLogEntry(
            id=uow.randomness.new_id(),
            created_at=uow.now,
            token_id=caller.token_id,
            token_name=caller.token_name,
            method=attempt.method,
            path=attempt.path[:PATH_CHARACTERS_MAX],
            resource_id=attempt.resource_id,
            # In lower case, so that anonymization finds it by the address.
            user_name=attempt.user_name.strip().lower()[:USER_NAME_CHARACTERS_MAX] if attempt.user_name else None,
            status=outcome.status,
            scim_type=outcome.scim_type,
            detail=outcome.detail[:DETAIL_CHARACTERS_MAX] if outcome.detail is not None else None,
        ),
    )
