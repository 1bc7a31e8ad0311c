"""The reader of a page of the platform: a platform owner, or a person of the platform's support."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.organizations.access import authorize_support

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
