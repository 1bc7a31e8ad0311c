"""The reader of a page of the platform: a platform owner, or a person of the platform's support."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.organizations import management
from core.organizations.authorization import authorize_support

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformStanding:
    """The reader of a page of the platform; support reads and helps, only owners change the platform."""

    user_id: UUID
    is_owner: bool


def read(
    uow: UnitOfWork,
    use_case: Callable[Concatenate[UnitOfWork, Arguments], Found],
    /,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> tuple[PlatformStanding, Found]:
    """Authorize the caller as an owner or as support; return their standing and the result of the use case."""
    caller = authorize_support(uow)
    standing = PlatformStanding(user_id=caller.account.id, is_owner=caller.acts_as_platform_owner)
    return standing, use_case(uow, *args, **kwargs)


def decides(uow: UnitOfWork) -> bool:
    """Return whether the caller may decide about organizations that wait."""
    caller = uow.caller_if_signed_in
    return caller is not None and caller.acts_as_platform_owner


def is_open(uow: UnitOfWork) -> bool:
    """Return whether the caller may open the pages of the platform."""
    caller = uow.caller_if_signed_in
    return caller is not None and (caller.acts_as_platform_owner or caller.acts_as_platform_support)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where the person can begin; `only_slug` is the slug of the only organization, whose overview opens."""

    only_slug: str | None
    has_organizations: bool
    opens_platform: bool


def find(uow: UnitOfWork) -> Start:
    """Return where the caller begins.

    A membership that another person has made and the caller never used does not open by itself: that would confirm it.
    """
    mine = management.search_mine(uow, search="", after="", limit=1)
    return Start(
        only_slug=mine.found[0].organization.slug if mine.total == 1 and _opens(uow, mine) else None,
        has_organizations=mine.total > 0,
        opens_platform=is_open(uow),
    )


def _opens(uow: UnitOfWork, mine: management.OwnOrganizations) -> bool:
    return mine.found[0].organization.id in uow.members.organizations_of(uow.caller.account.id)
