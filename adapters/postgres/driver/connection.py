"""A connection as the aggregates use it: it runs their statements, in a transaction or each by itself."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, Final, Generic, TypeAlias, TypeVar

import psycopg
from psycopg import Copy
from psycopg.errors import FeatureNotSupported, InFailedSqlTransaction, InvalidSqlStatementName
from psycopg.pq import ExecStatus, PipelineStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from adapters.postgres.driver.columns import Row, RowFactory, tuple_row
from adapters.postgres.driver.statements import Parameters, Statement, Statements, Text
from adapters.postgres.driver.write_failures import WriteFailures
from core.parts import in_parts

# All statements of one round trip share the time limit of one.
ROUND_TRIP_STATEMENTS_MAX: Final = 100
# A prepared statement that does not fit tables which were changed since, or that PostgreSQL no longer has.
OUTDATED: Final = (FeatureNotSupported, InvalidSqlStatementName)
_BEGUN: Final = frozenset({TransactionStatus.INTRANS, TransactionStatus.INERROR})
# The driver's own connection, for code that needs more of it than statements.
RawConnection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
Value = TypeVar("Value")


class Connection:
    """Runs statements over a connection of the driver that is in autocommit mode and that nothing else uses."""

    def __init__(
        self, driver: RawConnection, write_failures: WriteFailures | None = None, *, mark: bytes = b""
    ) -> None:
        self.write_failures = write_failures or WriteFailures()
        self._driver = driver
        self._statements = Statements(driver, mark)
        self._is_begun = False
        # Whether a round trip has failed, so that a unit of work with two connections knows which of them it was.
        self.has_failed = False

    @property
    def closed(self) -> bool:
        """Whether the connection is closed or broken."""
        return self._driver.closed

    def execute(self, text: Text, parameters: Parameters = (), *, prepare: bool = True) -> Cursor[tuple[Any, ...]]:
        """Run a statement, after the deferred ones."""
        return self.cursor().execute(text, parameters, prepare=prepare)

    def execute_later(self, text: Text, parameters: Parameters = ()) -> None:
        """Defer a statement: it goes out with the next one or with the COMMIT, which then raise its failure.

        Only quick statements may be deferred, because a whole round trip has the time limit of one statement. Very many
        go out in parts, and the event loop runs meanwhile: a use case may record something for each of many rows.
        """
        self.cursor().defer(text, parameters)
        if self._statements.deferred_number >= ROUND_TRIP_STATEMENTS_MAX:
            self.flush()

    def execute_each(self, text: Text, values: Iterable[Parameters]) -> None:
        """Run a statement for each of these values, many in one round trip."""
        for parameters in values:
            self.execute_later(text, parameters)
        self.flush()

    def in_parts(self, rows: Iterable[Value]) -> Iterator[list[Value]]:
        """Yield rows in parts; what was deferred for a part is sent before the next one."""
        for number, part in enumerate(in_parts(rows)):
            if number:
                self.flush()
            yield part

    def cursor(self, *, row_factory: RowFactory[Row] = tuple_row, binary: bool = False) -> Cursor[Row]:
        """Return a cursor whose rows are made by the factory."""
        return Cursor(self, self._statements, row_factory, is_binary=binary)

    def copy(self, text: Text) -> AbstractContextManager[Copy]:
        """Start a `COPY FROM STDIN`."""
        self.flush()
        return self._driver.cursor().copy(text)

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Commit the block as a whole or roll it back; inside a transaction, by a savepoint."""
        begin, commit, rollback = (
            (self._save, self._release, self._roll_back_to_savepoint)
            if self._is_begun
            else (self.begin, self.commit, self.rollback)
        )
        begin()
        try:
            yield
            commit()
        except BaseException:
            rollback()
            raise

    def begin(self) -> None:
        """Begin a transaction; the BEGIN goes out with its first statement."""
        self.execute_later("BEGIN")
        self._is_begun = True

    def commit(self) -> None:
        """Commit the transaction, deferred statements included."""
        # PostgreSQL answers COMMIT with a silent rollback when a statement failed before.
        if self.execute("COMMIT").answer.command_status != b"COMMIT":
            raise InFailedSqlTransaction
        self._is_begun = False

    def rollback(self) -> None:
        """Drop the deferred statements, and roll back the transaction if there is one."""
        self._statements.drop()
        self._is_begun = False
        if self._driver.pgconn.transaction_status in _BEGUN:
            # When the ROLLBACK cannot be sent, PostgreSQL rolls back by itself; the earlier failure is what counts.
            with suppress(psycopg.OperationalError):
                # Not prepared, because a failed transaction cannot deallocate another statement to make room for it.
                self.execute("ROLLBACK", prepare=False)

    def flush(self) -> None:
        """Run the deferred statements now."""
        if not self._statements.are_deferred:
            return
        try:
            self._driver.wait(self._statements.round_trip())
        except OUTDATED:
            # A new connection has no prepared statements.
            self.has_failed = True
            self._driver.close()
            raise
        except BaseException:
            self.has_failed = True
            # The rest of the answers would be read as answers of the next round trip.
            pgconn = self._driver.pgconn
            if pgconn.transaction_status == TransactionStatus.ACTIVE or pgconn.pipeline_status != PipelineStatus.OFF:
                self._driver.close()
            raise

    def _save(self) -> None:
        # At once, so that no deferred statement of the outer part fails in the inner one.
        self.execute("SAVEPOINT part")

    def _release(self) -> None:
        # At once, so that no deferred statement of the inner part fails after it.
        self.execute("RELEASE SAVEPOINT part")

    def _roll_back_to_savepoint(self) -> None:
        self._statements.drop()
        with suppress(psycopg.OperationalError):
            # The enclosing part has a savepoint of the same name, so this one must not stay.
            self.execute("ROLLBACK TO SAVEPOINT part", prepare=False)
            self.execute("RELEASE SAVEPOINT part")


