"""Devices in PostgreSQL: a removal and a sign-in at the same time, and the cost of recognizing a device."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.errors import ForeignKeyViolation

from adapters.postgres.driver.connection import Connection
from adapters.postgres.transaction import Tools
from adapters.postgres.unit_of_work import PostgresUnitOfWork
from core.accounts.users import User
from core.credentials import devices
from core.sessions.origins import Origin
from core.sessions.sessions import ABSOLUTE_LIFETIME, Session
from core.sign_in import recognition
from core.sign_in.recognition import AdmittedDevice
from core.sign_in.risk import Risk
from ports.unit_of_work import UnitOfWork
from tests.plans import explained_statements, indexes_used, tables_read_whole
from tests.statements import recorded_statements
from tests.waiting import wait_until

NO_RISK = Risk(factors=(), score=0.0, location=None)
LAPTOP, PHONE = Origin(user_agent="a laptop"), Origin(user_agent="a phone")
RACES = 50


class Person:
    """A user who signs in by the use cases of the core, on connections of their own."""

    def __init__(self, url: str, tools: Tools) -> None:
        self.drivers = [psycopg.connect(url, autocommit=True) for _ in range(3)]
        *self.connections, self.watcher = [Connection(driver) for driver in self.drivers]
        self.tools = tools
        self.id = self.run(self._register)

    def run(
        self,
        use_case: Callable[..., Any],
        *args: Any,
        origin: Origin = LAPTOP,
        session: UUID | None = None,
        on: int = 0,
    ) -> Any:
        """Run a use case in a transaction."""
        connection = self.connections[on]
        with connection.transaction():
            return use_case(PostgresUnitOfWork(connection, origin, self.tools, session_id=session), *args)

    def sign_in(self, uow: UnitOfWork, presented: str | None = None) -> tuple[UUID, UUID, str]:
        """Begin a session; return its id, its device's id and the device's token."""
        uow.users.lock(self.id)
        sighting = recognition.defer_recognition(uow, self.id, presented)()
        device = recognition.admit(uow, self.id, sighting, NO_RISK, trust=False)
        return self.begin_session(uow, device), device.device_id, device.token.reveal()

    def begin_session(self, uow: UnitOfWork, device: AdmittedDevice) -> UUID:
        """Begin a session on a device; return its id."""
        session = Session(
            id=uow.randomness.new_id(),
            user_id=self.id,
            organization_id=None,
            service_id=None,
            device_id=device.device_id,
            provider="password",
            amr=["pwd"],
            authenticated_at=uow.now,
            refreshed_at=uow.now,
            expires_at=uow.now + ABSOLUTE_LIFETIME,
            ip_address=None,
            user_agent=None,
            impersonator_id=None,
            created_at=uow.now,
        )
        uow.sessions.add(session, refresh_hash=b"")
        return session.id

    def alive_on_removed_devices(self) -> int:
        """Count the live sessions on removed devices."""
        row = self.connections[0].execute(
            "SELECT count(*) FROM sessions s JOIN devices d ON d.id = s.device_id"
            " WHERE s.revoked_at IS NULL AND d.revoked_at IS NOT NULL"
        )
        return (row.fetchone() or (0,))[0]

    def is_waiting(self, on: int) -> bool:
        """Return whether a connection waits for a lock."""
        pid = self.drivers[on].info.backend_pid
        row = self.watcher.execute("SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = %s", (pid,))
        return bool((row.fetchone() or (False,))[0])

    @staticmethod
    def _register(uow: UnitOfWork) -> UUID:
        user = User(
            id=uow.randomness.new_id(),
            email="ada@example.com",
            email_verified_at=uow.now,
            is_platform_owner=False,
            created_at=uow.now,
            updated_at=uow.now,
        )
        uow.users.add(user)
        return user.id


@pytest.fixture
def ada(database_url: str, tools: Tools) -> Iterator[Person]:
    """A user with an account."""
    person = Person(database_url, tools)
    yield person
    for driver in person.drivers:
        driver.close()


def in_a_thread(work: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    """Start work in a thread; its result is appended to the list."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    return thread, results


