"""A property that is computed when it is first asked for, and kept; each object by itself.

`functools.cached_property` does the same, but in Python 3.11 it computes under one lock for all objects of the class,
and a use case that asks the database steps aside meanwhile. A unit of work is one use case's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class KeptProperty:
    """Computes a value once and leaves it in the object, where it is found from then on."""

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, _owner: type | None = None) -> Any:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
