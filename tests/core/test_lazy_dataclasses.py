"""An immutable class behaves as one of the standard library does; only when its methods are made differs."""

from __future__ import annotations

import dataclasses
from dataclasses import FrozenInstanceError, field

import pytest

from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    row: int
    name: str = "aisle"
    notes: list[str] = field(default_factory=list)
    secret: str = field(default="hidden", repr=False)
    price: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Pair:
    left: int
    right: list[int] = field(default_factory=list, hash=False)

    def __post_init__(self) -> None:
        if self.left < 0:
            raise ValueError(self.left)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxSeat(Seat):
    box: int


@dataclass(frozen=True, slots=True)
class Nothing:
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Token:
    value: str


@dataclass(frozen=True, slots=True)
class Caseless:
    value: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Caseless) and self.value.lower() == other.value.lower()

    def __hash__(self) -> int:
        return hash(self.value.lower())

    def __repr__(self) -> str:
        return self.value


@dataclass
class Counter:
    count: int = 0


def test_an_instance_has_its_values_and_the_defaults_of_the_others() -> None:
    seat = Seat(row=3)

    assert (seat.row, seat.name, seat.notes, seat.secret, seat.price) == (3, "aisle", [], "hidden", 0)
    assert Seat(row=3).notes is not seat.notes
    assert Seat(row=3, notes=["x"]).notes == ["x"]
    assert not hasattr(seat, "__dict__")


def test_values_that_are_missing_unknown_or_not_named_are_refused() -> None:
    with pytest.raises(TypeError, match=r"Seat\.__init__\(\) missing 1 required keyword-only argument: 'row'"):
        Seat()  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="unexpected keyword argument 'column'"):
        Seat(row=1, column=2)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="takes 1 positional argument"):
        Seat(1)  # pyright: ignore[reportCallIssue]


def test_values_may_be_in_order_and_are_checked_afterwards() -> None:
    assert Pair(1, [2]) == Pair(left=1, right=[2])
    with pytest.raises(ValueError, match="-1"):
        Pair(-1)


def test_a_class_that_inherits_has_the_values_of_both() -> None:
    seat = BoxSeat(row=1, box=2)

    assert (seat.row, seat.box) == (1, 2)
    assert seat != Seat(row=1)
    assert repr(seat).endswith("BoxSeat(row=1, name='aisle', notes=[], price=0, box=2)")


def test_a_class_may_inherit_without_being_a_dataclass() -> None:
    class Named(Seat):
        pass

    assert Named(row=2).row == 2
    assert Named(row=2) != Seat(row=2)


def test_no_value_changes() -> None:
    seat = Seat(row=1)

    with pytest.raises(FrozenInstanceError, match="row"):
        seat.row = 2  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(FrozenInstanceError, match="row"):
        del seat.row  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(FrozenInstanceError, match="unknown"):
        seat.unknown = 2  # pyright: ignore[reportAttributeAccessIssue]
    assert dataclasses.replace(seat, row=2) == Seat(row=2)


def test_instances_are_equal_by_the_values_that_are_compared() -> None:
    assert Seat(row=1, price=2) == Seat(row=1, price=3)
    assert Seat(row=1) != Seat(row=2)
    assert Seat(row=1) != 1
    assert Nothing() == Nothing()
    assert hash(Pair(1, [2])) == hash(Pair(1, [3]))
    assert {Nothing(): "found"}[Nothing()] == "found"
    with pytest.raises(TypeError, match="unhashable"):
        hash(Seat(row=1))


def test_a_class_without_equality_compares_by_identity() -> None:
    token = Token("a")

    assert token == token  # noqa: PLR0124 - what is tested
    assert token != Token("a")


def test_what_a_class_defines_itself_stays() -> None:
    assert Caseless("A") == Caseless("a")
    assert hash(Caseless("A")) == hash(Caseless("a"))
    assert repr(Caseless("A")) == "A"


def test_a_mutable_class_is_one_of_the_standard_library() -> None:
    counter = Counter()
    counter.count += 1

    assert counter == Counter(1)


def test_the_functions_of_the_standard_library_know_the_fields() -> None:
    assert [each.name for each in dataclasses.fields(Seat)] == ["row", "name", "notes", "secret", "price"]
    assert dataclasses.asdict(Pair(1, [2])) == {"left": 1, "right": [2]}
    assert Pair.__match_args__ == ("left", "right")
