"""Explanations of invalid input: what each declared type accepts, in plain words."""

from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated
from uuid import UUID

import msgspec
import pytest

from core.errors import BadRequest, FieldProblem
from entrypoints.web.decoding import decode_body

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

    assert refused.value.details == (FieldProblem(field=field, message=sentence),)