def test_a_removal_waits_for_a_sign_in_from_the_device_and_ends_its_session(ada: Person) -> None:
    laptop, _, _ = ada.run(ada.sign_in)
    _, device_id, token = ada.run(ada.sign_in, origin=PHONE)

    with ada.connections[0].transaction():
        uow = PostgresUnitOfWork(ada.connections[0], PHONE, ada.tools)
        ada.sign_in(uow, token)
        thread, _ = in_a_thread(lambda: ada.run(devices.remove_mine, device_id, session=laptop, on=1))
        # The removal waits for the sign-in to commit.
        wait_until(lambda: ada.is_waiting(1))
    thread.join()

    assert ada.alive_on_removed_devices() == 0


def test_a_sign_in_from_a_device_that_is_being_removed_waits_and_is_one_from_another_device(ada: Person) -> None:
    laptop, _, _ = ada.run(ada.sign_in)
    _, device_id, token = ada.run(ada.sign_in, origin=PHONE)

    with ada.connections[0].transaction():
        devices.remove_mine(PostgresUnitOfWork(ada.connections[0], LAPTOP, ada.tools, session_id=laptop), device_id)
        thread, results = in_a_thread(lambda: ada.run(ada.sign_in, token, origin=PHONE, on=1))
        wait_until(lambda: ada.is_waiting(1))
    thread.join()

    [(_, device_of_session, _)] = results
    assert device_of_session != device_id
    assert ada.alive_on_removed_devices() == 0


def test_a_sign_in_from_a_device_that_was_deleted_meanwhile_is_tried_again(ada: Person) -> None:
    _, _, token = ada.run(ada.sign_in)

    def sign_in(uow: UnitOfWork) -> None:
        recognized = recognition.defer_recognition(uow, ada.id, token)()
        # Housekeeping deletes devices that were not used for long, without the lock of the account.
        ada.connections[1].execute("DELETE FROM devices")
        ada.begin_session(uow, recognition.admit(uow, ada.id, recognized, NO_RISK, trust=False))

    # After this error the transaction runs again, and does not find the device any more.
    with pytest.raises(ForeignKeyViolation):
        ada.run(sign_in)


def test_no_session_outlives_its_device_whichever_transaction_commits_first(ada: Person) -> None:
    laptop, _, _ = ada.run(ada.sign_in)
    for _ in range(RACES):
        _, device_id, token = ada.run(ada.sign_in, origin=PHONE)
        gate = threading.Barrier(2)

        def remove(gate: threading.Barrier = gate, device_id: UUID = device_id) -> None:
            gate.wait()
            ada.run(devices.remove_mine, device_id, session=laptop, on=1)

        thread, _ = in_a_thread(remove)
        gate.wait()
        ada.run(ada.sign_in, token, origin=PHONE)
        thread.join()
        assert ada.alive_on_removed_devices() == 0


