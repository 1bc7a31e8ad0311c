"""Accounts: their states and transitions."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast
from uuid import UUID

import pytest

from core.accounts.users import User, add_unproved, find_or_add
from core.deferred import Deferred
from core.errors import Conflict
from ports.unit_of_work import UnitOfWork

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
ADA = User(
    id=UUID(int=1),
    email="ada@example.org",
    email_verified_at=None,
    is_platform_owner=False,
    created_at=NOW,
    updated_at=NOW,
)


def test_an_account_whose_address_was_proved_is_verified() -> None:
    assert not ADA.is_verified
    assert replace(ADA, email_verified_at=NOW).is_verified


def test_an_appointed_account_is_a_verified_owner() -> None:
    later = NOW + timedelta(days=1)

    owner = ADA.appointed(at=later)

    assert owner == replace(ADA, is_platform_owner=True, email_verified_at=later, updated_at=later)


def test_an_appointment_does_not_change_when_the_address_was_proved() -> None:
    verified = replace(ADA, email_verified_at=NOW)

    assert verified.appointed(at=NOW + timedelta(days=1)).email_verified_at == NOW


def test_a_deactivated_account_cannot_be_appointed() -> None:
    deactivated = replace(ADA, deactivated_at=NOW)

    assert not deactivated.is_active
    with pytest.raises(Conflict):
        deactivated.appointed(at=NOW)


class LeavingAccount:
    """The port `Users`, where the only account leaves its address between two calls."""

    def __init__(self) -> None:
        self.is_free = iter([False, True])
        self.present: User | None = None

    def add(self, _user: User) -> bool:
        return next(self.is_free)

    def defer_add_unproved(self, user: User, _password_hash: str) -> Deferred[bool]:
        is_free = next(self.is_free)
        self.present = user if is_free else None
        return lambda: is_free

    def lock_by_email(self, _email: str) -> User | None:
        return self.present


def test_an_address_that_its_account_leaves_meanwhile_gets_the_new_account() -> None:
    uow = cast("UnitOfWork", SimpleNamespace(users=LeavingAccount()))

    assert find_or_add(uow, ADA) == (ADA, True)


def test_so_does_the_account_of_a_registration() -> None:
    uow = cast("UnitOfWork", SimpleNamespace(users=(accounts := LeavingAccount()), credentials=accounts))

    assert add_unproved(uow, ADA, "hash") == (True, ADA)
