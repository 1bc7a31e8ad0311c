"""Routes that take a body, a query, an id and a text, for tests of decoding."""

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from entrypoints.web.input.decoding import (
    Query,
)
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes
from tests.web.probe import Answer, ask, serving

ID = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")


class Address(msgspec.Struct):
    """The destination of a parcel."""

    street: str


class Parcel(msgspec.Struct):
    """A body with every kind of field."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=10)]
    weight: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 0
    price: float = 0.0
    note: str | None = None
    kind: Literal["letter", "box"] = "letter"
    is_fragile: bool = False
    address: Address | None = None
    tags: Annotated[list[str], msgspec.Meta(max_length=2)] = []
    colour: Annotated[str, msgspec.Meta(pattern="^str|int$")] = "str"
    owner: UUID | None = None
    sent_at: datetime | None = None
    marks: dict[str, str] = {}


class Search(Query):
    """A query with a text, an optional number, a boolean, an optional day and a list."""

    text: str = ""
    age: int | None = None
    is_open: bool = False
    day: date | None = None
    chosen: Annotated[list[UUID], msgspec.Meta(description="The ticked boxes.")] = msgspec.field(
        default_factory=list[UUID]
    )


routes = Routes("parcels", "Routes of this test.")


@routes.post("/parcels")
@public
async def post(call: Call, body: Parcel) -> Parcel:
    """Return the parcel."""
    return body


@routes.get("/parcels")
@public
async def search(call: Call, query: Search) -> dict[str, Any]:
    """Return the query."""
    return {"text": query.text, "age": query.age, "is_open": query.is_open, "chosen": query.chosen}


@routes.get("/parcels/:parcel_id")
@public
async def read(call: Call, parcel_id: UUID) -> dict[str, UUID]:
    """Return the id."""
    return {"id": parcel_id}


@routes.get("/shelves/:name")
@public
async def shelf(call: Call, name: str) -> dict[str, str]:
    """Return the name."""
    return {"name": name}


async def posted(data: bytes | list[bytes], content_type: str | None = "application/json") -> Answer:
    headers = {} if content_type is None else {"Content-Type": content_type}
    return await ask(serving(routes), "POST", "/parcels", data=data, headers=headers)


async def got(target: str) -> Answer:
    return await ask(serving(routes), "GET", target)


def is_storable(text: str) -> bool:
    return "\x00" not in text and text.encode("utf-8", "ignore").decode() == text
