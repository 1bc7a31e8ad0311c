"""Operations that do one of two things, by the fields that are sent: the package has a function for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from generating.shapes import Schema, Shapes


@dataclass(frozen=True, kw_only=True)
class Story:
    """One of the things that an operation does: its function, what that does, and the fields that it sends."""

    name: str
    summary: str
    required: Sequence[str]
    optional: Sequence[str]


_CUSTOMER: Final = (
    Story(
        name="offer_service",
        summary="Offer the service to another organization, which has 30 days to accept.",
        required=("organization",),
        optional=("external_id",),
    ),
    Story(
        name="make_customer",
        summary="Make an organization for a customer, which no person owns yet; it uses the service at once.",
        required=("name",),
        optional=("external_id", "owner_email"),
    ),
)
# By the names of operations, without their groups.
SPLIT: Final[Mapping[str, Sequence[Story]]] = {"offer_service": _CUSTOMER}


def split(record: dict[str, Any], shapes: Shapes) -> Iterator[dict[str, Any]]:
    """Yield the records of an operation: itself, or one for each of the things that it does."""
    identifier = str(record["operationId"])
    end = next((one for one in SPLIT if identifier.endswith(f"_{one}")), None)
    if end is None:
        yield record
        return
    [(media, content)] = record["requestBody"]["content"].items()
    body = shapes.resolved(content["schema"])
    for story in SPLIT[end]:
        schema = {"schema": _part(body, story)}
        yield record | {
            "operationId": f"{identifier.removesuffix(end)}{story.name}",
            "summary": story.summary,
            "requestBody": record["requestBody"] | {"content": {media: content | schema}},
        }


def _part(body: Schema, story: Story) -> Schema:
    """Return the schema of the fields of a body that a story sends."""
    fields = {name: body["properties"][name] for name in (*story.required, *story.optional)}
    return body | {"properties": fields, "required": list(story.required)}
