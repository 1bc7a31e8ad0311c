"""Transactions of a connection, and transactions inside transactions."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from adapters.postgres.driver.connection import Connection
from tests.adapters.driver.shelf import add, add_later, books, transaction_status
from tests.postgres import driver_of

pytestmark = pytest.mark.usefixtures("shelf")


class TestTransactions:
    """A transaction is committed as a whole or rolled back."""

    def test_a_block_that_returns_is_committed(self, connection: Connection, other: Connection) -> None:
        with connection.transaction():
            add(connection, 1, 2)
            seen_before_the_commit = books(other)

        assert seen_before_the_commit == []
        assert books(other) == [1, 2]
        assert transaction_status(connection) == TransactionStatus.IDLE

    def test_a_block_that_raises_is_rolled_back(self, connection: Connection, other: Connection) -> None:
        def add_and_fail() -> None:
            with connection.transaction():
                add(connection, 1)
                raise LookupError

        with pytest.raises(LookupError):
            add_and_fail()

        assert books(other) == []
        assert transaction_status(connection) == TransactionStatus.IDLE

    def test_the_begin_goes_out_with_the_first_statement(self, connection: Connection, round_trips: list[Any]) -> None:
        with connection.transaction():
            before = transaction_status(connection)
            round_trips_before = len(round_trips)
            add(connection, 1)
            after = transaction_status(connection)

        assert (before, round_trips_before) == (TransactionStatus.IDLE, 0)
        assert after == TransactionStatus.INTRANS

    def test_each_statement_and_the_commit_take_one_round_trip(
        self, connection: Connection, round_trips: list[Any]
    ) -> None:
        with connection.transaction():
            add(connection, 1, 2, 3)

        assert len(round_trips) == 4

    def test_a_transaction_without_statements_leaves_the_connection_usable(
        self, connection: Connection, other: Connection
    ) -> None:
        with connection.transaction():
            pass

        assert transaction_status(connection) == TransactionStatus.IDLE
        add(connection, 1)
        assert books(other) == [1]

    def test_a_failure_before_the_first_statement_takes_no_round_trip(
        self, connection: Connection, round_trips: list[Any]
    ) -> None:
        def fail() -> None:
            with connection.transaction():
                raise LookupError

        with pytest.raises(LookupError):
            fail()

        assert round_trips == []
        assert transaction_status(connection) == TransactionStatus.IDLE

    def test_one_transaction_can_follow_another(self, connection: Connection, other: Connection) -> None:
        for book in (1, 2):
            with connection.transaction():
                add(connection, book)

        assert books(other) == [1, 2]

    def test_the_commit_fails_when_a_failed_statement_was_ignored(
        self, connection: Connection, other: Connection
    ) -> None:
        def add_twice() -> None:
            with connection.transaction():
                add(connection, 1)
                with pytest.raises(psycopg.errors.UniqueViolation):
                    add(connection, 1)

        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            add_twice()

        assert books(other) == []
        assert transaction_status(connection) == TransactionStatus.IDLE

    def test_a_commit_that_fails_raises_its_error(self, connection: Connection, other: Connection) -> None:
        connection.execute("CREATE TABLE labels (book integer REFERENCES shelf DEFERRABLE INITIALLY DEFERRED)")

        def label() -> None:
            with connection.transaction():
                connection.execute("INSERT INTO labels VALUES (1)")

        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            label()

        assert transaction_status(connection) == TransactionStatus.IDLE
        assert other.execute("SELECT count(*) FROM labels").fetchone() == (0,)

    def test_a_rollback_that_cannot_be_sent_does_not_hide_the_first_error(
        self, connection: Connection, other: Connection
    ) -> None:
        def lose() -> None:
            with connection.transaction():
                add(connection, 1)
                pid = driver_of(connection).info.backend_pid
                other.execute("SELECT pg_terminate_backend(%s, 1000)", (pid,))
                raise LookupError

        with pytest.raises(LookupError):
            lose()

        assert books(other) == []


class TestInnerTransactions:
    """A transaction inside another one is a savepoint."""

    def test_an_inner_transaction_is_committed_with_the_outer_one(
        self, connection: Connection, other: Connection
    ) -> None:
        with connection.transaction():
            add(connection, 1)
            with connection.transaction():
                add(connection, 2)
            seen_before_the_commit = books(other)
            add(connection, 3)

        assert seen_before_the_commit == []
        assert books(other) == [1, 2, 3]

    def test_an_inner_transaction_can_run_the_first_statement(self, connection: Connection, other: Connection) -> None:
        with connection.transaction(), connection.transaction():
            add(connection, 1)

        assert books(other) == [1]

    def test_an_inner_transaction_can_fail_without_the_outer_one(
        self, connection: Connection, other: Connection
    ) -> None:
        with connection.transaction():
            add(connection, 1)
            with pytest.raises(psycopg.errors.UniqueViolation), connection.transaction():
                add(connection, 2, 1)
            add(connection, 3)

        assert books(other) == [1, 3]

    def test_a_statement_deferred_before_an_inner_transaction_does_not_fail_in_it(
        self, connection: Connection, other: Connection
    ) -> None:
        def add_twice() -> None:
            with connection.transaction():
                add_later(connection, 1, 1)
                with connection.transaction():
                    raise AssertionError("the inner transaction began")

        with pytest.raises(psycopg.errors.UniqueViolation):
            add_twice()

        assert books(other) == []

    def test_a_statement_deferred_in_an_inner_transaction_fails_in_it(
        self, connection: Connection, other: Connection
    ) -> None:
        with connection.transaction():
            add(connection, 1)
            with pytest.raises(psycopg.errors.UniqueViolation), connection.transaction():
                add_later(connection, 2, 1)
            add(connection, 3)

        assert books(other) == [1, 3]

    def test_an_inner_transaction_fails_at_its_end_when_a_failed_statement_was_ignored(
        self, connection: Connection, other: Connection
    ) -> None:
        def add_twice() -> None:
            with connection.transaction(), pytest.raises(psycopg.errors.UniqueViolation):
                add(connection, 2, 1)

        with connection.transaction():
            add(connection, 1)
            with pytest.raises(psycopg.errors.InFailedSqlTransaction):
                add_twice()
            add(connection, 3)

        assert books(other) == [1, 3]

    def test_an_inner_rollback_drops_the_statements_deferred_in_it(
        self, connection: Connection, other: Connection
    ) -> None:
        def add_and_fail() -> None:
            with connection.transaction():
                add_later(connection, 2)
                raise LookupError

        with connection.transaction():
            add(connection, 1)
            with pytest.raises(LookupError):
                add_and_fail()

        assert books(other) == [1]

    def test_an_inner_transaction_can_fail_after_one_inside_it_has_failed(
        self, connection: Connection, other: Connection
    ) -> None:
        def add_and_fail(*books: int) -> None:
            with connection.transaction():
                add(connection, *books)
                if books == (2,):
                    with pytest.raises(LookupError):
                        add_and_fail(3)
                raise LookupError

        with connection.transaction():
            add(connection, 1)
            with pytest.raises(LookupError):
                add_and_fail(2)
            add(connection, 4)

        assert books(other) == [1, 4]

    def test_several_inner_transactions_can_fail_one_after_another(
        self, connection: Connection, other: Connection
    ) -> None:
        with connection.transaction():
            for book in range(5):
                add(connection, book)
                with pytest.raises(psycopg.errors.UniqueViolation), connection.transaction():
                    add(connection, 10 + book, book)

        assert books(other) == [0, 1, 2, 3, 4]

    def test_a_connection_lost_in_an_inner_transaction_raises_that_error(
        self, connection: Connection, other: Connection
    ) -> None:
        def lose() -> None:
            with connection.transaction(), connection.transaction():
                add(connection, 1)
                connection.execute("SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(5)")

        with pytest.raises(psycopg.OperationalError):
            lose()

        assert connection.closed
        assert books(other) == []
