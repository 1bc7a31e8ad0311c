"""Metadata as bodies bring them: names with short values; null takes a name away, and null alone all of them."""

from typing import Annotated, Any

import msgspec

from core.metadata import BYTES_MAX, NAMES_MAX, NUMBER_MAX, MetadataPatch

_Number = msgspec.Meta(ge=-NUMBER_MAX, le=NUMBER_MAX)
MetadataValue = str | bool | Annotated[int, _Number] | Annotated[float, _Number] | list[str] | None
MetadataFields = Annotated[
    dict[str, MetadataValue] | None,
    msgspec.Meta(
        description="The names to set, with a text, a number, true, false or a list of texts; null takes one away, and"
        f" null alone all of them. At most {NAMES_MAX} names of `A-Za-z0-9_.-`, and {BYTES_MAX} bytes as compact JSON."
    ),
]


def patch_of(given: dict[str, Any] | msgspec.UnsetType | None) -> MetadataPatch | None:
    """Return the change that a body asks for; None where it names none."""
    return None if given is msgspec.UNSET else MetadataPatch(names=given)
