"""A fictional capability whose routes use every kind of declaration. Its handlers are never called."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import msgspec
from quart import Response

from core.errors import Conflict, ErrorCode, Refusal
from core.rate_limits import RateLimit
from entrypoints.web.input.decoding import Paged, Query
from entrypoints.web.serving.admission.credentials import public, signed_in
from entrypoints.web.serving.answering.answers import AnswerStatus, Media
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("boat houses", "Boats on land.")


class Colour(StrEnum):
    """What a hull is painted."""

    RED = "red"
    GREEN = "green"


class BoatTooLong(Refusal):
    """It does not fit."""

    code = ErrorCode.SERVICE_LIMIT_EXCEEDED
    default_message = "The boat is longer than the house."


@dataclass(frozen=True, slots=True, kw_only=True)
class Boat:
    """A boat, as a core entity would be."""

    id: UUID
    name: str
    colour: Colour | None
    launched_at: datetime
    sold_at: datetime | None = None
    repainted_at: tuple[datetime, ...] = ()


class Sail(msgspec.Struct, kw_only=True):
    """A part of a part."""

    square_metres: Annotated[float, msgspec.Meta(gt=0)]
    sewn_at: datetime


class BoatWanted(msgspec.Struct, kw_only=True):
    """What is sent to bring a boat."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=100, description="What is painted on it.")]
    email: Annotated[str, msgspec.Meta(max_length=254)] | None = None
    colour: Colour = Colour.GREEN
    sails: Annotated[list[Sail], msgspec.Meta(max_length=5)] = []
    more: dict[str, Any] = {}


class Knot(msgspec.Struct, kw_only=True):
    """Something that contains itself."""

    is_tight: bool
    colours: Annotated[list[Colour], msgspec.Meta(min_length=2, max_length=2)]
    note: Any
    inner: "Knot | None" = None


class Boats(msgspec.Struct, kw_only=True):
    """Some of the boats."""

    boats: list[Boat]
    total: int


class BoatSearch(Paged, kw_only=True):
    """Which boats."""

    colour: Colour | None = None


class Crossing(Query, kw_only=True):
    """From where to where."""

    to: str


class Afloat(msgspec.Struct, kw_only=True):
    """It swims."""

    depth_metres: int


class Sunk(msgspec.Struct, kw_only=True):
    """It does not."""

    reason: str


@routes.get("/boats/:slug/all")
@signed_in
async def list_all(call: Call, slug: str, query: BoatSearch) -> Boats:
    """List the boats of a house."""
    raise AssertionError("a handler of the specimen was called")


@routes.post("/boats", refuses=(BoatTooLong, Conflict), limits=(RateLimit.LOGIN,))
@signed_in
async def bring(call: Call, body: BoatWanted) -> Boat:
    """Bring a boat.

    It is `washed` on the way in, and

    then dried.
    """
    raise AssertionError("a handler of the specimen was called")


@routes.put("/boats/knot")
@signed_in
async def tie(call: Call, body: Knot) -> Knot:
    """Tie a knot."""
    raise AssertionError("a handler of the specimen was called")


@routes.delete("/boats/:slug/:boat_id", status=204)
@signed_in
async def sink(call: Call, slug: str, boat_id: UUID) -> None:
    """Sink a boat."""
    raise AssertionError("a handler of the specimen was called")


@routes.get("/boats/state")
@public
async def state(call: Call, query: Crossing) -> Afloat | Annotated[Sunk, AnswerStatus(410)]:
    """Say how the boats are."""
    raise AssertionError("a handler of the specimen was called")


@routes.get("/boats/picture")
@public
async def picture(call: Call) -> Boat | Annotated[Response, Media("image/png")]:
    """Show a boat."""
    raise AssertionError("a handler of the specimen was called")
