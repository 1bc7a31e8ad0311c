"""Metrics that are made once by a process and are as new for each test: making them takes longer than a request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from adapters.prometheus import PrometheusMetrics


class _Reused:
    """Metrics with the state of everything in them that may change, as it was at first."""

    def __init__(self, version: str) -> None:
        self.metrics = PrometheusMetrics(version=version)
        self._restorations = list(_restorations(self.metrics, set()))

    def restore(self) -> None:
        """Make everything as it was at first."""
        for restore in self._restorations:
            restore()


def new_metrics(version: str) -> PrometheusMetrics:
    """Return metrics without counts; those that were returned before are no longer to be used."""
    reused = _reused(version)
    reused.restore()
    return reused.metrics


@cache
def _reused(version: str) -> _Reused:
    return _Reused(version)


def _restorations(part: object, seen: set[int]) -> Iterator[Callable[[], None]]:
    """Return what restores an object and all its parts, of its own classes and of the library's."""
    if id(part) in seen:
        return
    seen.add(id(part))
    match part:
        case dict() | set():
            yield _restoration(part)
        case list():
            pass
        case _ if type(part).__module__.startswith(("adapters.prometheus", "prometheus_client.")):
            yield _restoration(vars(part))
        case _:
            return
    for inner in _parts(part):
        yield from _restorations(inner, seen)


def _restoration(changing: Any) -> Callable[[], None]:
    first = changing.copy()

    def restore() -> None:
        if changing != first:
            changing.clear()
            changing.update(first)

    return restore


def _parts(part: Any) -> list[object]:
    match part:
        case dict():
            return list(part.values())
        case list() | set():
            return list(part)
        case _:
            return list(vars(part).values())
