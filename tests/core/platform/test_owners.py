"""Platform owners: creating the first one, and appointing more by command.

Appointing an account that an attacker has prepared is tested in `tests/http/platform/test_owners_appointed.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

import pytest

from adapters.domain_names import IdnaDomainNames
from core.accounts.users import User
from core.errors import BadRequest, Conflict
from core.events.actions import PlatformAction
from core.platform import owners
from ports.unit_of_work import UnitOfWork

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
ADA = User(
    id=UUID(int=1),
    email="ada@example.org",
    email_verified_at=NOW,
    is_platform_owner=False,
    created_at=NOW,
    updated_at=NOW,
)


class AccountsInMemory:
    """The ports `Users` and `Credentials`, without a database."""

    def __init__(self, *users: User) -> None:
        self.by_address = {user.email: user for user in users}
        self.passwords: dict[UUID, str] = {}
        self.support: set[UUID] = set()
        self.impersonated: list[UUID] = []
        self.is_locked = False

    def by_id(self, user_id: UUID) -> User | None:
        return next((user for user in self.by_address.values() if user.id == user_id), None)

    def by_email(self, email: str) -> User | None:
        return self.by_address.get(email)

    lock_by_email = by_email

    def add(self, user: User) -> bool:
        return self.by_address.setdefault(user.email, user) is user

    def lock_platform_owners(self) -> tuple[User, ...]:
        self.is_locked = True
        return tuple(user for user in self.by_address.values() if user.is_platform_owner)

    def save(self, user: User) -> None:
        assert self.is_locked, "platform owners were changed without their lock"
        self.by_address[user.email] = user

    def end_support(self, user_id: UUID) -> bool:
        was_appointed = user_id in self.support
        self.support.discard(user_id)
        return was_appointed

    def end_impersonations(self, user_id: UUID) -> None:
        self.impersonated.append(user_id)

    def set_password_hash(self, user_id: UUID, password_hash: str) -> None:
        self.passwords[user_id] = password_hash


@dataclass
class SmallUnitOfWork:
    """The part of the unit of work that these use cases need."""

    users: AccountsInMemory = field(default_factory=AccountsInMemory)
    now: datetime = NOW
    domain_names: IdnaDomainNames = field(default_factory=IdnaDomainNames)
    recorded: list[tuple[PlatformAction, UUID]] = field(default_factory=list[tuple[PlatformAction, UUID]])

    def audit_platform(self, action: PlatformAction, target_id: UUID, **_details: Any) -> None:
        self.recorded.append((action, target_id))

    @property
    def sessions(self) -> AccountsInMemory:
        return self.users

    @property
    def credentials(self) -> AccountsInMemory:
        return self.users

    @property
    def randomness(self) -> SmallUnitOfWork:
        return self

    def new_account_id(self) -> UUID:
        return UUID(int=100)

    def port(self) -> UnitOfWork:
        return cast("UnitOfWork", self)


def test_the_first_owner_is_a_new_verified_account_with_the_given_password() -> None:
    uow = SmallUnitOfWork()

    appointment = owners.appoint_first(uow.port(), " Ada@Example.org", "hash")

    assert appointment is not None
    assert appointment.is_new_account
    assert uow.users.by_email("ada@example.org") == appointment.owner
    assert (appointment.owner.is_platform_owner, appointment.owner.is_verified) == (True, True)
    assert uow.users.passwords == {appointment.owner.id: "hash"}


def test_no_first_owner_is_created_when_there_is_an_owner() -> None:
    uow = SmallUnitOfWork(AccountsInMemory(replace(ADA, is_platform_owner=True)))

    assert owners.any_exists(uow.port())
    assert owners.appoint_first(uow.port(), "eve@example.org", "hash") is None
    assert uow.users.by_email("eve@example.org") is None


def test_further_owners_can_be_appointed() -> None:
    uow = SmallUnitOfWork(AccountsInMemory(replace(ADA, is_platform_owner=True)))

    owners.appoint(uow.port(), "grace@example.org", "hash")

    assert [user.email for user in uow.users.lock_platform_owners()] == ["ada@example.org", "grace@example.org"]


def test_an_owner_whose_account_is_deactivated_is_no_active_one() -> None:
    gone = replace(ADA, id=UUID(int=2), email="eve@example.org", is_platform_owner=True, deactivated_at=NOW)
    uow = SmallUnitOfWork(AccountsInMemory(replace(ADA, is_platform_owner=True), gone))

    assert owners.active(uow.port()) == (replace(ADA, is_platform_owner=True),)


def test_an_account_with_a_verified_address_keeps_its_password() -> None:
    uow = SmallUnitOfWork(AccountsInMemory(ADA))
    uow.users.passwords[ADA.id] = "theirs"

    appointment = owners.appoint(uow.port(), ADA.email, "given")

    assert not appointment.is_new_account
    assert uow.users.by_email(ADA.email) == replace(ADA, is_platform_owner=True)
    assert uow.users.passwords == {ADA.id: "theirs"}


def test_each_appointment_by_command_is_recorded_once() -> None:
    uow = SmallUnitOfWork(AccountsInMemory(ADA))
    uow.users.support.add(ADA.id)

    for _ in range(2):
        owners.appoint(uow.port(), ADA.email, "given")
    new = owners.appoint(uow.port(), "grace@example.org", "given").owner

    assert uow.recorded == [
        (PlatformAction.SUPPORT_DEMOTED, ADA.id),
        (PlatformAction.OWNER_PROMOTED, ADA.id),
        (PlatformAction.OWNER_PROMOTED, new.id),
    ]
    # A platform owner cannot be impersonated, and is not of the support as well.
    assert uow.users.impersonated == [ADA.id]
    assert not uow.users.support


def test_a_deactivated_account_is_not_appointed() -> None:
    uow = SmallUnitOfWork(AccountsInMemory(replace(ADA, deactivated_at=NOW)))

    with pytest.raises(Conflict):
        owners.appoint(uow.port(), ADA.email, "given")

    assert not owners.any_exists(uow.port())


def test_an_invalid_address_is_refused() -> None:
    with pytest.raises(BadRequest):
        owners.appoint(SmallUnitOfWork().port(), "the boss", "given")


def test_is_one_finds_a_platform_owner_by_address() -> None:
    uow = SmallUnitOfWork(AccountsInMemory(replace(ADA, is_platform_owner=True), replace(ADA, email="eve@example.org")))

    assert owners.is_platform_owner(uow.port(), "ADA@example.org")
    assert not owners.is_platform_owner(uow.port(), "eve@example.org")
    assert not owners.is_platform_owner(uow.port(), "unknown@example.org")
