"""The types of the document in Python: TypedDicts for objects, Literals for words."""

from __future__ import annotations

import keyword
import textwrap
from collections.abc import Iterator
from typing import Any, Final, TypeAlias, cast

Schema: TypeAlias = dict[str, Any]

REFERENCE: Final = "#/components/schemas/"
LINE_LENGTH: Final = 120
_PLAIN: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


class Shapes:
    """The schemas of a document by name."""

    def __init__(self, components: dict[str, Schema]) -> None:
        self._components = components

    def resolved(self, schema: Schema) -> Schema:
        """Return the schema that a reference names, or the schema itself."""
        return self._components[name_of(schema)] if "$ref" in schema else schema

    def reachable(self, schemas: list[Schema]) -> list[str]:
        """Return the names of all schemas that these ones name, sorted."""
        found: set[str] = set()
        waiting = [name for schema in schemas for name in _names_in(schema)]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += _names_in(self._components[name])
        return sorted(found)

    def declared(self, name: str) -> str:
        """Return the declaration of a schema."""
        schema = self._components[name]
        if "properties" not in schema:
            return f"{name}: TypeAlias = {type_of(schema)}\n"
        fields = {field: _field(schema, field) for field in schema["properties"]}
        if any(not field.isidentifier() or keyword.iskeyword(field) for field in fields):
            listed = ", ".join(f"{field!r}: {kind!r}" for field, kind in fields.items())
            return f"# {sentence(schema)}\n{name} = TypedDict({name!r}, {{{listed}}})\n"
        lines = [f"class {name}(TypedDict):", f"    {docstring(sentence(schema), indent=4)}", ""]
        return "\n".join([*lines, *(f"    {field}: {kind}" for field, kind in fields.items()), ""])


def type_of(schema: Schema, *, is_sent: bool = False) -> str:
    """Return the type of a schema; of what is sent, also tuples are taken for lists."""
    if "$ref" in schema:
        return name_of(schema)
    if "enum" in schema or "const" in schema:
        words = schema.get("enum", [schema.get("const")])
        return f"Literal[{', '.join(repr(word) for word in words)}]"
    if "anyOf" in schema:
        kinds = dict.fromkeys(type_of(part, is_sent=is_sent) for part in schema["anyOf"])
        return " | ".join(sorted(kinds, key="None".__eq__))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(_PLAIN[one] for one in cast("list[str]", kind))
    if kind == "array":
        return f"{'Sequence' if is_sent else 'list'}[{type_of(schema.get('items', {}))}]"
    if kind == "object":
        values = schema.get("additionalProperties", True)
        inner = type_of(cast("Schema", values)) if isinstance(values, dict) and values else "Any"
        return f"{'Mapping' if is_sent else 'dict'}[str, {inner}]"
    return _PLAIN.get(kind or "", "Any")


def name_of(schema: Schema) -> str:
    """Return the name that a reference has."""
    return schema["$ref"].removeprefix(REFERENCE)


def sentence(schema: Schema) -> str:
    """Return the first paragraph of a description, on one line."""
    return " ".join(str(schema.get("description", "")).partition("\n\n")[0].split())


def docstring(text: str, *, indent: int, more: list[str] | None = None) -> str:
    """Return a docstring of a text, and of lines after it, wrapped for this indent."""
    margin = " " * indent
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    first = textwrap.wrap(text, LINE_LENGTH - indent - 6) or [""]
    # A quotation mark at the end would run into the docstring's own.
    if first[-1].endswith('"'):
        first[-1] += "."
    lines = [*first]
    if more:
        lines += [""]
        for line in more:
            lines += textwrap.wrap(line.replace("\\", "\\\\"), LINE_LENGTH - indent, subsequent_indent="    ")
    if len(lines) == 1:
        return f'"""{lines[0]}"""'
    return f'"""{lines[0]}\n' + "".join(f"{margin}{line}\n" if line else "\n" for line in lines[1:]) + f'{margin}"""'


def _field(schema: Schema, field: str) -> str:
    kind = type_of(schema["properties"][field])
    return kind if field in schema.get("required", ()) else f"NotRequired[{kind}]"


def _names_in(value: Any) -> Iterator[str]:
    """List the schemas that a schema names, also in its inner ones."""
    if isinstance(value, dict):
        schema = cast("dict[str, Any]", value)
        if isinstance(schema.get("$ref"), str):
            yield name_of(schema)
        for key, part in schema.items():
            if key not in {"examples", "example", "default", "enum"}:
                yield from _names_in(part)
    elif isinstance(value, list):
        for part in cast("list[Any]", value):
            yield from _names_in(part)
