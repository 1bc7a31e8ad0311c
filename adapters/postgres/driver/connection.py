"""A connection as the aggregates know it: what runs their statements, in a transaction or each by itself."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias

import psycopg
from psycopg.errors import FeatureNotSupported, InFailedSqlTransaction, InvalidSqlStatementName
from psycopg.pq import ExecStatus, PipelineStatus, TransactionStatus

from adapters.postgres.driver.rows import Row, tuple_row
from adapters.postgres.driver.statements import Statements

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from contextlib import AbstractContextManager

    from psycopg import Copy
    from psycopg.pq.abc import PGresult

    from adapters.postgres.driver.rows import RowFactory
    from adapters.postgres.driver.statements import Parameters, Statement, Text

# Each of them is quick, and all together must be, too.
STATEMENTS_OF_TURN_MAX: Final = 100
# What is kept does not fit tables that were changed since, or is not there any more.
OUTDATED: Final = (FeatureNotSupported, InvalidSqlStatementName)
_BEGUN: Final = frozenset({TransactionStatus.INTRANS, TransactionStatus.INERROR})
# The driver's own, for what needs more of it than statements.
RawConnection: TypeAlias = psycopg.Connection[tuple[Any, ...]]


class Connection:
    """Runs statements over a connection of the driver, which is in autocommit mode and nobody else's."""

    def __init__(self, driver: RawConnection) -> None:
        self._driver = driver
        self._statements = Statements(driver)
        self._is_begun = False

    @property
    def closed(self) -> bool:
        """Whether it is of no more use."""
        return self._driver.closed

    def execute(self, text: Text, parameters: Parameters = (), *, prepare: bool = True) -> Cursor[tuple[Any, ...]]:
        """Run a statement, after those that wait."""
        return self.cursor().execute(text, parameters, prepare=prepare)

    def execute_later(self, text: Text, parameters: Parameters = ()) -> None:
        """Run a statement together with the next one, or with the COMMIT; whether it fails is learned then.

        Only what is quick may wait: a whole turn is waited for as long as a statement may take.
        """
        self.cursor().ask(text, parameters)

    def execute_each(self, text: Text, values: Iterable[Parameters]) -> None:
        """Run a statement for each of these values, many in one turn."""
        for number, parameters in enumerate(values, start=1):
            self.execute_later(text, parameters)
            if number % STATEMENTS_OF_TURN_MAX == 0:
                self.settle()
        self.settle()

    def cursor(self, *, row_factory: RowFactory[Row] = tuple_row, binary: bool = False) -> Cursor[Row]:
        """Give what runs a statement and makes something of its rows."""
        return Cursor(self, self._statements, row_factory, is_binary=binary)

    def copy(self, text: Text) -> AbstractContextManager[Copy]:
        """Take in rows as `COPY FROM STDIN` does."""
        self.settle()
        return self._driver.cursor().copy(text)

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Do all that follows or nothing; within a transaction, that part of it."""
        begin, commit, rollback = (
            (self._save, self._release, self._go_back) if self._is_begun else (self.begin, self.commit, self.rollback)
        )
        begin()
        try:
            yield
            commit()
        except BaseException:
            rollback()
            raise

    def begin(self) -> None:
        """Begin a transaction, which PostgreSQL hears of with its first statement."""
        self.execute_later("BEGIN")
        self._is_begun = True

    def commit(self) -> None:
        """End the transaction and keep what was done, what waits included."""
        # PostgreSQL answers COMMIT with a silent rollback when a statement failed before.
        if self.execute("COMMIT").answer.command_status != b"COMMIT":
            raise InFailedSqlTransaction
        self._is_begun = False

    def rollback(self) -> None:
        """Forget what waits, and undo the transaction that was begun, if one was."""
        self._statements.drop()
        self._is_begun = False
        if self._driver.pgconn.transaction_status in _BEGUN:
            # Where it cannot be said, PostgreSQL undoes it by itself; what went wrong before is what counts.
            with suppress(psycopg.OperationalError):
                # Not kept, because after a failure nothing makes room for it.
                self.execute("ROLLBACK", prepare=False)

    def settle(self) -> None:
        """Run what waits now."""
        if not self._statements.are_waiting:
            return
        try:
            self._driver.wait(self._statements.turn())
        except OUTDATED:
            # For a new connection nothing is kept.
            self._driver.close()
            raise
        except BaseException:
            # The answers to half a turn would be taken for those to the next.
            pgconn = self._driver.pgconn
            if pgconn.transaction_status == TransactionStatus.ACTIVE or pgconn.pipeline_status != PipelineStatus.OFF:
                self._driver.close()
            raise

    def _save(self) -> None:
        # At once, so that nothing that waited fails in the part.
        self.execute("SAVEPOINT part")

    def _release(self) -> None:
        # At once, so that nothing that waits in the part fails after it.
        self.execute("RELEASE SAVEPOINT part")

    def _go_back(self) -> None:
        self._statements.drop()
        with suppress(psycopg.OperationalError):
            # A part around this one goes back to a savepoint of the same name, so this one must not stay.
            self.execute("ROLLBACK TO SAVEPOINT part", prepare=False)
            self.execute("RELEASE SAVEPOINT part")


class Cursor(Generic[Row]):
    """Runs a statement and reads its rows; as much of the driver's cursor as is used, for a fraction of the price."""

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
        """Run a statement, after those that wait; `prepare` lets PostgreSQL keep it, with one plan for all values."""
        self._statement = self._statements.add(text, parameters, is_binary=self._is_binary, is_kept=prepare)
        self._connection.settle()
        return self

    def ask(self, text: Text, parameters: Parameters = ()) -> Cursor[Row]:
        """Run a statement together with the next one, or when its answer is asked for."""
        self._statement = self._statements.add(text, parameters, is_binary=self._is_binary, is_kept=True)
        return self

    @property
    def answer(self) -> PGresult:
        """What PostgreSQL says."""
        if self._statement.answer is None:
            self._connection.settle()
        assert self._statement.answer is not None, "who was told that it failed does not ask"
        return self._statement.answer

    @property
    def rowcount(self) -> int:
        """How many rows the statement found or changed."""
        answer = self.answer
        return answer.ntuples if answer.status == ExecStatus.TUPLES_OK else answer.command_tuples or 0

    def fetchone(self) -> Row | None:
        """Read the first row, if there is one."""
        rows = self._statements.rows(self.answer, self._row_factory, min(1, self.answer.ntuples))
        return rows[0] if rows else None

    def fetchall(self) -> list[Row]:
        """Read all rows."""
        return self._statements.rows(self.answer, self._row_factory, self.answer.ntuples)

    def __iter__(self) -> Iterator[Row]:
        """Read one row after the other."""
        return iter(self.fetchall())
