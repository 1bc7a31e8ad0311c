"""Our dataclasses behave as the standard library's do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import re
from dataclasses import FrozenInstanceError, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from core.lazy_dataclasses import dataclass

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("core", "ports", "adapters", "actors", "entrypoints")


@dataclass(frozen=True, slots=True)
class Place:
    """A class with every kind of field."""

    name: str
    tags: list[str] = field(default_factory=list[str])
    note: str = field(default="", compare=False, repr=False)
    size: int = field(default=1, hash=False)


@dataclass(frozen=True, slots=True)
class Town(Place):
    """A class that inherits fields."""

    people: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A class that checks its values, and has methods of its own."""

    low: int
    high: int = 9

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(self.low)

    def __repr__(self) -> str:
        return "checked"


@dataclass(frozen=True, slots=True, eq=False)
class Alone:
    """A class whose instances are equal to themselves alone."""

    name: str


@dataclasses.dataclass(frozen=True, slots=True)
class Standard:
    """The same as `Place`, by the standard library."""

    name: str
    tags: list[str] = field(default_factory=list[str])
    note: str = field(default="", compare=False, repr=False)
    size: int = field(default=1, hash=False)


def test_values_come_by_place_or_by_name_and_defaults_are_made_for_each_instance() -> None:
    first, second = Place("a"), Place(name="a", size=2)

    assert (first.name, first.tags, first.note, first.size) == ("a", [], "", 1)
    assert first.tags is not second.tags
    assert Town("b", people=3).people == 3
    assert [each.name for each in fields(Town)] == ["name", "tags", "note", "size", "people"]
    assert Place.__match_args__ == Standard.__match_args__


@pytest.mark.parametrize("values", [(), ("a", [], "", 1, "more")])
def test_a_wrong_number_of_values_is_refused(values: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        Place(*values)
    with pytest.raises(TypeError):
        Place(*values)


def test_values_by_name_alone_are_refused_by_place() -> None:
    with pytest.raises(TypeError):
        Checked(1)  # pyright: ignore[reportCallIssue]


def test_a_field_that_is_no_parameter_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Counted:
        count: int = field(default=0, init=False)

    with pytest.raises(AssertionError, match="parameter"):
        Counted()


def test_the_fields_are_those_of_the_standard_library() -> None:
    assert [told(each) for each in fields(Place)] == [told(each) for each in fields(Standard)]
    assert [each.kw_only for each in fields(Checked)] == [True, True]
    assert (Checked.__match_args__, Town.__match_args__) == ((), ("name", "tags", "note", "size", "people"))
    assert Town.__slots__ == ("people",)


def told(each: dataclasses.Field[Any]) -> list[Any]:
    """Return all that a field tells."""
    return [getattr(each, name) for name in dataclasses.Field.__slots__]


def test_what_is_no_field_or_can_be_changed_is_refused() -> None:
    with pytest.raises(AssertionError, match="annotation"):

        @dataclass(frozen=True, slots=True)
        class Shared:
            kind: ClassVar[str] = "shared"

    with pytest.raises(AssertionError, match="default_factory"):

        @dataclass(frozen=True, slots=True)
        class Listed:
            names: list[str] = []  # noqa: RUF012 - it is what is refused


def test_equality_hash_and_representation_are_those_of_the_standard_library() -> None:
    assert Place("a", ["x"], note="n") == Place("a", ["x"], note="other")
    assert Place("a") != Place("a", size=2)
    assert Place("a") != Town("a")
    assert Place("a") != ("a", [], 1)
    assert repr(Place("a", ["x"])) == repr(Standard("a", ["x"])).replace("Standard", "Place")
    assert repr(Checked(low=1)) == "checked"
    assert hash(Checked(low=1)) == hash(Checked(low=1, high=9))
    with pytest.raises(TypeError, match="unhashable"):
        hash(Place("a"))
    assert Alone("a") != Alone("a")
    assert len({Alone("a"), Alone("a")}) == 2


def test_an_instance_cannot_be_changed() -> None:
    place: Any = Place("a")

    with pytest.raises(FrozenInstanceError):
        place.name = "b"
    with pytest.raises(FrozenInstanceError):
        del place.name
    with pytest.raises((AttributeError, TypeError)):
        place.other = 1
    assert not hasattr(place, "__dict__")


def test_instances_are_replaced_copied_and_pickled() -> None:
    town = Town("a", ["x"], people=3)

    assert replace(town, people=4) == Town("a", ["x"], people=4)
    assert copy.copy(town) == copy.deepcopy(town) == pickle.loads(pickle.dumps(town)) == town  # noqa: S301 - our own
    with pytest.raises(ValueError, match="10"):
        replace(Checked(low=1), low=10)


def test_every_immutable_class_with_slots_is_made_by_our_own_decorator() -> None:
    standard = re.compile(r"^from dataclasses import .*\bdataclass\b", re.MULTILINE)
    immutable = re.compile(r"^ *@dataclass\([^)]*frozen=True, slots=True", re.MULTILINE)

    found = [
        str(file.relative_to(ROOT))
        for layer in LAYERS
        for file in sorted((ROOT / layer).rglob("*.py"))
        if standard.search(text := file.read_text()) and immutable.search(text)
    ]

    assert [name for name in found if name != "core/lazy_dataclasses.py"] == []
