"""Example values of a schema: what a request or an answer may look like, for the OpenAPI document and the reference.

An example is composed of the examples of the fields, from their descriptions and, for answers, from `answer_values.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from entrypoints.web.describing.answer_values import LATER, VALUES
from entrypoints.web.describing.schemas import Schema, Schemas

_BY_FORMAT: Final = {
    "uuid": "01890a5d-ac96-774b-bcce-b302099a8057",
    "date-time": "2026-02-03T04:05:06Z",
    "date": "2026-02-03",
    "uri": "https://example.com",
    "email": "ada@example.com",
}
# The example of a text of which nothing is known.
_TEXT: Final = "text"
_LATER: Final = {"date-time": "2026-03-05T04:05:06Z"}
# RFC 9562: the time, the version, and the variant of the ids of examples.
_ID_TIME: Final = 0x01890A5DAC96
_ID_VERSION: Final = 7
# What the id of a record is called elsewhere.
_SAME_IDS: Final = {
    "org_id": "Organization",
    "organization_id": "Organization",
    "service_id": "Service",
    "ServiceRecord": "Service",
    "ServiceItem": "Service",
    "plan_id": "Plan",
    "PlanRecord": "Plan",
    "PlanItem": "Plan",
    "delivery_id": "Delivery",
    "webhook_id": "Webhook",
    "CreatedWebhook": "Webhook",
    **dict.fromkeys(
        ("user_id", "Profile", "ProfileForCustomer", "PersonSummary", "MemberUser", "UserSummary", "ScimUser"), "User"
    ),
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


def answer_example(schemas: Schemas, schema: Schema, owners: tuple[str, ...] = (), name: str = "") -> Any:
    """Return an example answer of the schema, with all of its fields.

    `name` is the field's in the last of the `owners`, the schemas that contain this one; a recursion ends.
    """
    given = _given(schemas, schema, owners, name)
    if given:
        return given[0]
    if "$ref" in schema:
        return _named(schemas, schema, owners, name)
    if "anyOf" in schema and "examples" not in schema:
        return answer_example(schemas, schema["anyOf"][0], owners, name)
    match schema:
        case {"format": "date-time"}:
            return (_LATER if name in LATER else _BY_FORMAT)["date-time"]
        case {"format": "uuid"}:
            return _id(owners[-1] if name == "id" else name)
        case {"type": "array", "items": {"$ref": reference} as items}:
            is_recursive = _name(reference) in owners
            # Readers of the document take a field of this name for a reference, in examples too.
            has_reference = "$ref" in schemas.resolved(items).get("properties", {})
            return [] if is_recursive or has_reference else [answer_example(schemas, items, owners, name)]
        case _:
            return example(schemas, schema)


def text_fields_without_example(schemas: Schemas, schema: Schema) -> list[str]:
    """List the fields of a schema of an answer whose examples would say nothing, because none is given."""
    owner = schema["$ref"].rpartition("/")[2]
    return [
        f"{owner}.{name}"
        for name, field in schemas.resolved(schema).get("properties", {}).items()
        if answer_example(schemas, field, (owner,), name) in (_TEXT, [_TEXT], {}, [{}])
    ]


def _given(schemas: Schemas, schema: Schema, owners: tuple[str, ...], name: str) -> list[Any]:
    """Return the value that a field always has, or has by `answer_values.py`, in a list; else an empty list."""
    if len(schema.get("enum", ())) == 1:
        return [schema["enum"][0]]
    keys = [key for key in (f"{owners[-1] if owners else ''}.{name}", name) if key in VALUES]
    return [VALUES[keys[0]]] if keys and not _is_object(schemas, schema) else []


def _named(schemas: Schemas, reference: Schema, owners: tuple[str, ...], name: str) -> Any:
    """Return an example of the schema that a reference names; None if this one is inside of it."""
    named, schema = _name(reference["$ref"]), schemas.resolved(reference)
    if named in owners:
        return None
    if "properties" not in schema:
        return answer_example(schemas, schema, owners, name)
    inner = (*owners, named)
    return {field: answer_example(schemas, part, inner, field) for field, part in schema["properties"].items()}


def _name(reference: str) -> str:
    return reference.rpartition("/")[2]


def _is_object(schemas: Schemas, schema: Schema) -> bool:
    """Return whether a field has fields of its own, which its name alone says nothing of."""
    parts = [schemas.resolved(part) for part in schema.get("anyOf", [schema])]
    return any("properties" in schemas.resolved(part.get("items", part)) for part in parts)


def _id(word: str) -> str:
    """Return the id for the thing that a word names: the same in all examples."""
    word = _SAME_IDS.get(word, word)
    tail = int.from_bytes(hashlib.sha256(word.encode()).digest()[:10])
    return str(UUID(int=(_ID_TIME << 80) | (_ID_VERSION << 76) | (0b10 << 62) | (tail & ((1 << 62) - 1))))


def _object(schemas: Schemas, schema: Schema) -> dict[str, Any]:
    fields = schema.get("properties", {})
    chosen = schema.get("required") or fields
    return {name: example(schemas, fields[name]) for name in chosen}


def _list(schemas: Schemas, schema: Schema) -> list[Any]:
    return [example(schemas, schema.get("items", {}))] * max(1, schema.get("minItems", 1))


def _text(_schemas: Schemas, schema: Schema) -> str:
    text = _BY_FORMAT.get(schema.get("format", ""), _TEXT)
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
