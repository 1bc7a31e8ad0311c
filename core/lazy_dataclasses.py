"""`dataclass` as in the standard library, which does not compile six methods for each class when it is defined.

Immutable classes with slots share their methods, and `__init__` is compiled when the first instance is made: with
hundreds of classes, compiling took a third of the time of a start. The standard library makes every other class.
"""

from __future__ import annotations

import dataclasses
from dataclasses import MISSING, FrozenInstanceError, fields
from functools import cache, partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, **options):
        """Make a dataclass with the options of the standard library."""
        if frozen and slots:
            return partial(_immutable, **options)
        return dataclasses.dataclass(cls, frozen=frozen, slots=slots, **options)


@dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)
class _Like:
    """The standard library's dataclass from which our classes take what they have besides their own."""

    name: str


_LIKE: Final[Any] = _Like


def _immutable(cls: Any, *, kw_only: bool = False, eq: bool = True) -> Any:
    methods = _METHODS | _COMPARISON if eq else _METHODS
    # Python sets `__hash__` to None in a class that defines `__eq__`.
    added = {name: method for name, method in methods.items() if cls.__dict__.get(name) is None}
    made = _with_slots(cls, added, kw_only=kw_only)

    def first_init(self: Any, *arguments: Any, **named: Any) -> None:
        # Two threads may both compile it.
        made.__init__ = init = _init_of(made)
        init(self, *arguments, **named)

    made.__init__ = first_init
    return made


def _with_slots(cls: Any, added: dict[str, Any], *, kw_only: bool) -> Any:
    """Return the class with fields and slots, as the standard library makes it in twice the time."""
    body: dict[str, Any] = dict(cls.__dict__) | added
    of_bases: dict[str, Any] = {}
    slots_of_bases = set[str]()
    for base in reversed(cls.__mro__[1:-1]):
        of_bases |= base.__dict__.get("__dataclass_fields__", {})
        slots_of_bases.update(base.__dict__.get("__slots__", ()))
    own = {name: _field_of(name, kind, body, kw_only=kw_only) for name, kind in body.get("__annotations__", {}).items()}
    each = of_bases | own
    for name in ("__dict__", "__weakref__", *each):
        body.pop(name, None)
    body["__slots__"] = tuple(name for name in each if name not in slots_of_bases)
    body["__match_args__"] = tuple(name for name, one in each.items() if not one.kw_only)
    body["__dataclass_fields__"], body["__dataclass_params__"] = each, _LIKE.__dataclass_params__
    made = type(cls)(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    return made


def _field_of(name: str, kind: Any, body: dict[str, Any], *, kw_only: bool) -> Any:
    assert "ClassVar" not in str(kind), "every annotation of an immutable class with slots is one of a field"
    default = body.get(name, MISSING)
    is_field = isinstance(default, dataclasses.Field)
    made: Any = cast("Any", default) if is_field else dataclasses.field(default=default)
    assert made.default.__class__.__hash__ is not None, f"the default of {name} can be changed; use default_factory"
    made.name, made.type, made._field_type = name, kind, _LIKE.__dataclass_fields__["name"]._field_type
    if made.kw_only is MISSING:
        made.kw_only = kw_only
    return made


def _init_of(cls: type[Any]) -> Callable[..., None]:
    # The slots are written to directly, which takes half the time of `object.__setattr__`.
    values: dict[str, Any] = {"MISSING": MISSING}
    positional: list[str] = []
    named: list[str] = []
    body: list[str] = []
    for each in fields(cls):
        assert each.init, "every field of an immutable class with slots is a parameter"
        name = value = each.name
        parameter = name
        values[f"_set_{name}"] = getattr(cls, name).__set__
        if each.default is not MISSING:
            values[f"_default_{name}"] = each.default
            parameter = f"{name}=_default_{name}"
        elif each.default_factory is not MISSING:
            values[f"_make_{name}"] = each.default_factory
            parameter = f"{name}=MISSING"
            value = f"_make_{name}() if {name} is MISSING else {name}"
        (named if each.kw_only else positional).append(parameter)
        body.append(f"_set_{name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ", ".join(["self", *positional, *(["*", *named] if named else [])])
    source = f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"])
    exec(source, values)  # noqa: S102 - the names of fields, as in the standard library
    init = values["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _reader(names: list[str]) -> Callable[[Any], object]:
    return attrgetter(*names) if names else lambda _: ()


@cache
def _compared(cls: type[Any]) -> Callable[[Any], object]:
    """Return what reads the values by which two instances are equal."""
    return _reader([each.name for each in fields(cls) if each.compare])


@cache
def _hashed(cls: type[Any]) -> Callable[[Any], object]:
    """Return what reads the values from which the hash of an instance is made."""
    return _reader([each.name for each in fields(cls) if (each.compare if each.hash is None else each.hash)])


def _is_equal(self: Any, other: object) -> bool:
    if other.__class__ is not self.__class__:
        return NotImplemented
    values = _compared(self.__class__)
    return values(self) == values(other)


def _hash(self: Any) -> int:
    return hash(_hashed(self.__class__)(self))


@recursive_repr()
def _represented(self: Any) -> str:
    shown = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{self.__class__.__qualname__}({shown})"


def _state(self: Any) -> list[Any]:
    """Return what a copy is made from."""
    return [getattr(self, each.name) for each in fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


def _refuse_change(_self: Any, name: str, *_value: Any) -> NoReturn:
    raise FrozenInstanceError(f"cannot change field {name!r}")


_METHODS: Final[dict[str, Any]] = {
    "__repr__": _represented,
    "__setattr__": _refuse_change,
    "__delattr__": _refuse_change,
    "__getstate__": _state,
    "__setstate__": _restore,
}
_COMPARISON: Final[dict[str, Any]] = {"__eq__": _is_equal, "__hash__": _hash}
