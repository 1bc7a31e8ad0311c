"""Explanations of invalid input: what each declared type accepts, in plain words."""

from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated
from uuid import UUID

import msgspec
import pytest

from core.errors import BadRequest, FieldError
from entrypoints.web.input.decoding import decode_body
from entrypoints.web.input.explanations import PROBLEMS_MAX

UNSTORABLE = "This text contains a character that cannot be stored."
ID = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")


class Colour(Enum):
    """An enum."""

    RED = "red"
    BLUE = "blue"


class Address(msgspec.Struct):
    """The destination of a parcel."""

    street: str


class Freight(msgspec.Struct):
    """A body with a field of each kind."""

    colour: Colour | None = None
    wagons: dict[UUID, Annotated[int, msgspec.Meta(gt=0, lt=10)]] = {}
    size: tuple[int, int] = (0, 0)
    parcels: list[Address | None] = []
    position: float | bool = False
    day: date | None = None
    price: Decimal = Decimal(0)


@pytest.mark.parametrize(
    ("data", "field", "sentence"),
    [
        (b'{"colour": "green"}', "colour", "This must be one of these: red, blue."),
        (b'{"colour": []}', "colour", "This must be one of these: red, blue or null."),
        (b'{"wagons": {"x": 1}}', "wagons", "This must be an id (a UUID)."),
        (
            b'{"wagons": {"%s": 10}}' % str(ID).encode(),
            "wagons[...]",
            "This must be a whole number of more than 0 and less than 10.",
        ),
        (b'{"size": [1]}', "size", "This must be a list with a length of 2."),
        (b'{"size": [1, "x"]}', "size[1]", "This must be a whole number."),
        (b'{"parcels": [null, {"street": 1}]}', "parcels[1].street", "This must be text."),
        (b'{"parcels": [null, {}]}', "parcels[1].street", "This field is required."),
        (b'{"position": "x"}', "position", "This must be a number or true or false."),
        (b'{"position": -1e999}', "position", "This number is too small."),
        (b'{"day": "today"}', "day", "This must be a date such as 2026-01-31 (RFC 3339)."),
        (b'{"price": "x"}', "price", "This value is not valid."),
    ],
)
def test_every_declared_type_is_explained(data: bytes, field: str, sentence: str) -> None:
    with pytest.raises(BadRequest) as refused:
        decode_body(data, Freight)

    assert refused.value.details == (FieldError(field=field, message=sentence),)


class Crate(msgspec.Struct, kw_only=True):
    """A body with required fields, nested ones and a list of objects."""

    colour: Colour
    weight: Annotated[int, msgspec.Meta(ge=0, le=9)]
    address: Address | None = None
    stops: Annotated[list[Address], msgspec.Meta(max_length=2)] = []
    labels: list[Colour] = []


def problems_of(data: bytes) -> dict[str, str]:
    """Return what is wrong with each field of a rejected crate."""
    with pytest.raises(BadRequest) as refused:
        decode_body(data, Crate)
    return {problem.field: problem.message for problem in refused.value.details}


def test_every_invalid_field_is_named_at_once() -> None:
    data = b'{"colour": "green", "address": {}, "stops": [{"street": "a"}, {"street": 1}], "labels": ["red", "x", 1]}'

    assert problems_of(data) == {
        "colour": "This must be one of these: red, blue.",
        "weight": "This field is required.",
        "address.street": "This field is required.",
        "stops[1].street": "This must be text.",
        "labels[1]": "This must be one of these: red, blue.",
        "labels[2]": "This must be one of these: red, blue.",
    }


def test_a_list_of_valid_items_may_still_be_too_long() -> None:
    data = b'{"colour": "red", "weight": 1, "stops": [{"street": ""}, {"street": ""}, {"street": ""}]}'

    assert problems_of(data) == {"stops": "This must be a list with a length of at most 2."}


def test_a_text_that_cannot_be_stored_is_named_before_an_invalid_field() -> None:
    assert list(problems_of(rb'{"weight": 10, "colour": "red", "address": {"street": "\u0000"}}')) == [
        "address.street",
        "weight",
    ]


def test_each_field_is_named_once() -> None:
    assert problems_of(rb'{"colour": "\u0000", "weight": 1}') == {"colour": UNSTORABLE}


@pytest.mark.parametrize(
    ("data", "fields"),
    [
        # Each has an invalid field before the text, at which decoding stops.
        (rb'{"colour": 1, "weight": "\ud800"}', ["weight", "colour"]),
        (rb'{"colour": 1, "weight": ["\ud800"]}', ["weight[0]", "colour", "weight"]),
        (
            rb'{"colour": 1, "weight": {"\ud800": {"\udfff": true}}}',
            ["weight.\ufffd", "weight.\ufffd.\ufffd", "colour", "weight"],
        ),
        (rb'{"colour": 1, "weight": 1, "stops": [{"street": "a\ud800"}]}', ["stops[0].street", "colour"]),
        (rb'{"colour": 1, "weight": 1, "\ud800": 1}', ["\ufffd", "colour"]),
        (rb'{"colour": 1, "weight": 1, "is_fragile": "\ud800"}', ["is_fragile", "colour"]),
    ],
)
def test_a_lone_surrogate_is_named_at_any_depth_and_where_no_text_is_expected(data: bytes, fields: list[str]) -> None:
    problems = problems_of(data)

    assert list(problems) == fields
    assert problems[fields[0]] == UNSTORABLE


def test_the_message_of_a_refusal_states_every_problem() -> None:
    with pytest.raises(BadRequest) as refused:
        decode_body(b'{"colour": 1}', Crate)

    assert refused.value.message == ("colour: This must be one of these: red, blue. weight: This field is required.")


def test_a_refusal_names_a_bounded_number_of_fields() -> None:
    data = b'{"colour": "red", "weight": 1, "labels": [%s]}' % b",".join([b"1"] * 1000)

    assert len(problems_of(data)) == PROBLEMS_MAX
