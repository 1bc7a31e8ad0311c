"""Example values of a schema: what a request may look like, for the OpenAPI document and the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from entrypoints.web.describing.schemas import Schema, Schemas

_BY_FORMAT: Final = {
    "uuid": "01890a5d-ac96-774b-bcce-b302099a8057",
    "date-time": "2026-02-03T04:05:06Z",
    "date": "2026-02-03",
    "uri": "https://example.com",
    "email": "ada@example.com",
}
_BY_TYPE: Final[dict[str, Any]] = {"boolean": True, "object": {}, "null": None}


def example(schemas: Schemas, schema: Schema) -> Any:
    """Return a value that the schema takes; an object with required fields has only those."""
    if "examples" in schema:
        return schema["examples"][0]
    schema = schemas.resolved(schema)
    for keyword in ("examples", "enum"):
        if keyword in schema:
            return schema[keyword][0]
    if "const" in schema:
        return schema["const"]
    if "anyOf" in schema:
        return example(schemas, schema["anyOf"][0])
    kind = schema.get("type")
    if kind in _MAKERS:
        return _MAKERS[kind](schemas, schema)
    return schema.get("default", _BY_TYPE.get(kind or ""))


def _object(schemas: Schemas, schema: Schema) -> dict[str, Any]:
    fields = schema.get("properties", {})
    chosen = schema.get("required") or fields
    return {name: example(schemas, fields[name]) for name in chosen}


def _list(schemas: Schemas, schema: Schema) -> list[Any]:
    return [example(schemas, schema.get("items", {}))] * max(1, schema.get("minItems", 1))


def _text(_schemas: Schemas, schema: Schema) -> str:
    text = _BY_FORMAT.get(schema.get("format", ""), "text")
    shortest = schema.get("minLength", 0)
    return (text * shortest)[:shortest] if len(text) < shortest else text[: schema.get("maxLength", len(text))]


def _number(_schemas: Schemas, schema: Schema) -> int:
    return schema.get("default") or schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)


_MAKERS: Final[dict[str, Callable[[Schemas, Schema], Any]]] = {
    "object": _object,
    "array": _list,
    "string": _text,
    "integer": _number,
    "number": _number,
}
