"""Bodies and answers that have the fields of an entity: they name its dataclass, and no field stands twice.

A few others, such as `Message`, are what several capabilities answer.

    class ServiceRecord(Record, of=Service, without=("updated_at",)):
        \"\"\"A service.\"\"\"

What such a class declares itself comes after the fields of the entity, or replaces the one of the same name. In a
record, `organization_id` is `org_id`.

So a new field of services is three lines: one of `ServiceFields` in `core/services/services.py`, with its default
(`Service` has the fields that no organization sets); `ALTER TABLE services ADD COLUMN …` in a new migration; and its
description in `entrypoints/web/describing/`, with `sent="…"` for what only a caller who sends it has to know.
Statements name the columns by `adapters/postgres/driver/columns.py`.

A dataclass cannot say the bounds of a number. They are constants beside the rule in `core/`, and the field stands once
more in the bodies: `price_cents: Annotated[int, msgspec.Meta(ge=0, le=PRICE_CENTS_MAX)]`
(`entrypoints/http/services/plans.py`). The refusal and the schema name the bounds; a form takes text, and checks it
against the same constant.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, get_args, get_type_hints

import msgspec

from core.errors import BadRequest
from core.secrets import Secret

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class DocumentBody(msgspec.Struct, kw_only=True):
    """A body with one field, the text of a document, which may be sent as it is with one of these media types."""

    documents: ClassVar[tuple[str, ...]]

    @classmethod
    def of(cls, data: bytes) -> Self:
        """Return the body of a document; raise `BadRequest` when it is no text in UTF-8."""
        [field] = cls.__struct_fields__
        try:
            return msgspec.convert({field: data.decode("utf-8-sig")}, cls)
        except UnicodeDecodeError:
            raise BadRequest.of_field(field, "This is not text in UTF-8.") from None


class Empty(msgspec.Struct, kw_only=True):
    """The request succeeded."""


class Message(msgspec.Struct, kw_only=True):
    """What was done, in words for people."""

    message: str


Entity = TypeVar("Entity", bound="DataclassInstance")


class EntityMeta(msgspec.StructMeta):
    """Makes a class of the fields of the entity that it names."""

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        /,
        *,
        of: type[DataclassInstance] | None = None,
        without: Collection[str] = (),
        nullable: bool = False,
        **config: Any,
    ) -> EntityMeta:
        """Add the fields of the entity, except the ones that are left out or declared by the class."""
        if of is not None:
            declared = namespace.get("__annotations__", {})
            kinds = get_type_hints(of, include_extras=True)
            fields = [field for field in _own_fields_first(of) if field.name not in without]
            made = {field.name: mcls._made(kinds[field.name], field) for field in fields if field.name not in declared}
            kinds |= {name: kind | None if nullable else kind for name, (kind, _) in made.items()} | declared
            namespace["__annotations__"] = {field.name: kinds[field.name] for field in fields} | declared
            namespace |= {name: default for name, (_, default) in made.items()}
        return super().__new__(mcls, name, bases, namespace, kw_only=True, **config)

    @staticmethod
    def _made(kind: Any, field: dataclasses.Field[Any], /) -> tuple[Any, Any]:
        """Return the type and the default of a field, given the type in the entity."""
        if field.default_factory is not dataclasses.MISSING:
            return kind, msgspec.field(default_factory=field.default_factory)
        return kind, msgspec.field() if field.default is dataclasses.MISSING else field.default


class _RecordMeta(EntityMeta):
    @staticmethod
    def _made(kind: Any, field: dataclasses.Field[Any], /) -> tuple[Any, Any]:
        if {bytes, Secret} & {kind, *get_args(kind)}:
            raise TypeError(f"{field.name} may be a secret: leave it out, or declare how the record shows it")
        return kind, msgspec.field()


class _ChangeMeta(EntityMeta):
    @staticmethod
    def _made(kind: Any, _field: dataclasses.Field[Any], /) -> tuple[Any, Any]:
        return kind | msgspec.UnsetType, msgspec.UNSET


class Record(msgspec.Struct, metaclass=_RecordMeta, rename={"organization_id": "org_id"}):
    """An answer that shows an entity."""

    @classmethod
    def of(cls, entity: Any, **more: Any) -> Self:
        """Return the record of an entity; `more` is what the entity has no field for, or another value for one.

        A record with an `of` of its own names its entity more narrowly.
        """
        return cls(**{name: getattr(entity, name) for name in cls.__struct_fields__ if name not in more}, **more)


class Input(msgspec.Struct, metaclass=EntityMeta):
    """A body that says what is to be: it has the fields, and the defaults, of what the use case takes."""

    def to(self, entity: type[Entity], **more: Any) -> Entity:
        """Return what the use case takes; `more` is what it takes in another form than the body has."""
        names = [field.name for field in dataclasses.fields(entity) if field.name not in more]
        return entity(**{name: getattr(self, name) for name in names}, **more)


class Change(msgspec.Struct, metaclass=_ChangeMeta):
    """A body that names the fields to change; omitted ones keep their values.

    If the class is `nullable`, each field may be null, and the use case says what that means.
    """

    def given(self) -> dict[str, Any]:
        """Return the fields that the request names."""
        fields = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: value for name, value in fields.items() if value is not msgspec.UNSET}


def _own_fields_first(entity: type[DataclassInstance]) -> list[dataclasses.Field[Any]]:
    """Return the fields of a dataclass, its own before inherited ones: an id comes before a name.

    An inherited one that it declares again, with another type, keeps its place.
    """
    declared = [name for cls in entity.__mro__ for name in inspect.get_annotations(cls)]
    by_name = {field.name: field for field in dataclasses.fields(entity)}
    return [by_name[name] for name in reversed(dict.fromkeys(reversed(declared))) if name in by_name]
