"""Rewrapping: every sealed value is re-encrypted with the first master key, under concurrent use."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest

from adapters.crypto.randomness import SystemRandomness
from adapters.crypto.vault import MasterKey, Vault
from adapters.postgres.driver.connection import Connection, RawConnection
from adapters.postgres.schema import rewrap as rewrapping
from adapters.postgres.schema.rewrap import SEALED_COLUMNS, Rewrapped, SealedColumn, rewrap
from adapters.postgres.sessions.signing_keys import PostgresSigningKeys
from core.sessions.security_profiles import SignatureAlgorithm
from core.sessions.signing_keys import KeyState, SigningKey
from tests.signing_keys import key_pair
from tests.transactions import transaction_on
from tests.waiting import wait_until

OLD_KEY, NEW_KEY = MasterKey(bytes([1]) * 32), MasterKey(bytes([2]) * 32)
BEFORE, DURING, AFTER = Vault([OLD_KEY]), Vault([NEW_KEY, OLD_KEY]), Vault([NEW_KEY])
NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
MAILS = SEALED_COLUMNS[0]

new_id = SystemRandomness().new_id


@pytest.fixture(autouse=True)
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a few rows fill several pages."""
    monkeypatch.setattr(rewrapping, "PAGE_ROWS_MAX", 3)


@pytest.fixture
def connection(raw_connection: RawConnection) -> RawConnection:
    """The driver's own connection, which rewrapping requires."""
    return raw_connection


def add_mail(connection: RawConnection, vault: Vault | None, text: bytes = b"hello") -> UUID:
    """Store a mail; without a vault, one whose values were erased after it was sent."""
    mail_id = new_id()
    sealed = vault.seal(text, table="mails", column="values_sealed", row=mail_id) if vault else None
    connection.execute(
        """
        INSERT INTO mails (organization_id, id, recipient, template, values_sealed, state, attempts, due_at, created_at)
        VALUES ('00000000-0000-0000-0000-000000000000', %s, 'ann@example.com', 'test', %s, 'kept', 1, %s, %s)
        """,
        (mail_id, sealed, NOW, NOW),
    )
    return mail_id


def stored(connection: RawConnection) -> dict[UUID, bytes]:
    return dict(connection.execute("SELECT id, values_sealed FROM mails ORDER BY id").fetchall())


def text_of(connection: RawConnection, mail_id: UUID, vault: Vault = AFTER) -> bytes:
    return vault.open(stored(connection)[mail_id], table="mails", column="values_sealed", row=mail_id)


def result_for_mails(outcome: tuple[Rewrapped, ...]) -> Rewrapped:
    return next(part for part in outcome if part.column is MAILS)


@contextmanager
def another_transaction(database_url: str) -> Generator[RawConnection]:
    with psycopg.connect(database_url) as connection:
        yield connection


def is_waiting_for_a_lock(connection: RawConnection) -> bool:
    row = connection.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    ).fetchone()
    return row == (1,)


def test_every_sealed_column_of_the_schema_is_in_the_list_with_its_primary_key(connection: RawConnection) -> None:
    # The key of a log begins with the organization, and its id is unique as well.
    columns = connection.execute(
        """
        SELECT c.table_name, c.column_name, (array_agg(k.column_name ORDER BY k.ordinal_position DESC))[1]
        FROM   information_schema.columns c
        JOIN   information_schema.table_constraints t
               ON t.table_name = c.table_name AND t.constraint_type = 'PRIMARY KEY' AND t.table_schema = 'public'
        JOIN   information_schema.key_column_usage k USING (constraint_name, constraint_schema)
        WHERE  c.table_schema = 'public' AND c.column_name LIKE '%sealed'
        AND    NOT (SELECT relispartition FROM pg_class WHERE oid = c.table_name::regclass)
        GROUP  BY c.table_name, c.column_name
        """
    ).fetchall()

    assert sorted(columns) == sorted((column.table, column.column, column.key) for column in SEALED_COLUMNS)


def test_afterwards_every_value_opens_with_the_first_key_alone(connection: RawConnection) -> None:
    ids = [add_mail(connection, BEFORE, f"mail {number}".encode()) for number in range(10)]

    outcome = rewrap(connection, DURING, lambda _: None)

    assert [text_of(connection, mail_id) for mail_id in ids] == [f"mail {number}".encode() for number in range(10)]
    assert result_for_mails(outcome) == Rewrapped(column=MAILS, rewrapped=10)
    assert all(part.is_complete for part in outcome)


