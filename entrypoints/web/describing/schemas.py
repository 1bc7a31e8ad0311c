"""The JSON schemas of every request and response, made from the types that decode and encode them.

Each is named after its class, and what its fields mean is in `descriptions.py`.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final, TypeAlias, Union, cast, get_args, get_origin

import msgspec
from msgspec import inspect

from core.events.data import ABSENT, EventData, Place, keys_of
from core.lazy_dataclasses import dataclass
from core.limits import PASSWORD_CHARACTERS_MIN
from core.secrets import Secret
from entrypoints.web.describing.described import SENT
from entrypoints.web.describing.descriptions import FIELDS
from entrypoints.web.serving.answering.answers import AnswerStatus, Error, Media, PartialAnswer
from entrypoints.web.serving.routes import Route

Schema: TypeAlias = dict[str, Any]

REFERENCE: Final = "#/components/schemas/"
# What belongs to a field as a whole, and not to one of the types that it may have.
_ANNOTATIONS: Final = ("description", "examples", "default")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentedAnswer:
    """One possible response of a route: the status, the media type, and the type of the body where it is JSON.

    Of a body of JSON lines it has the types of the lines, and of any other one an example if the route declares it.
    """

    status: int
    media_type: str | None = None
    shape: Any = None
    lines: tuple[Any, ...] = ()
    example: Any = None

    @property
    def shapes(self) -> tuple[Any, ...]:
        """The types of what it has as JSON."""
        return self.lines if self.shape is None else (self.shape,)


class Schemas:
    """The schemas of the bodies, queries and responses of the given routes; each class is described once.

    `delivered` are the types of what receivers get. A new password has as many characters as the installation asks for.
    """

    def __init__(
        self,
        routes: Iterable[Route],
        *,
        delivered: Iterable[Any] = (),
        password_minimum: int = PASSWORD_CHARACTERS_MIN,
    ) -> None:
        self._password_minimum = password_minimum
        sent: list[Any] = []
        answered: list[Any] = [Error, *delivered]
        queries: list[Any] = []
        for route in routes:
            sent += [route.sent] if route.sent is not None else []
            queries += [route.query] if route.query is not None else []
            answered += [shape for answer in answers(route) for shape in answer.shapes]
            answered += [route.refusal_body] if route.refusal_body is not None else []
            answered += [route.dialect.failure] if route.dialect is not None else []
        # The classes inside the shapes are added, so that each of them is found by its type.
        shapes = [*answered, *sent, *queries]
        all_shapes = list(dict.fromkeys([*shapes, *inner_classes(shapes)]))
        schemas, components = msgspec.json.schema_components(
            all_shapes, ref_template=REFERENCE + "{name}", schema_hook=_of_other_type
        )
        self.used_descriptions: set[str] = set()
        self.undescribed: list[str] = []
        self._schemas: dict[Any, Schema] = dict(zip(all_shapes, schemas, strict=True))
        self._components: dict[str, Schema] = components
        self._query_names = {self.name_of(query) for query in queries}
        self._complete(only_answered=set(inner_classes(answered)) - set(inner_classes([*sent, *queries])))

    def of(self, shape: Any) -> Schema:
        """Return the schema of a shape; a class has a reference."""
        return self._schemas[shape]

    def name_of(self, cls: Any) -> str:
        """Return the name of the schema of a class."""
        return self._schemas[cls]["$ref"].removeprefix(REFERENCE)

    def resolved(self, schema: Schema) -> Schema:
        """Return the schema that a reference names; any other schema is returned as it is."""
        name = schema.get("$ref")
        return schema if name is None else self._components[name.removeprefix(REFERENCE)]

    def components(self) -> dict[str, Schema]:
        """Return the schemas that references name, without queries, which are described parameter by parameter."""
        return {name: schema for name, schema in self._components.items() if name not in self._query_names}

    def described(
        self, schema: Schema, owner: str, field: str, *, family: str | None = None, is_sent: bool = True
    ) -> Schema:
        """Return the schema of a field with its description and what it takes, with more of it where it is sent.

        `family` is what several owners are described as that have no line of their own.
        """
        key = next((key for key in (f"{owner}.{field}", f"{family}.{field}", field) if key in FIELDS), None)
        if key is None:
            self.undescribed += [] if "description" in schema else [f"{owner}.{field}"]
            return schema
        self.used_descriptions.add(key)
        keywords = FIELDS[key]
        annotations = {name: keywords[name] for name in _ANNOTATIONS if name in keywords}
        rules = {name: keyword for name, keyword in keywords.items() if name not in {*_ANNOTATIONS, SENT}}
        if rules.get("format") == "password" and "minLength" in rules:
            rules["minLength"] = self._password_minimum
        if is_sent and SENT in keywords:
            schema = _with_value_described(schema, keywords[SENT])
        if "anyOf" in schema:
            parts = [part if part.get("type") == "null" else rules | part for part in schema["anyOf"]]
            return annotations | schema | {"anyOf": parts}
        return annotations | rules | schema

    def _complete(self, *, only_answered: set[Any]) -> None:
        """Add what msgspec leaves out of the schemas."""
        # Also schemas without a name, such as for an answer of any fields.
        for component in (*self._components.values(), *self._schemas.values()):
            component.pop("title", None)
            for schema in _inside_schema(component):
                _complete_types(schema)
        for cls in inner_classes(self._schemas):
            component = self.resolved(self.of(cls))
            properties = component.get("properties", {})
            fields = _fields(inspect.type_info(cls))
            if issubclass(cls, EventData):
                names = [key.name for key in keys_of(cls) if key.place is not Place.ENTRY]
                component["properties"] = properties = {name: properties[name] for name in names}
                fields = [field for field in fields if field.encode_name in properties]
            is_answered = cls in only_answered
            for field in fields:
                _mark_times(properties[field.encode_name], field.type)
                properties[field.encode_name] = self.described(
                    properties[field.encode_name],
                    self.name_of(cls),
                    field.encode_name,
                    family=EventData.__name__ if issubclass(cls, EventData) else None,
                    is_sent=not is_answered,
                )
            if is_answered:
                component["required"] = [field.encode_name for field in fields if _is_always_answered(cls, field)]
            for schema in properties.values():
                # `required` already says that a field may be left out instead of being null or empty.
                if "default" in schema and (is_answered or schema["default"] in (None, "")):
                    del schema["default"]


SEE_OTHER: Final = 303


def answers(route: Route) -> list[DocumentedAnswer]:
    """List the possible responses of a route when it does not refuse."""
    declared = [_answer(route, member) for member in _members(route.answer)]
    if route.who.leads_to_sign_in and all(answer.status != SEE_OTHER for answer in declared):
        return [*declared, DocumentedAnswer(status=SEE_OTHER)]
    return declared


def _of_other_type(kind: type[Any]) -> Schema:
    """Return the schema of a type that msgspec does not know: a secret that is typed into a form is a text."""
    assert kind is Secret, f"{kind.__name__} has no schema"
    return {"type": "string"}


def _with_value_described(schema: Schema, text: str) -> Schema:
    """Return a schema in which the value has this description, apart from null."""
    if "anyOf" not in schema:
        return schema | {"description": text}
    parts = [part if part.get("type") == "null" else part | {"description": text} for part in schema["anyOf"]]
    return schema | {"anyOf": parts}


def _inside_schema(value: Any) -> Iterator[Schema]:
    """List every object inside a schema, itself included."""
    if isinstance(value, dict):
        schema = cast("Schema", value)
        yield schema
        for part in schema.values():
            yield from _inside_schema(part)
    elif isinstance(value, list):
        for part in cast("list[Any]", value):
            yield from _inside_schema(part)


def _complete_types(schema: Schema) -> None:
    """Add the type of words, and that an object without declared fields has any."""
    if "enum" in schema and all(isinstance(value, str) for value in schema["enum"]):
        schema["type"] = "string"
        names = _constants_of(schema["enum"])
        if names is not None:
            schema["x-enum-varnames"] = names
    # Without this, generators of types take it for an object without fields.
    if schema.get("type") == "object" and not {"properties", "additionalProperties"} & schema.keys():
        schema["additionalProperties"] = True


def _constants_of(values: list[str]) -> list[str] | None:
    """Return the constants that generated programs have for the values of an enumeration; None where they are clear.

    Two values that differ in their punctuation alone would have the same name.
    """
    plain = [re.sub(r"\W+", "_", value).upper() for value in values]
    if len(set(plain)) == len(plain):
        return None
    counts = [plain[: place + 1].count(name) for place, name in enumerate(plain)]
    return [name if count == 1 else f"{name}_{count}" for name, count in zip(plain, counts, strict=True)]


def _is_always_answered(cls: Any, field: inspect.Field) -> bool:
    if issubclass(cls, PartialAnswer):
        return field.encode_name in cls.always_answered
    if field.default is ABSENT:
        return False
    omits_defaults = issubclass(cls, msgspec.Struct) and cls.__struct_config__.omit_defaults
    # A field that is unset by default has no default here.
    has_default = field.default is not msgspec.NODEFAULT or field.default_factory is not msgspec.NODEFAULT
    return field.required or (has_default and not omits_defaults)


def _members(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in {Union, types.UnionType} else (annotation,)


def _answer(route: Route, annotation: Any) -> DocumentedAnswer:
    shape, *notes = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    status = next((note.code for note in notes if isinstance(note, AnswerStatus)), route.status)
    media = next((note for note in notes if isinstance(note, Media)), None)
    if media is not None:
        return DocumentedAnswer(status=status, media_type=media.type, lines=media.lines, example=media.example)
    if shape is None or shape is type(None):
        return DocumentedAnswer(status=status)
    return DocumentedAnswer(status=status, media_type=route.answer_media_type, shape=shape)


def inner_classes(shapes: Iterable[Any]) -> list[Any]:
    """List every class with fields inside the shapes."""
    found: dict[Any, None] = {}
    waiting = [inspect.type_info(shape) for shape in shapes]
    while waiting:
        kind = waiting.pop()
        fields = _fields(kind)
        if isinstance(kind, inspect.StructType | inspect.DataclassType):
            if kind.cls in found:
                continue
            found[kind.cls] = None
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
    """Add the format of times; msgspec adds it only where the annotation has a zone."""
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
