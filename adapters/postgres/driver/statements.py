"""Sending statements over one connection, several in one round trip where that is possible.

A round trip costs both sides more than most of our statements do. So a statement whose answer is not needed at once,
such as BEGIN or an INSERT, is deferred and sent with the next one. Every statement is prepared when it is first
sent, and PostgreSQL keeps it; the driver's own cursor would take a round trip for each and forget all prepared
statements at every rollback (`ops/decisions/0015-several-statements-per-round-trip.md`).
"""

from __future__ import annotations

import re
import secrets
import sys
from collections.abc import Generator, Sequence
from functools import lru_cache
from itertools import count, zip_longest
from typing import Any, Final, LiteralString, TypeAlias

import msgspec
import psycopg
from psycopg import generators
from psycopg.abc import Buffer, PQGen
from psycopg.adapt import Loader, PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus, Format
from psycopg.pq.abc import PGresult
from psycopg.waiting import Ready, Wait

from adapters.postgres.driver.columns import Row, RowFactory
from core.lazy_dataclasses import dataclass

# As with the driver: a text that is not a literal of our code must be bytes, so that no value gets in by accident.
Text: TypeAlias = LiteralString | bytes
Parameters: TypeAlias = Sequence[Any] | dict[str, Any]
# A text and the types of its values, for which PostgreSQL plans a statement.
_Key: TypeAlias = tuple[bytes, tuple[int, ...]]


# How many statements PostgreSQL keeps for one connection; the least recently used one makes room.
PREPARED_MAX: Final = 200
# More statements than there are in the code.
TEXTS_MAX: Final = 1_000
PREFIX_BYTES: Final = 8
_ANSWERED: Final = frozenset({ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK, ExecStatus.EMPTY_QUERY})
_COPIES: Final = frozenset({ExecStatus.COPY_IN, ExecStatus.COPY_OUT})
_PLACEHOLDER: Final = re.compile(r"%(?:(s)|\((\w+)\)s|(%))")


@dataclass(slots=True)
class Statement:
    """A statement with its values as they are sent, and its answer once there is one."""

    text: bytes
    values: Sequence[Buffer | None]
    types: tuple[int, ...]
    formats: Sequence[Format]
    answer_format: Format
    is_prepared: bool
    answer: PGresult | None = None


@dataclass(frozen=True, slots=True)
class _Deallocation:
    """A message that makes PostgreSQL drop a prepared statement."""

    key: _Key
    name: bytes


class _JsonLoader(Loader):
    # The function itself: without a frame of Python between, it takes a tenth of the time of the driver's.
    load: Any = staticmethod(msgspec.json.decode)


