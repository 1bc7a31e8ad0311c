"""The descriptions of the fields of a schema, and example values."""

from __future__ import annotations

import msgspec
import pytest

from entrypoints.pages.reference.field_rows import DEPTH_MAX, FieldRow, field_rows
from entrypoints.web.describing.examples import example
from entrypoints.web.describing.schemas import Schemas
from tests import specimen
from tests.specimen import Boat, Boats, BoatWanted, Knot


@pytest.fixture(scope="module")
def schemas() -> Schemas:
    """The schemas of the specimen."""
    return Schemas(specimen.routes.routes)


def rows_of(schemas: Schemas, shape: type) -> dict[str, FieldRow]:
    """Return the rows by name."""
    return {row.name: row for row in field_rows(schemas, schemas.of(shape))}


def test_nested_fields_are_named_with_their_path(schemas: Schemas) -> None:
    rows = rows_of(schemas, BoatWanted)

    assert list(rows) == ["name", "email", "colour", "sails", "sails[].square_metres", "sails[].sewn_at", "more"]
    assert "boats[].launched_at" in rows_of(schemas, Boats)


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        ("name", "text"),
        ("email", "text or null"),
        ("colour", "`green` or `red`"),
        ("sails", "list of object"),
        ("sails[].square_metres", "number"),
        ("sails[].sewn_at", "time"),
        ("more", "object"),
    ],
)
def test_the_type_of_a_field_is_described_in_words(schemas: Schemas, name: str, takes: str) -> None:
    assert rows_of(schemas, BoatWanted)[name].takes == takes


@pytest.mark.parametrize(
    ("name", "remarks"),
    [
        ("name", "What is painted on it. 1 to 100 characters."),
        ("email", "The email address. At most 254 characters."),
        ("colour", "`green` when left out."),
        ("sails", "At most 5 items."),
        ("sails[].square_metres", "More than 0."),
        ("more", ""),
    ],
)
def test_the_limits_of_a_field_are_described_in_words(schemas: Schemas, name: str, remarks: str) -> None:
    assert rows_of(schemas, BoatWanted)[name].remarks == remarks


def test_a_recursive_type_is_shown_to_a_maximum_depth(schemas: Schemas) -> None:
    deepest = max(rows_of(schemas, Knot), key=len)

    assert deepest.count("inner") == DEPTH_MAX


def test_equal_limits_are_one_number(schemas: Schemas) -> None:
    assert rows_of(schemas, Knot)["colours"].remarks == "Exactly 2 items."


def test_a_field_of_any_type_takes_anything(schemas: Schemas) -> None:
    assert rows_of(schemas, Knot)["note"].takes == "anything"


def test_required_and_optional_fields_are_distinguished(schemas: Schemas) -> None:
    rows = rows_of(schemas, BoatWanted)

    assert rows["name"].is_required
    assert not rows["email"].is_required


def test_an_id_is_described_as_an_id(schemas: Schemas) -> None:
    assert rows_of(schemas, Boat)["id"].takes == "id"


@pytest.mark.parametrize("shape", [BoatWanted, Boat, Boats, Knot])
def test_an_example_is_valid_for_its_type(schemas: Schemas, shape: type) -> None:
    value = example(schemas, schemas.of(shape))

    assert msgspec.convert(value, shape, strict=True)


def test_an_example_has_only_the_required_fields(schemas: Schemas) -> None:
    assert example(schemas, schemas.of(BoatWanted)) == {"name": "Example"}
