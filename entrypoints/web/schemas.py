"""The JSON schemas of every request and response, made from the types that decode and encode them."""

from __future__ import annotations

import re
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, Union, get_args, get_origin

import msgspec
from msgspec import inspect

from core.errors import ErrorCode
from entrypoints.web.answers import JSON, Failure, Media, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from entrypoints.web.routes import Route

Schema: TypeAlias = dict[str, Any]

REFERENCE: Final = "#/components/schemas/"
# Docstrings cite internal documents, which the readers of the reference do not have.
_CITATION: Final = re.compile(r"\s*\((?:identity|operations|decisions)\s[^)]*\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One possible response of a route: the status, the media type, and the type of the body where it is JSON."""

    status: int
    media_type: str | None = None
    shape: Any = None


class Schemas:
    """The schemas of the bodies, queries and responses of the given routes; each class is described once."""

    def __init__(self, routes: Iterable[Route]) -> None:
        shapes: list[Any] = [Failure]
        queries: list[Any] = []
        for route in routes:
            shapes += [
                shape for shape in (route.body, *(answer.shape for answer in answers(route))) if shape is not None
            ]
            queries += [route.query] if route.query is not None else []
        # The classes inside the shapes are added, so that each of them is found by its type.
        all_shapes = list(dict.fromkeys([*shapes, *queries, *_classes([*shapes, *queries])]))
        schemas, components = msgspec.json.schema_components(all_shapes, ref_template=REFERENCE + "{name}")
        self._schemas: dict[Any, Schema] = dict(zip(all_shapes, schemas, strict=True))
        self._components: dict[str, Schema] = components
        self._complete()
        self._query_names = {self._schemas[query]["$ref"] for query in queries}

    def of(self, shape: Any) -> Schema:
        """Return the schema of a shape; a class has a reference."""
        return self._schemas[shape]

    def resolved(self, schema: Schema) -> Schema:
        """Return the schema that a reference names; any other schema is returned as it is."""
        name = schema.get("$ref")
        return schema if name is None else self._components[name.removeprefix(REFERENCE)]

    def components(self) -> dict[str, Schema]:
        """Return the schemas that references name, without queries, which are described parameter by parameter."""
        return {name: schema for name, schema in self._components.items() if REFERENCE + name not in self._query_names}

    def _complete(self) -> None:
        """Add what msgspec leaves out of the schemas."""
        failure = self.resolved(self.of(Failure))
        failure["properties"]["error_code"] = {"type": "string", "enum": [code.name for code in ErrorCode]}
        for component in self._components.values():
            if "description" in component:
                component["description"] = for_readers(component["description"])
            if "enum" in component and all(isinstance(value, str) for value in component["enum"]):
                component["type"] = "string"
        for cls in _classes(self._schemas):
            properties = self.resolved(self.of(cls)).get("properties", {})
            for field in _fields(inspect.type_info(cls)):
                _mark_times(properties[field.encode_name], field.type)


def answers(route: Route) -> list[Answer]:
    """List the possible responses of a route when it does not refuse."""
    return [_answer(route, member) for member in _members(route.answer)]


def for_readers(text: str) -> str:
    """Remove the citations of internal documents from a text."""
    return _CITATION.sub("", text)


def _members(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in {Union, types.UnionType} else (annotation,)


def _answer(route: Route, annotation: Any) -> Answer:
    shape, *notes = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    status = next((note.code for note in notes if isinstance(note, Status)), route.status)
    media = next((note.type for note in notes if isinstance(note, Media)), None)
    if media is not None:
        return Answer(status=status, media_type=media)
    if shape is None or shape is type(None):
        return Answer(status=status)
    return Answer(status=status, media_type=JSON, shape=shape)


def _classes(shapes: Iterable[Any]) -> list[Any]:
    """List every class with fields inside the shapes."""
    found: dict[Any, None] = {}
    waiting = [inspect.type_info(shape) for shape in shapes]
    while waiting:
        kind = waiting.pop()
        fields = _fields(kind)
        if fields:
            cls = getattr(kind, "cls")  # noqa: B009 - only the kinds with fields have it, which the checker cannot see
            if cls in found:
                continue
            found[cls] = None
        waiting += [*_inside(kind), *(field.type for field in fields)]
    return list(found)


def _fields(kind: inspect.Type) -> tuple[inspect.Field, ...]:
    return kind.fields if isinstance(kind, inspect.StructType | inspect.DataclassType) else ()


def _inside(kind: inspect.Type) -> Iterator[inspect.Type]:
    match kind:
        case inspect.Metadata():
            yield kind.type
        case inspect.UnionType():
            yield from kind.types
        case inspect.DictType():
            yield kind.value_type
        case inspect.ListType() | inspect.VarTupleType() | inspect.SetType() | inspect.FrozenSetType():
            yield kind.item_type
        case _:
            pass


def _mark_times(schema: Schema, kind: inspect.Type) -> None:
    """Add the format of times; msgspec adds it only to those that are annotated with a zone."""
    match kind:
        case inspect.DateTimeType():
            schema["format"] = "date-time"
        case inspect.UnionType():
            # A union with a time has no other string type, because a decoder could not distinguish them.
            if any(isinstance(member, inspect.DateTimeType) for member in kind.types):
                texts = [member for member in schema.get("anyOf", [schema]) if member.get("type") == "string"]
                for text in texts:
                    text["format"] = "date-time"
        case inspect.Metadata():
            _mark_times(schema, kind.type)
        case inspect.DictType():
            _mark_times(schema.get("additionalProperties", {}), kind.value_type)
        case inspect.ListType() | inspect.VarTupleType() | inspect.SetType() | inspect.FrozenSetType():
            _mark_times(schema["items"], kind.item_type)
        case _:
            pass
