"""A JSON schema for readers: one row for each field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from core.lazy_dataclasses import dataclass
from entrypoints.web.describing.schemas import Schema, Schemas
from entrypoints.web.serving.answering.answers import encode

# Deeper than any body of the interface; a recursive type ends here.
DEPTH_MAX: Final = 4
# A longer pattern is for programs, and in the OpenAPI document.
LIMIT_CHARACTERS_MAX: Final = 60

_WORDS: Final = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "object",
    "null": "null",
}
_TEXT_FORMATS: Final = {"uuid": "id", "date-time": "time"}
_BOUNDS: Final[tuple[tuple[str, str, str], ...]] = (
    ("minLength", "maxLength", "characters"),
    ("minItems", "maxItems", "items"),
    ("minimum", "maximum", ""),
)
_LIMITS: Final = {
    "exclusiveMinimum": "More than {}.",
    "exclusiveMaximum": "Less than {}.",
    "multipleOf": "A multiple of {}.",
    "pattern": "Matches `{}`.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRow:
    """One field: its path in the body, what it takes, and its limits."""

    name: str
    takes: str
    is_required: bool
    remarks: str


def field_rows(schemas: Schemas, schema: Schema, *, prefix: str = "", depth: int = 0) -> list[FieldRow]:
    """List the fields of a schema, nested ones included."""
    schema = schemas.resolved(schema)
    if schema.get("type") == "array":
        return field_rows(schemas, schema["items"], prefix=f"{prefix}[]", depth=depth)
    rows: list[FieldRow] = []
    for name, field in schema.get("properties", {}).items():
        path = f"{prefix}.{name}" if prefix else name
        is_required = name in schema.get("required", ())
        rows.append(FieldRow(name=path, takes=takes(schemas, field), is_required=is_required, remarks=remarks(field)))
        if depth < DEPTH_MAX:
            rows += [row for part in _parts(field) for row in field_rows(schemas, part, prefix=path, depth=depth + 1)]
    return rows


def takes(schemas: Schemas, schema: Schema) -> str:
    """Describe in a few words which values a field takes."""
    schema = schemas.resolved(schema)
    if "const" in schema:
        return f"`{_written(schema['const'])}`"
    if "enum" in schema:
        return " or ".join(f"`{_written(value)}`" for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(takes(schemas, part) for part in schema["anyOf"])
    match schema.get("type"):
        case "array":
            return f"list of {takes(schemas, schema.get('items', {}))}"
        case "string":
            return _TEXT_FORMATS.get(schema.get("format", ""), _WORDS["string"])
        case str(kind):
            return _WORDS[kind]
        case _:
            return "anything"


def remarks(schema: Schema) -> str:
    """Describe the meaning of a value, its limits and its default."""
    sentences = [schema["description"]] if schema.get("description") else []
    for part in _parts(schema):
        sentences += [bounds for bounds in (_bounds(part, *names) for names in _BOUNDS) if bounds]
        sentences += [words.format(part[name]) for name, words in _LIMITS.items() if _is_readable(part.get(name))]
    if schema.get("default") not in (None, [], {}, ""):
        sentences.append(f"`{_written(schema['default'])}` when left out.")
    return " ".join(sentences)


def _parts(schema: Schema) -> Iterator[Schema]:
    """Return the alternatives that a field takes."""
    if "anyOf" in schema:
        for part in schema["anyOf"]:
            yield from _parts(part)
    else:
        yield schema


def _is_readable(limit: Any) -> bool:
    return limit is not None and len(str(limit)) <= LIMIT_CHARACTERS_MAX


def _bounds(schema: Schema, lowest: str, highest: str, unit: str) -> str:
    low, high = schema.get(lowest), schema.get(highest)
    if low is None and high is None:
        return ""
    if low == high:
        bounds = f"Exactly {low}"
    elif high is None:
        bounds = f"At least {low}"
    elif low is None:
        bounds = f"At most {high}"
    else:
        bounds = f"{low} to {high}"
    return f"{bounds} {unit}".rstrip() + "."


def _written(value: Any) -> str:
    return value if isinstance(value, str) else encode(value).decode()
