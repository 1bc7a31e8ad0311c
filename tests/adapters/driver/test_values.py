"""Values of statements: their placeholders, and how they are sent and received."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import LiteralString
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb

from adapters.postgres.driver.columns import scalar_row
from adapters.postgres.driver.connection import Connection


class TestPlaceholders:
    """Placeholders in the text of a statement."""

    def test_values_are_bound_by_position(self, connection: Connection) -> None:
        assert connection.execute("SELECT %s::int - %s::int", (7, 2)).fetchone() == (5,)

    def test_values_are_bound_by_name_even_if_named_repeatedly(self, connection: Connection) -> None:
        values = {"much": 7, "little": 2, "nowhere": 0}

        found = connection.execute(
            "SELECT %(much)s::int - %(little)s::int, %(little)s::int, %(much)s::int", values
        ).fetchone()

        assert found == (5, 2, 7)

    def test_a_percent_sign_can_be_literal(self, connection: Connection, subtests: pytest.Subtests) -> None:
        cases: list[tuple[LiteralString | bytes, object]] = [
            ("SELECT 7 %% 4", 3),
            ("SELECT 7 % 4", 3),
            ("SELECT 'half: 50%%'", "half: 50%"),
            ("SELECT '%%s'", "%s"),
            ("SELECT '%%(name)s'", "%(name)s"),
            ("SELECT '%%%%'", "%%"),
            (b"SELECT 9 %% 4", 1),
        ]
        for text, value in cases:
            with subtests.test(text=text, value=value):
                assert connection.execute(text).fetchone() == (value,)

    def test_a_statement_can_have_no_values(self, connection: Connection) -> None:
        assert connection.execute("SELECT 1").fetchone() == (1,)
        assert connection.execute("SELECT 1", {}).fetchone() == (1,)

    def test_a_name_without_a_value_is_an_error(self, connection: Connection) -> None:
        with pytest.raises(KeyError):
            connection.execute("SELECT %(name)s", {"another": 1})

        assert connection.execute("SELECT 1").fetchone() == (1,)

    @pytest.mark.parametrize("values", [(), (1, 2)], ids=["too few", "too many"])
    def test_another_number_of_values_than_placeholders_is_an_error(
        self, connection: Connection, values: tuple[int, ...]
    ) -> None:
        with pytest.raises(AssertionError, match="place"):
            connection.execute("SELECT %s::int", values)

        assert connection.execute("SELECT 1").fetchone() == (1,)

    def test_a_placeholder_inside_a_value_is_not_replaced(self, connection: Connection) -> None:
        assert connection.execute("SELECT %s::text", ("%s, %(name)s and 100%",)).fetchone() == (
            "%s, %(name)s and 100%",
        )


class TestValues:
    """A value that is sent comes back unchanged."""

    def test_a_value_comes_back_unchanged(self, connection: Connection, subtests: pytest.Subtests) -> None:
        cases: list[tuple[LiteralString, object]] = [
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
        ]
        for text, value in cases:
            for case, is_binary in (
                ("text", False),
                ("binary", True),
            ):
                with subtests.test(case=case, text=text, value=value):
                    found = (
                        connection.cursor(row_factory=scalar_row, binary=is_binary).execute(text, (value,)).fetchall()
                    )

                    assert found == [value]
                    assert type(found[0]) is type(value)

    @pytest.mark.parametrize("is_binary", [False, True], ids=["text", "binary"])
    def test_json_comes_back_unchanged(self, connection: Connection, *, is_binary: bool) -> None:
        value = {"a": [1, None, "ö"], "b": {"c": 0.5, "d": True}}

        found = connection.cursor(row_factory=scalar_row, binary=is_binary).execute("SELECT %s", (Jsonb(value),))

        assert found.fetchall() == [value]

    def test_text_with_a_zero_byte_is_refused_before_it_is_sent(self, connection: Connection) -> None:
        with pytest.raises(psycopg.DataError):
            connection.execute("SELECT %s::text", ("a\0b",))

        assert connection.execute("SELECT 1").fetchone() == (1,)
