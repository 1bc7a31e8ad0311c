"""Metadata: what an organization notes about itself, about a user of a service or about a customer.

An object of few names with short values; a change sets or removes single names. Claims of tokens can say them. The
record of a change says which names it set and removed, never a value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, cast

from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.wording import Wording

NAMES_MAX: Final = 50
BYTES_MAX: Final = 4096
# A number beyond these is another one for programs whose numbers have 64 bits.
NUMBER_MAX: Final = 2**53 - 1

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataPatch:
    """A change of metadata: the names that it sets, None for those that it removes; without names it removes all."""

    names: Mapping[str, Any] | None

    def applied_to(self, before: Mapping[str, Any], field: str = "metadata") -> dict[str, Any]:
        """Return the metadata with this change; raise `BadRequest` for names and values that cannot be."""
        if self.names is None:
            return {}
        for name, value in self.names.items():
            _require(name, value, field)
        after = {name: value for name, value in {**before, **self.names}.items() if value is not None}
        if len(after) > NAMES_MAX:
            raise BadRequest.of_field(field, Wording("Metadata have at most %(maximum)s names.", maximum=NAMES_MAX))
        if size_bytes(after) > BYTES_MAX:
            raise BadRequest.of_field(
                field, Wording("Metadata have at most %(maximum)s bytes as compact JSON.", maximum=BYTES_MAX)
            )
        return after


def is_name(text: str) -> bool:
    """Return whether metadata can have a name."""
    return _NAME.fullmatch(text) is not None


def size_bytes(value: object) -> int:
    """Return how long a value is as compact JSON in UTF-8."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


def changed_names(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return which names a change has set and removed, in the form of an audit entry."""
    return {
        "set": sorted(name for name, value in after.items() if name not in before or not _is_same(before[name], value)),
        "removed": sorted(before.keys() - after.keys()),
    }


def is_changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return whether metadata differ; for a program `true`, `1` and `1.0` are three values."""
    return any(changed_names(before, after).values())


def _is_same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other


def _require(name: str, value: object, field: str) -> None:
    if not is_name(name):
        raise BadRequest.of_field(
            field, "A name of metadata has 1 to 64 letters of ASCII, digits, dots, dashes and underscores."
        )
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    is_list = isinstance(value, list)
    if not all(_is_text(item) if is_list else _is_value(item) for item in items):
        raise BadRequest.of_field(
            field,
            Wording(
                "%(name)s has no value of metadata: a text, a number up to 2^53, true, false or a list of texts.",
                name=name,
            ),
        )


def _is_value(value: object) -> bool:
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int | float):
        return -NUMBER_MAX <= value <= NUMBER_MAX
    return _is_text(value)


def _is_text(value: object) -> bool:
    # PostgreSQL stores neither a NUL nor half of a character.
    return isinstance(value, str) and "\0" not in value and not any("\ud800" <= one <= "\udfff" for one in value)
