"""Classes of the interface that have the fields of an entity."""

from __future__ import annotations

from dataclasses import dataclass, field, make_dataclass
from uuid import UUID

import msgspec
import pytest

from core.secrets import Secret
from entrypoints.web.serving.answering.bodies import Change, EntityMeta, Input, Record

ID = UUID(int=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LampFields:
    """What is said about a lamp."""

    name: str
    colours: list[str] = field(default_factory=list[str])
    watts: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lamp(LampFields):
    """A lamp."""

    id: UUID
    watts: int = 0
    organization_id: UUID
    key: Secret


class LampRecord(Record, of=Lamp):
    """A lamp in an answer."""

    key: str
    users: int


class NewLamp(Input, of=LampFields):
    """A lamp to make."""


class LampChange(Change, of=LampFields):
    """What to change of a lamp."""


class LooseLampChange(Change, of=LampFields, without=("watts",), nullable=True):
    """What to change of a lamp, where null has a meaning."""


LAMP = Lamp(name="Luxo", watts=60, id=ID, organization_id=ID, key=Secret("a"))


def test_a_record_shows_an_entity_its_own_fields_first_and_what_the_class_declares_last() -> None:
    record = LampRecord.of(LAMP, key="shown", users=2)

    assert list(msgspec.to_builtins(record).items()) == [
        ("id", str(ID)),
        ("org_id", str(ID)),
        ("key", "shown"),
        ("name", "Luxo"),
        ("colours", []),
        ("watts", 60),
        ("users", 2),
    ]


def test_a_field_of_a_record_is_always_there() -> None:
    assert all(one.required for one in msgspec.structs.fields(LampRecord))


@pytest.mark.parametrize("kind", [Secret, Secret | None, bytes, bytes | None])
def test_a_record_shows_a_field_that_may_be_a_secret_only_if_it_declares_how(kind: object) -> None:
    entity = make_dataclass("Safe", [("code", kind)])

    with pytest.raises(TypeError, match="code may be a secret: leave it out, or declare"):
        EntityMeta.__new__(type(Record), "SafeRecord", (Record,), {}, of=entity)

    EntityMeta.__new__(type(Record), "EmptySafeRecord", (Record,), {}, of=entity, without=["code"])


def test_a_body_has_the_defaults_of_what_the_use_case_takes() -> None:
    body = msgspec.json.decode(b'{"name": "Luxo", "unknown": 1}', type=NewLamp)

    assert body.to(LampFields) == LampFields(name="Luxo")
    assert body.to(LampFields, watts=5) == LampFields(name="Luxo", watts=5)


def test_a_body_without_a_required_field_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="missing required field `name`"):
        msgspec.json.decode(b"{}", type=NewLamp)


def test_a_change_gives_the_fields_that_it_names() -> None:
    assert msgspec.json.decode(b'{"watts": null, "colours": []}', type=LampChange).given() == {
        "watts": None,
        "colours": [],
    }
    assert msgspec.json.decode(b"{}", type=LampChange).given() == {}


def test_only_a_nullable_change_takes_null_for_every_field() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"name": null}', type=LampChange)

    assert msgspec.json.decode(b'{"name": null}', type=LooseLampChange).given() == {"name": None}