class Cursor(Generic[Row]):
    """Runs a statement and reads its rows: the used part of the driver's cursor, at a fraction of its cost."""

    __slots__ = ("_connection", "_is_binary", "_row_factory", "_statement", "_statements")

    def __init__(
        self, connection: Connection, statements: Statements, row_factory: RowFactory[Row], *, is_binary: bool
    ) -> None:
        self._connection = connection
        self._statements = statements
        self._row_factory = row_factory
        self._is_binary = is_binary
        self._statement: Statement

    def execute(self, text: Text, parameters: Parameters = (), *, prepare: bool = True) -> Cursor[Row]:
        """Run a statement after the deferred ones; with `prepare` PostgreSQL keeps it, with one plan for all values."""
        self._statement = self._statements.add(text, parameters, is_binary=self._is_binary, is_prepared=prepare)
        self._connection.flush()
        return self

    def defer(self, text: Text, parameters: Parameters = ()) -> Cursor[Row]:
        """Defer a statement: it goes out with the next one, or when its answer is read."""
        self._statement = self._statements.add(text, parameters, is_binary=self._is_binary, is_prepared=True)
        return self

    @property
    def answer(self) -> PGresult:
        """The answer of PostgreSQL."""
        if self._statement.answer is None:
            self._connection.flush()
        assert self._statement.answer is not None, "the statement failed, so it has no answer"
        return self._statement.answer

    @property
    def rowcount(self) -> int:
        """How many rows the statement found or changed."""
        answer = self.answer
        return answer.ntuples if answer.status == ExecStatus.TUPLES_OK else answer.command_tuples or 0

    def fetchone(self) -> Row | None:
        """Read the first row, if there is one."""
        rows = self._rows(1)
        return rows[0] if rows else None

    def fetchall(self) -> list[Row]:
        """Read all rows."""
        return self._rows()

    def __iter__(self) -> Iterator[Row]:
        """Iterate over the rows."""
        return iter(self._rows())

    def _rows(self, rows_max: int | None = None) -> list[Row]:
        if self._statement.answer is None:
            self._connection.flush()
        return self._statements.rows(self._statement, self._row_factory, rows_max)