class Statements:
    """The deferred statements of a connection, and the prepared ones that PostgreSQL keeps for it.

    `mark` is a comment behind each prepared statement. A pooler that keeps them by their texts plans those with another
    mark anew.
    """

    def __init__(self, driver: psycopg.Connection[Any], mark: bytes = b"") -> None:
        self._pgconn = driver.pgconn
        self._mark = mark
        for name in ("json", "jsonb"):
            driver.adapters.register_loader(name, _JsonLoader)
        self._transformer = Transformer(driver)
        self._deferred: list[Statement] = []
        # Behind a pooler two connections may share a process of PostgreSQL, where a name means one statement for both.
        self.prefix = b"gatehouse_" + secrets.token_hex(PREFIX_BYTES).encode()
        self._numbers = count()
        # The names of the prepared statements, the least recently used one first.
        self._names: dict[_Key, bytes] = {}
        # The names of their columns, which the driver would ask for one by one.
        self._columns: dict[_Key, Sequence[str]] = {}

    @property
    def are_deferred(self) -> bool:
        """Whether there are statements to be sent."""
        return bool(self._deferred)

    @property
    def deferred_number(self) -> int:
        """How many statements are to be sent."""
        return len(self._deferred)

    def deferred_texts(self) -> Sequence[bytes]:
        """Return the texts of the statements to be sent."""
        return [statement.text for statement in self._deferred]

    def add(self, text: Text, parameters: Parameters, *, is_binary: bool, is_prepared: bool) -> Statement:
        """Defer a statement to the next round trip; `is_binary` is the format of the answer."""
        numbered, places, names = _numbered(text)
        values = [parameters[name] for name in names] if isinstance(parameters, dict) else parameters
        assert len(values) == places, "the number of values differs from the number of placeholders"
        transformer = self._transformer
        dumped = transformer.dump_sequence(values, [PyFormat.AUTO] * len(values))
        statement = Statement(
            numbered,
            dumped,
            transformer.types or (),
            transformer.formats or (),
            Format.BINARY if is_binary else Format.TEXT,
            is_prepared,
        )
        self._deferred.append(statement)
        return statement

    def drop(self) -> None:
        """Drop the deferred statements, and the answer that was read last."""
        self._deferred.clear()
        self._transformer.set_pgresult(None)

    def round_trip(self) -> PQGen[None]:
        """Send the deferred statements and read the answers; raise the first failure, after which none is executed."""
        statements, self._deferred = self._deferred, []
        pgconn = self._pgconn
        is_alone = len(statements) == 1 and self._is_one_message(statements[0])
        if not is_alone:
            pgconn.enter_pipeline_mode()
        messages = [message for statement in statements for message in self._send(statement)]
        if not is_alone:
            pgconn.pipeline_sync()
        while pgconn.flush():
            if (yield Wait.RW) & Ready.R:
                pgconn.consume_input()

        answers = yield from self._receive(is_alone=is_alone)
        if pgconn.status == ConnStatus.OK and not is_alone:
            pgconn.exit_pipeline_mode()
        self._assign(messages, answers)

    def _is_one_message(self, statement: Statement) -> bool:
        return not statement.is_prepared or (statement.text, statement.types) in self._names

    def _send(self, statement: Statement) -> Generator[Statement | _Key | _Deallocation]:
        """Send a statement; yield each message: a deallocation, the key of a preparation, the statement itself."""
        pgconn = self._pgconn
        if not statement.is_prepared:
            pgconn.send_query_params(
                statement.text, statement.values, statement.types, statement.formats, statement.answer_format
            )
            yield statement
            return
        key = (statement.text, statement.types)
        name = self._names.pop(key, None)
        if name is None:
            if len(self._names) >= PREPARED_MAX:
                oldest = next(iter(self._names))
                deallocation = _Deallocation(oldest, self._names.pop(oldest))
                self._columns.pop(oldest, None)
                # By the protocol, because a pooler gives the statement another name, which DEALLOCATE would miss.
                pgconn.send_close_prepared(deallocation.name)
                yield deallocation
            name = b"%s_%d" % (self.prefix, next(self._numbers))
            self._columns.pop(key, None)
            pgconn.send_prepare(name, statement.text + self._mark, statement.types)
            yield key
        self._names[key] = name
        pgconn.send_query_prepared(name, statement.values, statement.formats, statement.answer_format)
        yield statement

    def _receive(self, *, is_alone: bool) -> PQGen[list[PGresult]]:
        pgconn = self._pgconn
        answers: list[PGresult] = []
        was_none = False
        while True:
            while pgconn.is_busy():
                yield Wait.R
                pgconn.consume_input()
            answer = pgconn.get_result()
            if answer is None:
                # None ends an answer; a second None in a row means that the connection was lost.
                if is_alone or was_none:
                    return answers
            elif answer.status == ExecStatus.PIPELINE_SYNC:
                return answers
            else:
                # libpq returns this answer again and again until the copy ends.
                assert answer.status not in _COPIES, "COPY was sent as a statement instead of by `copy`"
                answers.append(answer)
            was_none = answer is None

    def _assign(self, messages: Sequence[Statement | _Key | _Deallocation], answers: Sequence[PGresult]) -> None:
        failure: PGresult | None = None
        failed_messages: list[_Key | _Deallocation] = []
        # When the connection was lost, answers are missing.
        for message, answer in zip_longest(messages, answers):
            if isinstance(message, Statement):
                # A statement that failed has no answer, and neither has one that was not executed.
                message.answer = answer if answer is not None and answer.status in _ANSWERED else None
            elif message is not None and (answer is None or answer.status != ExecStatus.COMMAND_OK):
                failed_messages.append(message)
            if failure is None and answer is not None and answer.status == ExecStatus.FATAL_ERROR:
                failure = answer
        # The record of prepared statements is corrected in reverse order.
        for message in reversed(failed_messages):
            if isinstance(message, _Deallocation):
                # PostgreSQL still keeps it, and it is still the oldest.
                self._names = {message.key: message.name} | self._names
            else:
                self._names.pop(message, None)
        if failure is not None:
            raise error_from_result(failure, self._transformer.encoding)
        if len(answers) < len(messages):
            raise psycopg.OperationalError("The connection was lost.")

    def close(self) -> PQGen[None]:
        """Drop the prepared statements."""
        while self._names:
            _, name = self._names.popitem()
            self._pgconn.send_close_prepared(name)
            yield from generators.execute(self._pgconn)

    def rows(self, statement: Statement, factory: RowFactory[Row], rows_max: int | None = None) -> list[Row]:
        """Return the first rows of the answer to a statement; all of them without a number."""
        answer = statement.answer
        assert answer is not None, "the statement failed, so it has no answer"
        make = factory(self._column_names(statement, answer))
        self._transformer.set_pgresult(answer)
        count = answer.ntuples if rows_max is None else min(rows_max, answer.ntuples)
        return self._transformer.load_rows(0, count, make)

    def _column_names(self, statement: Statement, answer: PGresult) -> Sequence[str]:
        key = (statement.text, statement.types)
        names = self._columns.get(key) if statement.is_prepared else None
        if names is None:
            # Interned, as the names of parameters are: else a call with many compares each with each by its text.
            names = [sys.intern((answer.fname(column) or b"").decode()) for column in range(answer.nfields)]
            if statement.is_prepared:
                self._columns[key] = names
        return names


@lru_cache(TEXTS_MAX)
def _numbered(text: Text) -> tuple[bytes, int, tuple[str, ...]]:
    """Return the statement with PostgreSQL's numbered placeholders, how many there are, and the order of named ones."""
    numbers: dict[str, int] = {}
    places = 0

    def numbered_placeholder(found: re.Match[str]) -> str:
        nonlocal places
        by_place, name, percent = found.groups()
        if percent:
            return "%"
        if by_place:
            places += 1
            return f"${places}"
        return f"${numbers.setdefault(name, len(numbers) + 1)}"

    written: str = text.decode() if isinstance(text, bytes) else text
    encoded = _PLACEHOLDER.sub(numbered_placeholder, written).encode()
    return encoded, places + len(numbers), tuple(numbers)
