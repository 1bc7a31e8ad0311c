"""What is sent over one connection: statements, several at once where that is possible, and the answers to them.

A turn (one message to PostgreSQL and one answer from it) costs both sides more than most of our statements do, so what
nobody has to hear the answer to at once waits for the next statement and goes with it: BEGIN, and rows that are only
written. Every statement is prepared when it is first sent, and PostgreSQL keeps it; the driver's own cursor would ask
for the answer to each, and forget whatever is kept at every rollback
(`ops/decisions/0015-several-statements-per-round-trip.md`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, zip_longest
from typing import TYPE_CHECKING, Any, Final, LiteralString, TypeAlias

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus, Format
from psycopg.waiting import Ready, Wait

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from psycopg.abc import Buffer, PQGen
    from psycopg.pq.abc import PGresult

    from adapters.postgres.driver.rows import Row, RowFactory

    # As with the driver: a text that is not written in our code must be bytes, so that nobody puts values in unawares.
    Text: TypeAlias = LiteralString | bytes
    Parameters: TypeAlias = Sequence[Any] | Mapping[str, Any]
    # A text and the types of its values: what PostgreSQL plans a statement for.
    _Key: TypeAlias = tuple[bytes, tuple[int, ...]]

# How many statements PostgreSQL keeps for one connection; the one that was used longest ago makes room.
KEPT_MAX: Final = 200
# More texts than there are in the house.
TEXTS_MAX: Final = 1_000
# Of this process, so that two who use a connection of the driver one after the other never take the same name.
_NUMBERS: Final = count()
_ANSWERED: Final = frozenset({ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK, ExecStatus.EMPTY_QUERY})
_COPIES: Final = frozenset({ExecStatus.COPY_IN, ExecStatus.COPY_OUT})
_PLACEHOLDER: Final = re.compile(r"%(?:(s)|\((\w+)\)s|(%))")


@dataclass(slots=True)
class Statement:
    """A statement and its values as they are sent, and its answer when there is one.

    What is kept is prepared when it is first sent.
    """

    text: bytes
    values: Sequence[Buffer | None]
    types: tuple[int, ...]
    formats: Sequence[Format]
    answer_format: Format
    is_kept: bool
    answer: PGresult | None = None


@dataclass(frozen=True, slots=True)
class _Forgotten:
    """What PostgreSQL is told to keep no longer."""

    key: _Key
    name: bytes


class Statements:
    """What waits to be sent over a connection, and what PostgreSQL keeps for it."""

    def __init__(self, driver: psycopg.Connection[Any]) -> None:
        self._pgconn = driver.pgconn
        self._transformer = Transformer(driver)
        self._waiting: list[Statement] = []
        # The names of what is kept, the one that was used longest ago first.
        self._names: dict[_Key, bytes] = {}

    @property
    def are_waiting(self) -> bool:
        """Whether there is something to be sent."""
        return bool(self._waiting)

    def add(self, text: Text, parameters: Parameters, *, is_binary: bool, is_kept: bool) -> Statement:
        """Let a statement wait for the next turn; `is_binary` is of the answer."""
        numbered, places, names = _with_numbers(text)
        values = [parameters[name] for name in names] if isinstance(parameters, Mapping) else parameters
        assert len(values) == places, "every value has its place, and every place a value"
        transformer = self._transformer
        dumped = transformer.dump_sequence(values, [PyFormat.AUTO] * len(values))
        statement = Statement(
            numbered,
            dumped,
            transformer.types or (),
            transformer.formats or (),
            Format.BINARY if is_binary else Format.TEXT,
            is_kept,
        )
        self._waiting.append(statement)
        return statement

    def drop(self) -> None:
        """Forget what waits, and the answer that was read last."""
        self._waiting.clear()
        self._transformer.set_pgresult(None)

    def turn(self) -> PQGen[None]:
        """Send what waits and wait for the answers; the first failure is raised, and nothing after it is tried."""
        statements, self._waiting = self._waiting, []
        pgconn = self._pgconn
        is_alone = len(statements) == 1 and self._is_one_message(statements[0])
        if not is_alone:
            pgconn.enter_pipeline_mode()
        messages = [message for statement in statements for message in self._sent(statement)]
        if not is_alone:
            pgconn.pipeline_sync()
        while pgconn.flush():
            if (yield Wait.RW) & Ready.R:
                pgconn.consume_input()

        answers = yield from self._answers(is_alone=is_alone)
        if pgconn.status == ConnStatus.OK and not is_alone:
            pgconn.exit_pipeline_mode()
        self._take(messages, answers)

    def _is_one_message(self, statement: Statement) -> bool:
        return not statement.is_kept or (statement.text, statement.types) in self._names

    def _sent(self, statement: Statement) -> Generator[Statement | _Key | _Forgotten]:
        """Send what a statement takes; of each message say whether it is the statement or lets PostgreSQL keep one."""
        pgconn = self._pgconn
        if not statement.is_kept:
            pgconn.send_query_params(
                statement.text, statement.values, statement.types, statement.formats, statement.answer_format
            )
            yield statement
            return
        key = (statement.text, statement.types)
        name = self._names.pop(key, None)
        if name is None:
            if len(self._names) >= KEPT_MAX:
                oldest = next(iter(self._names))
                forgotten = _Forgotten(oldest, self._names.pop(oldest))
                pgconn.send_query_params(b"DEALLOCATE " + forgotten.name, None)
                yield forgotten
            name = b"kept_%d" % next(_NUMBERS)
            pgconn.send_prepare(name, statement.text, statement.types)
            yield key
        self._names[key] = name
        pgconn.send_query_prepared(name, statement.values, statement.formats, statement.answer_format)
        yield statement

    def _answers(self, *, is_alone: bool) -> PQGen[list[PGresult]]:
        pgconn = self._pgconn
        answers: list[PGresult] = []
        was_nothing = False
        while True:
            while pgconn.is_busy():
                yield Wait.R
                pgconn.consume_input()
            answer = pgconn.get_result()
            if answer is None:
                # Once it is the end of an answer, and twice of a connection that was lost in the middle.
                if is_alone or was_nothing:
                    return answers
            elif answer.status == ExecStatus.PIPELINE_SYNC:
                return answers
            else:
                # It would be answered for ever.
                assert answer.status not in _COPIES, "rows are taken in by `copy`"
                answers.append(answer)
            was_nothing = answer is None

    def _take(self, messages: Sequence[Statement | _Key | _Forgotten], answers: Sequence[PGresult]) -> None:
        failure: PGresult | None = None
        not_done: list[_Key | _Forgotten] = []
        # Where the connection was lost, answers are missing.
        for message, answer in zip_longest(messages, answers):
            if isinstance(message, Statement):
                # What failed has none, and neither has what was not tried any more.
                message.answer = answer if answer is not None and answer.status in _ANSWERED else None
            elif message is not None and (answer is None or answer.status != ExecStatus.COMMAND_OK):
                not_done.append(message)
            if failure is None and answer is not None and answer.status == ExecStatus.FATAL_ERROR:
                failure = answer
        # What was noted last is taken back first.
        for message in reversed(not_done):
            if isinstance(message, _Forgotten):
                # It is still kept, and still the oldest.
                self._names = {message.key: message.name} | self._names
            else:
                self._names.pop(message, None)
        if failure is not None:
            raise error_from_result(failure, self._transformer.encoding)
        if len(answers) < len(messages):
            raise psycopg.OperationalError("The connection was lost.")

    def rows(self, answer: PGresult, factory: RowFactory[Row], rows_max: int) -> list[Row]:
        """Read the first rows of an answer."""
        make = factory(_names_of_columns(answer))
        self._transformer.set_pgresult(answer)
        return self._transformer.load_rows(0, rows_max, make)


def _names_of_columns(answer: PGresult) -> list[str]:
    return [(answer.fname(column) or b"").decode() for column in range(answer.nfields)]


@lru_cache(TEXTS_MAX)
def _with_numbers(text: Text) -> tuple[bytes, int, tuple[str, ...]]:
    """Write a statement with the numbers that PostgreSQL wants; count them, and say in which order it names values."""
    numbers: dict[str, int] = {}
    places = 0

    def numbered(found: re.Match[str]) -> str:
        nonlocal places
        by_place, name, percent = found.groups()
        if percent:
            return "%"
        if by_place:
            places += 1
            return f"${places}"
        return f"${numbers.setdefault(name, len(numbers) + 1)}"

    written: str = text.decode() if isinstance(text, bytes) else text
    encoded = _PLACEHOLDER.sub(numbered, written).encode()
    return encoded, places + len(numbers), tuple(numbers)