@pytest.mark.parametrize("algorithm", SignatureAlgorithm)
def test_signing_keys_are_rewrapped(connection: RawConnection, algorithm: SignatureAlgorithm) -> None:
    pair = key_pair(0, algorithm)
    before = Connection(connection)
    PostgresSigningKeys(transaction_on(before, BEFORE)).add(
        SigningKey(
            kid=pair.kid,
            state=KeyState.ACTIVE,
            public_pem=pair.public_pem,
            private_pem=pair.private_pem,
            created_at=NOW,
            algorithm=algorithm,
        )
    )
    before.flush()

    rewrap(connection, DURING, lambda _: None)

    (key,) = PostgresSigningKeys(transaction_on(Connection(connection), AFTER)).published(NOW)
    assert key.private_pem == pair.private_pem


def test_values_already_sealed_with_the_first_key_are_not_rewritten(connection: RawConnection) -> None:
    for vault in (DURING, BEFORE, DURING, DURING, DURING, BEFORE):
        add_mail(connection, vault)
    before = stored(connection)

    outcome = rewrap(connection, DURING, lambda _: None)

    after = stored(connection)
    changed = {mail_id for mail_id in before if before[mail_id] != after[mail_id]}
    assert changed == {mail_id for mail_id, sealed in before.items() if DURING.needs_rewrap(sealed)}
    assert result_for_mails(outcome).rewrapped == 2


def test_a_second_run_finds_nothing_to_do(connection: RawConnection) -> None:
    for _ in range(5):
        add_mail(connection, BEFORE)
    rewrap(connection, DURING, lambda _: None)
    after_first = stored(connection)

    outcome = rewrap(connection, DURING, lambda _: None)

    assert result_for_mails(outcome) == Rewrapped(column=MAILS)
    assert stored(connection) == after_first


def test_an_erased_value_stays_erased(connection: RawConnection) -> None:
    ids = [add_mail(connection, vault) for vault in (None, BEFORE, None, None, None, BEFORE)]

    outcome = rewrap(connection, DURING, lambda _: None)

    assert result_for_mails(outcome) == Rewrapped(column=MAILS, rewrapped=2)
    assert [stored(connection)[mail_id] is None for mail_id in ids] == [True, False, True, True, True, False]


def test_an_unreadable_value_is_reported_and_kept_and_the_others_are_rewrapped(connection: RawConnection) -> None:
    ids = [add_mail(connection, vault) for vault in (BEFORE, Vault([MasterKey.generate()]), BEFORE)]
    broken = stored(connection)[ids[1]]
    lines: list[str] = []

    outcome = rewrap(connection, DURING, lines.append)

    assert result_for_mails(outcome) == Rewrapped(column=MAILS, rewrapped=2, unreadable=1)
    assert not result_for_mails(outcome).is_complete
    assert stored(connection)[ids[1]] == broken
    assert any(f"mails.values_sealed of {ids[1]}" in line for line in lines)


def test_rewrapping_can_be_interrupted_and_restarted(connection: RawConnection) -> None:
    ids = [add_mail(connection, BEFORE) for _ in range(10)]

    def stop_after_two_pages(_column: SealedColumn, done: int, _total: int) -> None:
        if done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rewrap(connection, DURING, lambda _: None, stop_after_two_pages)
    readable_between = [text_of(connection, mail_id, DURING) for mail_id in ids]
    outcome = rewrap(connection, DURING, lambda _: None)

    assert readable_between == [b"hello"] * 10
    assert result_for_mails(outcome).rewrapped == 4
    assert [text_of(connection, mail_id) for mail_id in ids] == [b"hello"] * 10


def test_progress_is_shown_after_each_page_and_what_was_done_at_the_end(connection: RawConnection) -> None:
    for _ in range(7):
        add_mail(connection, BEFORE)
    lines: list[str] = []
    shown: list[tuple[str, int, int]] = []

    rewrap(connection, DURING, lines.append, lambda column, done, total: shown.append((str(column), done, total)))

    assert lines == [
        "mails.values_sealed: 7 re-encrypted",
        *(f"{column}: 0 re-encrypted" for column in rewrapping.SEALED_COLUMNS[1:]),
    ]
    assert shown == [
        ("mails.values_sealed", 3, 7),
        ("mails.values_sealed", 6, 7),
        ("mails.values_sealed", 7, 7),
        *((str(column), 7, 7) for column in rewrapping.SEALED_COLUMNS[1:]),
    ]


