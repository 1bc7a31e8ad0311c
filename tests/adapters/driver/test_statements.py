"""What is sent over a connection: values in their places, what PostgreSQL keeps, and several statements in one turn."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from threading import Timer
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest
from psycopg.pq import PipelineStatus, TransactionStatus
from psycopg.types.json import Jsonb

from adapters.postgres.driver import statements
from adapters.postgres.driver.connection import Connection
from adapters.postgres.driver.rows import scalar_row
from tests.postgres import connected, driver_of

if TYPE_CHECKING:
    from typing import LiteralString

# More than a socket takes in one piece, so that both sides have something to write at the same time.
MANY_BYTES = 4 * 2**20
PARAMETERS_MAX = 65_535


def kept(connection: Connection) -> list[tuple[Any, ...]]:
    """List the texts that PostgreSQL keeps for a connection and the types of their values, the oldest first."""
    return (
        driver_of(connection)
        .execute("SELECT statement, parameter_types::text[] FROM pg_prepared_statements ORDER BY prepare_time, name")
        .fetchall()
    )


def texts_kept(connection: Connection) -> set[str]:
    return {text for text, _ in kept(connection)}


def value_of(connection: Connection, text: LiteralString, *values: object) -> Any:
    """Ask for one value."""
    [[value]] = connection.execute(text, values)
    return value


class TestPlaceholders:
    """What stands for a value in a text."""

    def test_values_go_in_by_their_places(self, connection: Connection) -> None:
        assert connection.execute("SELECT %s::int - %s::int", (7, 2)).fetchone() == (5,)

    def test_values_go_in_by_their_names_as_often_as_they_are_named(self, connection: Connection) -> None:
        values = {"much": 7, "little": 2, "nowhere": 0}

        found = connection.execute(
            "SELECT %(much)s::int - %(little)s::int, %(little)s::int, %(much)s::int", values
        ).fetchone()

        assert found == (5, 2, 7)

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("SELECT 7 %% 4", 3),
            ("SELECT 7 % 4", 3),
            ("SELECT 'half: 50%%'", "half: 50%"),
            ("SELECT '%%s'", "%s"),
            ("SELECT '%%(name)s'", "%(name)s"),
            ("SELECT '%%%%'", "%%"),
            (b"SELECT 9 %% 4", 1),
        ],
    )
    def test_a_percent_sign_may_stand_for_itself(
        self, connection: Connection, text: LiteralString | bytes, value: object
    ) -> None:
        assert connection.execute(text).fetchone() == (value,)

    def test_there_may_be_none(self, connection: Connection) -> None:
        assert connection.execute("SELECT 1").fetchone() == (1,)
        assert connection.execute("SELECT 1", {}).fetchone() == (1,)

    def test_a_name_without_a_value_is_a_mistake(self, connection: Connection) -> None:
        with pytest.raises(KeyError):
            connection.execute("SELECT %(name)s", {"another": 1})

        assert connection.execute("SELECT 1").fetchone() == (1,)

    @pytest.mark.parametrize("values", [(), (1, 2)], ids=["too few", "too many"])
    def test_values_without_a_place_and_places_without_a_value_are_mistakes(
        self, connection: Connection, values: tuple[int, ...]
    ) -> None:
        with pytest.raises(AssertionError, match="place"):
            connection.execute("SELECT %s::int", values)

        assert connection.execute("SELECT 1").fetchone() == (1,)

    def test_what_looks_like_a_placeholder_in_a_value_is_none(self, connection: Connection) -> None:
        assert connection.execute("SELECT %s::text", ("%s, %(name)s and 100%",)).fetchone() == (
            "%s, %(name)s and 100%",
        )


class TestValues:
    """What goes in comes out."""

    @pytest.mark.parametrize("is_binary", [False, True], ids=["text", "binary"])
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("SELECT %s::text", None),
            ("SELECT %s::uuid", None),
            ("SELECT %s::text", ""),
            ("SELECT %s::text", "ö, 語, 'quoted', \"twice\" and \\"),
            ("SELECT %s::boolean", True),
            ("SELECT %s::smallint", -1),
            ("SELECT %s::integer", 2**31 - 1),
            ("SELECT %s::bigint", -(2**63)),
            ("SELECT %s::numeric", Decimal("12345678901234567890.10")),
            ("SELECT %s::double precision", 0.1),
            ("SELECT %s::timestamptz", datetime(2026, 2, 3, 4, 5, 6, 789, tzinfo=UTC)),
            ("SELECT %s::timestamptz", datetime(2026, 2, 3, 4, 5, 6, tzinfo=timezone(timedelta(hours=9)))),
            ("SELECT %s::date", date(2026, 2, 3)),
            ("SELECT %s::interval", timedelta(days=3, seconds=4, microseconds=5)),
            ("SELECT %s::uuid", UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")),
            ("SELECT %s::bytea", b"\x00\xff'\\"),
            ("SELECT %s::integer[]", [1, None, 2**20]),
            ("SELECT %s::text[]", ["", "a,b", '"', "NULL", None]),
            ("SELECT %s::uuid[]", [UUID(int=1), UUID(int=2)]),
            ("SELECT %s::text[]", []),
        ],
    )
    def test_each_is_the_same(
        self, connection: Connection, text: LiteralString, value: object, *, is_binary: bool
    ) -> None:
        found = connection.cursor(row_factory=scalar_row, binary=is_binary).execute(text, (value,)).fetchall()

        assert found == [value]
        assert type(found[0]) is type(value)

    @pytest.mark.parametrize("is_binary", [False, True], ids=["text", "binary"])
    def test_json_is_the_same(self, connection: Connection, *, is_binary: bool) -> None:
        value = {"a": [1, None, "ö"], "b": {"c": 0.5, "d": True}}

        found = connection.cursor(row_factory=scalar_row, binary=is_binary).execute("SELECT %s", (Jsonb(value),))

        assert found.fetchall() == [value]

    def test_text_with_a_zero_byte_is_refused_before_it_is_sent(self, connection: Connection) -> None:
        with pytest.raises(psycopg.DataError):
            connection.execute("SELECT %s::text", ("a\0b",))

        assert connection.execute("SELECT 1").fetchone() == (1,)


class TestKept:
    """What PostgreSQL keeps: each statement once, for each kind of values."""

    def test_a_statement_is_prepared_once_for_the_types_of_its_values(self, connection: Connection) -> None:
        for value in (1, 2, None, "3", 2**20, 3, None, "4"):
            assert value_of(connection, "SELECT %s::numeric", value) == (None if value is None else Decimal(value))

        assert kept(connection) == [
            ("SELECT $1::numeric", ["smallint"]),
            ("SELECT $1::numeric", ["numeric"]),
            ("SELECT $1::numeric", ["integer"]),
        ]

    def test_what_goes_together_is_gatehouse_as_well(self, connection: Connection) -> None:
        connection.execute_later("SELECT 1")
        connection.execute("SELECT 2")
        before = kept(connection)

        connection.execute_later("SELECT 1")
        connection.execute("SELECT 2")

        assert [text for text, _ in before] == ["SELECT 1", "SELECT 2"]
        assert kept(connection) == before

    def test_what_is_not_to_be_gatehouse_is_not(self, connection: Connection) -> None:
        assert connection.execute("SELECT %s::int", (1,), prepare=False).fetchone() == (1,)
        connection.execute_later("SELECT 2")
        assert connection.execute("SELECT %s::int", (3,), prepare=False).fetchone() == (3,)

        assert texts_kept(connection) == {"SELECT 2"}

    @pytest.mark.parametrize("others", [0, 2])
    def test_what_cannot_be_prepared_is_not_taken_for_kept(self, connection: Connection, others: int) -> None:
        for _ in range(others):
            connection.execute_later("SELECT 1")
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("SELECT count(*) FROM shelf")

        connection.execute("CREATE TABLE shelf ()")

        assert connection.execute("SELECT count(*) FROM shelf").fetchone() == (0,)
        assert "SELECT count(*) FROM shelf" in texts_kept(connection)

    def test_what_was_not_tried_any_more_is_not_taken_for_kept(self, connection: Connection) -> None:
        connection.execute_later("SELECT 1 / 0")
        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.execute("SELECT 'later'")

        assert texts_kept(connection) == {"SELECT 1 / 0"}
        assert connection.execute("SELECT 'later'").fetchone() == ("later",)

    def test_what_fails_with_some_values_is_gatehouse_for_others(self, connection: Connection) -> None:
        assert value_of(connection, "SELECT 6 / %s::int", 2) == 3
        before = kept(connection)

        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.execute("SELECT 6 / %s::int", (0,))

        assert value_of(connection, "SELECT 6 / %s::int", 3) == 2
        assert kept(connection) == before

    def test_a_rollback_lets_nothing_go(self, connection: Connection) -> None:
        def look_and_fail() -> None:
            with connection.transaction():
                connection.execute("SELECT 1")
                raise LookupError

        with pytest.raises(LookupError):
            look_and_fail()
        before = kept(connection)
        with pytest.raises(LookupError):
            look_and_fail()

        assert {"BEGIN", "SELECT 1"} <= {text for text, _ in before}
        assert kept(connection) == before

    def test_when_there_are_too_many_the_one_that_was_used_longest_ago_goes(
        self, connection: Connection, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(statements, "PREPARED_MAX", 2)
        for text in ("SELECT 1", "SELECT 2", "SELECT 1"):
            connection.execute(text)

        assert connection.execute("SELECT 3").fetchone() == (3,)

        assert texts_kept(connection) == {"SELECT 1", "SELECT 3"}
        assert connection.execute("SELECT 2").fetchone() == (2,)
        assert texts_kept(connection) == {"SELECT 3", "SELECT 2"}

    def test_too_many_may_go_together(self, connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(statements, "PREPARED_MAX", 2)
        cursors = [connection.cursor().defer(b"SELECT %d" % (number % 4)) for number in range(10)]

        assert [cursor.fetchone() for cursor in cursors] == [(number % 4,) for number in range(10)]

        assert texts_kept(connection) == {"SELECT 0", "SELECT 1"}

    def test_when_there_are_too_many_a_failure_can_still_be_undone(
        self, connection: Connection, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(statements, "PREPARED_MAX", 2)

        def fail() -> None:
            with connection.transaction():
                connection.execute("SELECT 1 / %s::int", (1,))
                connection.execute("SELECT 1 / %s::int", (0,))

        for _ in range(2):
            with pytest.raises(psycopg.errors.DivisionByZero):
                fail()

        assert driver_of(connection).info.transaction_status == TransactionStatus.IDLE
        assert len(texts_kept(connection)) == 2

    def test_when_there_are_too_many_a_part_that_fails_can_still_be_undone(
        self, connection: Connection, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(statements, "PREPARED_MAX", 2)

        with connection.transaction():
            value_of(connection, "SELECT 1 / %s::int", 1)
            with pytest.raises(psycopg.errors.DivisionByZero), connection.transaction():
                value_of(connection, "SELECT 1 / %s::int", 0)
            found = value_of(connection, "SELECT 7")

        assert found == 7

    def test_who_uses_a_connection_of_the_driver_next_has_names_of_their_own(self, connection: Connection) -> None:
        connection.execute("SELECT 1")

        another = Connection(driver_of(connection))

        assert another.execute("SELECT 2").fetchone() == (2,)

    def test_what_could_not_make_room_is_not_gatehouse_for_ever(
        self, connection: Connection, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(statements, "PREPARED_MAX", 2)

        def fail(number: int) -> None:
            connection.execute_later("SELECT 1 / 0")
            connection.execute(b"SELECT %d" % number)

        for number in range(0, 15, 3):
            connection.execute(b"SELECT %d" % number)
            connection.execute(b"SELECT %d" % (number + 1))
            with pytest.raises(psycopg.errors.DivisionByZero):
                fail(number + 2)

        assert len(kept(connection)) <= 2


class TestTurns:
    """Several statements in one message, and their answers in another."""

    @pytest.fixture(autouse=True)
    def _shelf(self, connection: Connection) -> None:
        connection.execute("CREATE TABLE shelf (id integer PRIMARY KEY)")

    def test_what_waits_goes_with_the_next_in_order(self, connection: Connection, database_url: str) -> None:
        with connected(database_url) as other:
            connection.execute_later("INSERT INTO shelf VALUES (1)")
            connection.execute_later("UPDATE shelf SET id = id + 1")
            before = value_of(other, "SELECT count(*) FROM shelf")

            found = connection.execute("SELECT id FROM shelf").fetchall()

        assert before == 0
        assert found == [(2,)]

    def test_they_are_one_transaction(self, connection: Connection) -> None:
        connection.execute_later("INSERT INTO shelf VALUES (1)")
        connection.execute_later("INSERT INTO shelf VALUES (2)")
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO shelf VALUES (1)")

        assert value_of(connection, "SELECT count(*) FROM shelf") == 0

    def test_after_a_failure_the_others_are_not_run(self, connection: Connection) -> None:
        # What a sequence gave is not undone.
        connection.execute("CREATE SEQUENCE runs")
        connection.execute_later("SELECT nextval('runs')")
        connection.execute_later("SELECT 1 / 0")
        connection.execute_later("SELECT nextval('runs')")
        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.flush()

        assert value_of(connection, "SELECT nextval('runs')") == 2

    def test_the_first_failure_is_told(self, connection: Connection) -> None:
        connection.execute_later("SELECT 1 / 0")
        connection.execute_later("SELECT nothing")

        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.flush()

    def test_who_asks_for_the_answer_of_what_failed_or_was_not_run_gets_none(self, connection: Connection) -> None:
        before, failed, after = (
            connection.cursor().defer(text) for text in (b"SELECT 1", b"SELECT 1 / 0", b"SELECT 2")
        )
        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.flush()

        assert before.fetchall() == [(1,)]
        for cursor in (failed, after):
            with pytest.raises(AssertionError):
                cursor.fetchall()

    def test_what_is_checked_at_the_end_of_the_turn_can_fail_too(self, connection: Connection) -> None:
        connection.execute("CREATE TABLE books (shelf integer REFERENCES shelf DEFERRABLE INITIALLY DEFERRED)")
        connection.execute_later("INSERT INTO books VALUES (1)")

        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            connection.execute("SELECT 1")

        assert connection.execute("SELECT 2").fetchone() == (2,)

    def test_one_statement_that_is_gatehouse_is_a_message_of_its_own(
        self, connection: Connection, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen: list[int] = []
        driver = driver_of(connection)
        wait = driver.wait

        def watching_wait(work: Any) -> Any:
            def watched() -> Any:
                wanted = next(work)
                seen.append(driver.pgconn.pipeline_status)
                while True:
                    try:
                        wanted = work.send((yield wanted))
                    except StopIteration as end:
                        return end.value

            return wait(watched())

        monkeypatch.setattr(driver, "wait", watching_wait)

        for _ in range(2):
            connection.execute("SELECT 1")
        connection.execute("SELECT 2", prepare=False)

        assert seen == [PipelineStatus.ON, PipelineStatus.OFF, PipelineStatus.OFF]

    @pytest.mark.parametrize("statements_before", [0, 1, 5])
    def test_much_goes_in_both_directions_at_once(self, connection: Connection, statements_before: int) -> None:
        much = "x" * MANY_BYTES
        cursors = [connection.cursor().defer("SELECT %s::text", (much,)) for _ in range(statements_before)]

        assert connection.execute("SELECT %s::text", (much,)).fetchone() == (much,)
        assert all(cursor.fetchone() == (much,) for cursor in cursors)

    def test_very_many_go_together(self, connection: Connection) -> None:
        connection.execute_each("INSERT INTO shelf VALUES (%s)", ((number,) for number in range(10_000)))

        assert value_of(connection, "SELECT count(*) FROM shelf") == 10_000

    @pytest.mark.parametrize("statements_before", [0, 1, 3])
    def test_a_turn_that_cannot_be_sent_closes_the_connection(
        self, connection: Connection, statements_before: int
    ) -> None:
        """Otherwise the answers to what was sent of it would be taken for those of the next turn."""
        for _ in range(statements_before):
            connection.execute_later("SELECT 1")

        with pytest.raises(psycopg.OperationalError, match="parameters"):
            connection.execute(b"SELECT " + b", ".join([b"%s"] * (PARAMETERS_MAX + 1)), range(PARAMETERS_MAX + 1))

        assert connection.closed

    @pytest.mark.parametrize("prepare", [True, False])
    @pytest.mark.parametrize("text", ["COPY shelf FROM STDIN", "COPY shelf TO STDOUT"])
    def test_what_copies_is_no_statement(self, connection: Connection, text: LiteralString, *, prepare: bool) -> None:
        with pytest.raises(AssertionError, match="copy"):
            connection.execute(text, prepare=prepare)

        assert connection.closed


class TestLostConnections:
    """A connection that ends in the middle."""

    @pytest.mark.parametrize("is_kept", [False, True], ids=["first time", "kept"])
    @pytest.mark.parametrize("statements_after", [0, 2])
    @pytest.mark.parametrize("statements_before", [0, 2])
    def test_who_waits_for_an_answer_is_told(
        self,
        connection: Connection,
        database_url: str,
        statements_before: int,
        statements_after: int,
        *,
        is_kept: bool,
    ) -> None:
        text = "SELECT pg_sleep(%s)"
        if is_kept:
            connection.execute(text, (0.0,))
        pid = driver_of(connection).info.backend_pid
        for _ in range(statements_before):
            connection.execute_later("SELECT 1")
        connection.execute_later(text, (60.0,))
        for _ in range(statements_after):
            connection.execute_later("SELECT 2")

        with connected(database_url) as other:
            end = Timer(0.05, other.execute, ("SELECT pg_terminate_backend(%s)", (pid,)))
            end.start()
            with pytest.raises(psycopg.OperationalError):
                connection.flush()
            end.join()

        assert connection.closed

    @pytest.mark.parametrize("statements_before", [0, 2])
    def test_who_comes_afterwards_is_told(
        self, connection: Connection, database_url: str, statements_before: int
    ) -> None:
        pid = driver_of(connection).info.backend_pid
        with connected(database_url) as other:
            assert value_of(other, "SELECT pg_terminate_backend(%s, 1000)", pid)
        for _ in range(statements_before):
            connection.execute_later("SELECT 1")

        for _ in range(2):
            with pytest.raises(psycopg.OperationalError):
                connection.execute("SELECT 2")

        assert connection.closed