def test_of_two_concurrent_removals_one_publishes_the_event(ada: Person, connection: Connection) -> None:
    laptop, _, _ = ada.run(ada.sign_in)
    for _ in range(RACES):
        _, device_id, _ = ada.run(ada.sign_in, origin=PHONE)
        gate = threading.Barrier(2)

        def remove(on: int, gate: threading.Barrier = gate, device_id: UUID = device_id) -> None:
            gate.wait()
            ada.run(devices.remove_mine, device_id, session=laptop, on=on)

        threads = [threading.Thread(target=remove, args=(on,)) for on in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    published = connection.execute("SELECT data FROM events WHERE type = 'session.revoked'").fetchall()
    assert published == [({"reason": "device_removed", "sessions": 1},)] * RACES


def test_a_rename_during_a_sign_in_is_kept(ada: Person, connection: Connection) -> None:
    laptop, device_id, token = ada.run(ada.sign_in)

    with ada.connections[0].transaction():
        uow = PostgresUnitOfWork(ada.connections[0], LAPTOP, ada.tools)
        sighting = recognition.defer_recognition(uow, ada.id, token)()
        ada.run(devices.rename_mine, device_id, "Mine", session=laptop, on=1)
        recognition.admit(uow, ada.id, sighting, NO_RISK, trust=False)

    assert connection.execute("SELECT name FROM devices").fetchall() == [("Mine",)]


def test_a_rename_during_a_removal_is_refused(ada: Person) -> None:
    laptop, _, _ = ada.run(ada.sign_in)
    _, device_id, _ = ada.run(ada.sign_in, origin=PHONE)
    with ada.connections[0].transaction():
        devices.remove_mine(PostgresUnitOfWork(ada.connections[0], LAPTOP, ada.tools, session_id=laptop), device_id)

        def rename() -> str:
            with pytest.raises(devices.DeviceUnknown):
                ada.run(devices.rename_mine, device_id, "Mine", session=laptop, on=1)
            return "refused"

        thread, results = in_a_thread(rename)
        wait_until(lambda: ada.is_waiting(1))
    thread.join()

    assert results == ["refused"]


def test_recognition_executes_the_same_single_statement_for_every_user_and_token(ada: Person) -> None:
    _, _, token = ada.run(ada.sign_in)
    statements: list[list[str]] = []

    for user_id, presented in [
        (ada.id, token),
        (ada.id, None),
        (ada.id, "an invention"),
        (uuid4(), token),
        (uuid4(), None),
    ]:
        with recorded_statements() as recorded:
            ada.run(recognition.defer_recognition, user_id, presented)
        statements.append([text for text in recorded if text.startswith(("SELECT", "(SELECT"))])

    assert len(statements[0]) == 1
    assert all(others == statements[0] for others in statements)


@pytest.mark.plans
@pytest.mark.long
def test_a_device_is_found_by_its_token_or_user_agent_through_an_index(ada: Person, connection: Connection) -> None:
    ada.run(ada.sign_in)
    connection.execute(
        """
        INSERT INTO users (id, email, created_at, updated_at)
        SELECT gen_random_uuid(), n || '@example.com', now(), now() FROM generate_series(1, 10000) AS n
        """
    )
    connection.execute(
        """
        INSERT INTO devices (id, user_id, name, device_type, user_agent, last_used_at, created_at, updated_at)
        SELECT gen_random_uuid(), id, 'one of two', 'cli', n::text, now(), now(), now()
        FROM   users, generate_series(1, 2) AS n
        """
    )
    connection.execute(
        """
        INSERT INTO device_tokens (token_hash, device_id, created_at, expires_at)
        SELECT sha256(id::text::bytea), id, now(), now() + interval '90 days' FROM devices
        """
    )
    connection.execute("ANALYZE devices, device_tokens")

    with explained_statements(connection) as plans, connection.transaction():
        uow = PostgresUnitOfWork(connection, LAPTOP, ada.tools)
        recognition.defer_recognition(uow, ada.id, "a token")()

    [plan] = plans
    assert tables_read_whole(plan) == set()
    assert {"device_tokens_pkey", "devices_of_user"} <= indexes_used(plan)


def test_deleting_an_account_scans_no_whole_table_for_its_devices(ada: Person, connection: Connection) -> None:
    """Every foreign key to `devices` has an index that begins with it."""
    references = connection.execute(
        """
        SELECT c.conrelid::regclass::text
        FROM   pg_constraint c
        WHERE  c.confrelid = 'devices'::regclass
          AND  NOT EXISTS (SELECT FROM pg_index i
                           WHERE  i.indrelid = c.conrelid AND i.indpred IS NULL AND i.indkey[0] = c.conkey[1])
        """
    ).fetchall()

    assert references == []


def test_a_device_used_almost_a_year_ago_is_still_listed(ada: Person, tools: Tools, connection: Connection) -> None:
    ada.run(ada.sign_in, origin=PHONE)
    clock: Any = tools.clock
    clock.advance(timedelta(days=364))
    laptop, _, _ = ada.run(ada.sign_in)

    listed, total = ada.run(devices.list_mine, session=laptop)

    assert total == len(listed) == 2
    assert [device.is_current for device in listed] == [True, False]
