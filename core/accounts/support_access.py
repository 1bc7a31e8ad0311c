"""Accounts that platform owners and the platform's support open, to help their users.

Each opening of a person's record by support is an entry of the platform's audit log, and so is each list or search that
is narrowed to a person, an address, an id or a network: the filter of a list says so itself (`Narrowed`), and
`open_list` authorizes and records at once. For support, the account of a platform owner does not exist: support reads
nothing of it and changes nothing about it.

A use case of support about an account begins with `open_record` or `lock`, which hide the accounts of platform owners.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.accounts import sign_in_failures
from core.accounts.users import User, UserUnknown
from core.errors import Forbidden
from core.events.actions import PlatformAction
from core.lazy_dataclasses import dataclass
from core.organizations.authorization import authorize_support
from core.sessions.callers import Caller

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class RecordPart(StrEnum):
    """The part of a person's record that is opened, as the platform's log names it."""

    ACCOUNT = "account"
    WAYS = "ways"
    ORGANIZATIONS = "organizations"
    MAILS = "mails"
    SIGN_INS = "sign_ins"
    SECOND_FACTOR = "second_factor"
    SIGN_IN_RULES = "sign_in_rules"
    SESSIONS = "sessions"


class NarrowedList(StrEnum):
    """A list or search that may be narrowed to a person, as the platform's log names it."""

    USERS = "users"
    MAILS = "mails"
    SIGN_INS = "sign_ins"
    SIGN_IN_RULES = "sign_in_rules"
    ORGANIZATIONS = "organizations"
    MEMBERS = "members"
    SEARCH = "search"


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """What a list is narrowed to: an id, a network, or an address, a part of one or another text."""

    text: str | None = None
    id: UUID | None = None
    network: str | None = None

    @classmethod
    def of(cls, text: str, *, user_id: UUID | None = None) -> Narrowing | None:
        """Return what a typed text and an id narrow a list to; None without both, for a list of all people."""
        typed = text.strip().lower()
        return cls(text=typed or None, id=user_id) if typed or user_id is not None else None


def sees(caller: Caller, user: User) -> bool:
    """Return whether the caller, a platform owner or support, may know of an account."""
    return caller.acts_as_platform_owner or not user.is_platform_owner


def open_record(uow: UnitOfWork, user_id: UUID, part: RecordPart) -> User:
    """Return the account whose record the caller opens, and record an opening by support; raise `UserUnknown`."""
    caller = authorize_support(uow)
    user = uow.users.by_id(user_id)
    if user is None or not sees(caller, user):
        raise UserUnknown
    if not caller.acts_as_platform_owner:
        uow.audit_platform(PlatformAction.USER_OPENED, user.id, part=part.value)
    return user


def open_list(
    uow: UnitOfWork, narrowed_list: NarrowedList, narrowing: Narrowing | None, *, organization_id: UUID | None = None
) -> Caller:
    """Return the caller, a platform owner or support, who opens a list; record what support narrows it to.

    The log keeps a keyed hash in place of a text, which may be an address, and the organization of the list.
    """
    caller = authorize_support(uow)
    if narrowing is None or caller.acts_as_platform_owner:
        return caller
    record_narrowed(uow, narrowed_list, narrowing, organization_id=organization_id)
    return caller


def record_narrowed(
    uow: UnitOfWork, narrowed_list: NarrowedList, narrowing: Narrowing, *, organization_id: UUID | None = None
) -> None:
    """Record what the caller, who is support, has narrowed a list to."""
    details: dict[str, Any] = {
        "address_hash": sign_in_failures.hash_address(uow, narrowing.text).hex() if narrowing.text else None,
        "user_id": str(narrowing.id) if narrowing.id is not None else None,
        "network": narrowing.network,
    }
    uow.audit_platform(
        PlatformAction.LIST_NARROWED,
        narrowed_list.value,
        organization_id=organization_id,
        **{name: value for name, value in details.items() if value is not None},
    )


def lock(uow: UnitOfWork, user_id: UUID) -> User:
    """Return an account, locked, that the caller is about to help; raise `UserUnknown`.

    The caller's own account is locked as well: of two transactions, one that helps and one that demotes the caller,
    either the demotion is second or this raises `Forbidden`.
    """
    authorize_support(uow)
    lock_helper(uow, user_id)
    user = uow.users.by_id(user_id)
    if user is None or not sees(uow.caller, user):
        raise UserUnknown
    return user


def lock_helper(uow: UnitOfWork, *also_ids: UUID) -> None:
    """Lock the caller's account, and others; raise `Forbidden` when the caller was demoted in the meantime."""
    caller = uow.caller
    # In the order of ids, so that two callers who help each other do not wait for each other.
    for locked_id in sorted({caller.account.id, *also_ids}):
        uow.users.defer_lock(locked_id)
    present = uow.callers.of_session(caller.session.id)
    if present is None or not (present.acts_as_platform_owner or present.acts_as_platform_support):
        raise Forbidden("Only a platform owner or the platform's support can do this.")
