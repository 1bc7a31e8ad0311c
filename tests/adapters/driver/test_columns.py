"""The columns and parameters of an entity."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from psycopg.types.json import Jsonb

from adapters.postgres.driver.columns import assignments, columns, placeholders, prefixed, taken, values


class Colour(StrEnum):
    """A colour."""

    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lamp:
    """A lamp."""

    id: int
    colours: list[Colour]
    sizes: dict[str, Any] | None


def test_columns_are_the_fields_of_an_entity() -> None:
    assert columns(Lamp) == "id, colours, sizes"
    assert columns(Lamp, table="l", without=("id",)) == "l.colours, l.sizes"
    assert (
        prefixed(Lamp, table="l", prefix="lamp_") == "l.id AS lamp_id, l.colours AS lamp_colours, l.sizes AS lamp_sizes"
    )


def test_a_statement_that_writes_names_the_parameters_like_the_fields() -> None:
    assert placeholders(Lamp) == "%(id)s, %(colours)s, %(sizes)s"
    assert assignments(Lamp, without=("id",)) == "colours = %(colours)s, sizes = %(sizes)s"


def test_parameters_are_stored_as_arrays_objects_and_the_values_of_enums() -> None:
    stored = values(Lamp(id=1, colours=[Colour.RED], sizes={"height": 3}))

    assert isinstance(stored["sizes"], Jsonb)
    assert stored["sizes"].obj == {"height": 3}
    assert stored == {"id": 1, "colours": ["red"], "sizes": stored["sizes"]}
    assert type(stored["colours"][0]) is str
    assert values(Lamp(id=1, colours=[], sizes=None))["sizes"] is None


def test_the_columns_with_a_prefix_are_taken_from_a_row() -> None:
    row = {"id": 1, "lamp_id": 2}

    assert taken(row, "lamp_") == {"id": 2}
    assert row == {"id": 1}