def test_counting_may_exceed_the_statement_timeout(connection: RawConnection) -> None:
    for _ in range(4):
        add_mail(connection, BEFORE)
    connection.execute("SET statement_timeout = '1ms'")

    assert result_for_mails(rewrap(connection, DURING, lambda _: None)).rewrapped == 4


def test_a_row_locked_for_long_is_skipped_and_the_others_are_rewrapped(
    connection: RawConnection, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [add_mail(connection, BEFORE) for _ in range(3)]
    monkeypatch.setattr(rewrapping, "LOCK_WAIT_SECONDS_MAX", 0.05)
    lines: list[str] = []

    with another_transaction(database_url) as other:
        other.execute("SELECT FROM mails WHERE id = %s FOR UPDATE", (ids[1],))
        outcome = rewrap(connection, DURING, lines.append)

    assert result_for_mails(outcome) == Rewrapped(column=MAILS, rewrapped=2, held=1)
    assert not result_for_mails(outcome).is_complete
    assert any(f"{ids[1]} is locked" in line for line in lines)
    assert result_for_mails(rewrap(connection, DURING, lambda _: None)) == Rewrapped(column=MAILS, rewrapped=1)


def test_waiting_for_a_locked_row_leaves_the_rest_of_its_page_unlocked(
    connection: RawConnection, database_url: str
) -> None:
    ids = [add_mail(connection, BEFORE) for _ in range(3)]

    with another_transaction(database_url) as other, psycopg.connect(database_url, autocommit=True) as worker:
        other.execute("SELECT FROM mails WHERE id = %s FOR UPDATE", (ids[0],))
        work = threading.Thread(target=rewrap, args=(worker, DURING, lambda _: None))
        work.start()
        wait_until(lambda: is_waiting_for_a_lock(connection))
        unlocked = connection.execute("SELECT id FROM mails ORDER BY id FOR UPDATE SKIP LOCKED").fetchall()
        other_texts = [text_of(connection, mail_id) for mail_id in ids[1:]]
        other.rollback()
        work.join()

    assert [mail_id for (mail_id,) in unlocked] == ids[1:]
    assert other_texts == [b"hello"] * 2
    assert text_of(connection, ids[0]) == b"hello"


@pytest.mark.parametrize("writers_vault", [BEFORE, DURING], ids=["old key", "new key"])
def test_a_concurrent_write_is_kept(connection: RawConnection, database_url: str, writers_vault: Vault) -> None:
    mail_id = add_mail(connection, BEFORE)
    written = writers_vault.seal(b"written meanwhile", table="mails", column="values_sealed", row=mail_id)

    with another_transaction(database_url) as other, psycopg.connect(database_url, autocommit=True) as worker:
        other.execute("UPDATE mails SET values_sealed = %s WHERE id = %s", (written, mail_id))
        work = threading.Thread(target=rewrap, args=(worker, DURING, lambda _: None))
        work.start()
        wait_until(lambda: is_waiting_for_a_lock(connection))
        other.commit()
        work.join()

    assert text_of(connection, mail_id) == b"written meanwhile"
    assert (stored(connection)[mail_id] == written) is (writers_vault is DURING)


def test_a_concurrent_deletion_is_no_error(connection: RawConnection, database_url: str) -> None:
    mail_id = add_mail(connection, BEFORE)
    outcomes: list[Any] = []

    with another_transaction(database_url) as other, psycopg.connect(database_url, autocommit=True) as worker:
        other.execute("DELETE FROM mails WHERE id = %s", (mail_id,))
        work = threading.Thread(target=lambda: outcomes.append(rewrap(worker, DURING, lambda _: None)))
        work.start()
        wait_until(lambda: is_waiting_for_a_lock(connection))
        other.commit()
        work.join()

    assert result_for_mails(outcomes[0]) == Rewrapped(column=MAILS)


def test_rewrapping_inside_a_transaction_is_refused(database_url: str) -> None:
    with another_transaction(database_url) as connection, pytest.raises(AssertionError):
        rewrap(connection, DURING, lambda _: None)
