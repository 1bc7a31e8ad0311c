"""Second factors in PostgreSQL: sealed, bound to their user, and used by one of two concurrent requests."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from adapters.crypto.vault import MasterKey, SealBroken, Vault
from adapters.postgres.credentials.mfa import PostgresBackupCodes, PostgresSecondFactors, PostgresTotpSecrets
from adapters.postgres.driver.connection import Connection, RawConnection
from adapters.postgres.schema import rewrap
from adapters.postgres.transaction import Tools
from core.accounts.users import User
from core.credentials.mfa import MfaStatus, Settled
from core.secrets import Secret
from ports.unit_of_work import UnitOfWork
from tests.clock import SettableClock
from tests.postgres import connected
from tests.transactions import transaction_on

SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
OTHER_SECRET = Secret("KRSXG5CTMVRXEZLUKN2XAZLSKRSXG5CT")
RACES = 50


@pytest.fixture
def add_user(transact: Callable[..., Any]) -> Callable[[str], UUID]:
    """A function that creates an account and returns its id."""

    def add(uow: UnitOfWork, email: str) -> UUID:
        user = User(
            id=uow.randomness.new_id(),
            email=email,
            email_verified_at=uow.now,
            is_platform_owner=False,
            created_at=uow.now,
            updated_at=uow.now,
        )
        uow.users.add(user)
        return user.id

    return lambda email: transact(add, email)


@pytest.fixture
def ada(add_user: Callable[[str], UUID]) -> UUID:
    """The id of an account."""
    return add_user("ada@example.com")


@pytest.fixture
def secrets(connection: Connection, vault: Vault) -> PostgresTotpSecrets:
    """The table of secrets."""
    return PostgresTotpSecrets(transaction_on(connection, vault))


@pytest.fixture
def factors(connection: Connection, vault: Vault) -> PostgresSecondFactors:
    """The second factors of every kind."""
    return PostgresSecondFactors(transaction_on(connection, vault))


@pytest.fixture
def codes(connection: Connection, tools: Tools) -> PostgresBackupCodes:
    """The table of backup codes."""
    return PostgresBackupCodes(transaction_on(connection))


def test_a_stored_secret_is_read_back_unchanged(secrets: PostgresTotpSecrets, ada: UUID, clock: SettableClock) -> None:
    assert secrets.lock(ada) is None

    assert secrets.put_pending(ada, SECRET, at=clock(), is_of_limited_session=False) is True

    found = secrets.lock(ada)
    assert found is not None
    assert (found.secret, found.is_enabled) == (SECRET, False)
    assert SECRET.reveal() not in repr(found)


def test_a_pending_secret_is_replaced_and_an_enabled_one_is_not(
    secrets: PostgresTotpSecrets, ada: UUID, clock: SettableClock
) -> None:
    secrets.put_pending(ada, SECRET, at=clock(), is_of_limited_session=False)
    assert secrets.put_pending(ada, OTHER_SECRET, at=clock(), is_of_limited_session=False) is True
    secrets.enable(ada, at=clock())

    assert secrets.put_pending(ada, SECRET, at=clock(), is_of_limited_session=False) is False

    found = secrets.lock(ada)
    assert found is not None
    assert (found.secret, found.enabled_at) == (OTHER_SECRET, clock())


def test_a_secret_is_sealed_and_cannot_be_moved_to_another_user(
    secrets: PostgresTotpSecrets,
    ada: UUID,
    add_user: Callable[[str], UUID],
    connection: Connection,
    clock: SettableClock,
) -> None:
    grace = add_user("grace@example.com")
    for user_id in (ada, grace):
        secrets.put_pending(user_id, SECRET, at=clock(), is_of_limited_session=False)
    sealed = connection.execute("SELECT secret_sealed FROM totp_secrets WHERE user_id = %s", (ada,)).fetchone()
    assert sealed is not None
    assert SECRET.reveal().encode() not in sealed[0]

    connection.execute("UPDATE totp_secrets SET secret_sealed = %s WHERE user_id = %s", (sealed[0], grace))

    with pytest.raises(SealBroken):
        secrets.lock(grace)


def test_rewrapping_includes_totp_secrets(
    connection: Connection, raw_connection: RawConnection, ada: UUID, clock: SettableClock
) -> None:
    old, new = MasterKey.generate(), MasterKey.generate()
    PostgresTotpSecrets(transaction_on(connection, Vault([old]))).put_pending(
        ada, SECRET, at=clock(), is_of_limited_session=False
    )

    rewrap.rewrap(raw_connection, Vault([new, old]), lambda _text: None)

    found = PostgresTotpSecrets(transaction_on(connection, Vault([new]))).lock(ada)
    assert found is not None
    assert found.secret == SECRET


def test_the_status_combines_the_factors_and_the_backup_codes(
    secrets: PostgresTotpSecrets,
    factors: PostgresSecondFactors,
    codes: PostgresBackupCodes,
    ada: UUID,
    clock: SettableClock,
) -> None:
    secrets.put_pending(ada, SECRET, at=clock(), is_of_limited_session=False)
    assert factors.settle(ada, at=clock()) == Settled(was_on=False, is_on=False)
    assert factors.status(ada) == MfaStatus(enabled=False, has_backup_codes=False)
    assert not factors.has_app(ada)

    secrets.enable(ada, at=clock())
    assert factors.settle(ada, at=clock()) == Settled(was_on=False, is_on=True)
    codes.replace(ada, [b"one"], at=clock())
    assert factors.status(ada) == MfaStatus(enabled=True, has_backup_codes=True)
    assert factors.has_app(ada)

    codes.use(ada, b"one", at=clock())
    assert factors.status(ada) == MfaStatus(enabled=True, has_backup_codes=False)

    secrets.remove(ada)
    assert factors.settle(ada, at=clock()) == Settled(was_on=True, is_on=False)


def test_a_step_is_used_once_and_no_earlier_one_afterwards(
    secrets: PostgresTotpSecrets, ada: UUID, clock: SettableClock
) -> None:
    secrets.put_pending(ada, SECRET, at=clock(), is_of_limited_session=False)

    assert [secrets.use_step(ada, step) for step in (10, 10, 9, 11, 10, 12)] == [True, False, False, True, False, True]


def test_removing_returns_whether_the_second_factor_was_enabled(
    secrets: PostgresTotpSecrets, ada: UUID, clock: SettableClock
) -> None:
    assert secrets.remove(ada) is False
    secrets.put_pending(ada, SECRET, at=clock(), is_of_limited_session=False)
    assert secrets.remove(ada) is False
    secrets.put_pending(ada, SECRET, at=clock(), is_of_limited_session=False)
    secrets.enable(ada, at=clock())
    assert secrets.remove(ada) is True
    assert secrets.lock(ada) is None
    assert secrets.remove(ada) is False


def test_new_backup_codes_replace_the_previous_ones(
    codes: PostgresBackupCodes, ada: UUID, clock: SettableClock
) -> None:
    codes.replace(ada, [b"one", b"two"], at=clock())
    codes.use(ada, b"one", at=clock())
    codes.replace(ada, [b"three", b"four"], at=clock())

    assert codes.count_unused(ada) == 2
    assert [codes.use(ada, code, at=clock()) for code in (b"one", b"two", b"three", b"three")] == [
        False,
        False,
        True,
        False,
    ]
    codes.remove(ada)
    assert codes.count_unused(ada) == 0


def test_another_user_cannot_use_a_backup_code(
    codes: PostgresBackupCodes, ada: UUID, add_user: Callable[[str], UUID], clock: SettableClock
) -> None:
    codes.replace(ada, [b"one"], at=clock())

    assert codes.use(add_user("grace@example.com"), b"one", at=clock()) is False


@pytest.mark.parametrize("kind", ["step", "backup code"])
def test_of_two_concurrent_uses_one_wins(
    kind: str, connection: Connection, database_url: str, tools: Tools, ada: UUID, clock: SettableClock
) -> None:
    secrets = PostgresTotpSecrets(transaction_on(connection, tools.vault))
    secrets.put_pending(ada, SECRET, at=clock(), is_of_limited_session=False)
    with connected(database_url) as one, connected(database_url) as other:
        for round_ in range(RACES):
            PostgresBackupCodes(transaction_on(connection)).replace(ada, [b"one"], at=clock())
            gate, wins = threading.Barrier(2), list[bool]()

            def race(racer: Connection, step: int = round_, gate: Any = gate, wins: list[bool] = wins) -> None:
                gate.wait()
                if kind == "step":
                    wins.append(PostgresTotpSecrets(transaction_on(racer, tools.vault)).use_step(ada, step))
                else:
                    wins.append(PostgresBackupCodes(transaction_on(racer)).use(ada, b"one", at=clock()))

            threads = [threading.Thread(target=race, args=(racer,)) for racer in (one, other)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

            assert sorted(wins) == [False, True]


def test_deleting_an_account_deletes_its_second_factor(
    secrets: PostgresTotpSecrets,
    codes: PostgresBackupCodes,
    ada: UUID,
    connection: Connection,
    clock: SettableClock,
) -> None:
    secrets.put_pending(ada, SECRET, at=clock() - timedelta(days=1), is_of_limited_session=False)
    codes.replace(ada, [b"one"], at=clock())

    connection.execute("DELETE FROM users WHERE id = %s", (ada,))

    assert secrets.lock(ada) is None
    assert codes.count_unused(ada) == 0
