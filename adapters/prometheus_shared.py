"""Counting together: memory in which several workers count, for prometheus-client, whose own way is files.

A process that writes to a page of a mapped file ends by SIGBUS when the file system has no room for that page, and a
figure must not cost a request. So the parent makes this memory before it forks. Each worker has a place in it, and the
replacement of a worker continues its counts. A gauge is shown once the worker that is there has it.

A place is a head of two words (the bytes in use, and whether a worker is there) and records, which are only appended: a
word with the length of the name, the value, the time of a gauge, and the name, all at multiples of eight bytes.
"""

from __future__ import annotations

import json
import mmap
import time
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from threading import Lock
from typing import Any, Final, TypeAlias

from prometheus_client import Metric
from prometheus_client.registry import Collector

from core.lazy_dataclasses import dataclass

# Memory is taken as it is used: some hundred kilobytes for most. All series that there can be fit.
PLACE_BYTES: Final = 32 * 1024**2
_WORD: Final = 8
_USED, _IS_TAKEN = 0, 1
_HEAD_BYTES: Final = 2 * _WORD
# Of a record, before its name.
_VALUE_WORDS: Final = 3
# The time of a gauge that the present worker does not have, and of one whose time does not count.
_ABSENT, _TIMELESS = 0.0, -1.0
_GAUGE: Final = "gauge"
_MOST_RECENT: Final = "mostrecent"

# A name and the values of its labels.
_Series: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]


class SharedMetrics:
    """The memory of all places; to be made before the workers are forked."""

    def __init__(self, places: int, *, place_bytes: int = PLACE_BYTES) -> None:
        self._places = [_Place(mmap.mmap(-1, place_bytes)) for _ in range(places)]

    def take(self, number: int) -> Callable[..., Any]:
        """Take a place for this process; return what makes its values, for `prometheus_client.values.ValueClass`."""
        place = self._places[number]
        _hide_gauges(place)
        place.is_taken = True
        return partial(_Value, _Cells(place))

    def leave(self, number: int) -> None:
        """Record that the worker is gone: its counts stay, and its gauges do not."""
        self._places[number].is_taken = False

    def collector(self) -> Collector:
        """Return what collects the metrics of all places."""
        return _Collector(self._places)


class _Place:
    """The records of one worker and of the workers that it has replaced."""

    def __init__(self, memory: mmap.mmap) -> None:
        self._bytes = memoryview(memory)
        self._words = self._bytes.cast("Q")
        self.values = self._bytes.cast("d")

    @property
    def is_taken(self) -> bool:
        """Whether a worker is here."""
        return bool(self._words[_IS_TAKEN])

    @is_taken.setter
    def is_taken(self, is_taken: bool) -> None:
        self._words[_IS_TAKEN] = is_taken

    def records(self) -> Iterator[tuple[bytes, int]]:
        """Yield the name of each record and the index of its value, which the index of its time follows."""
        word, end = _HEAD_BYTES // _WORD, max(_HEAD_BYTES, self._words[_USED]) // _WORD
        while word < end:
            start = (word + _VALUE_WORDS) * _WORD
            length = self._words[word]
            yield bytes(self._bytes[start : start + length]), word + 1
            word += _VALUE_WORDS + _words_for(length)

    def append(self, name: bytes) -> int | None:
        """Append a record of 0, and return the index of its value; None when there is no room for it."""
        used = max(_HEAD_BYTES, self._words[_USED])
        needed = (_VALUE_WORDS + _words_for(len(name))) * _WORD
        if used + needed > len(self._bytes):
            return None
        word = used // _WORD
        self._words[word] = len(name)
        # A worker that was killed may have left something here.
        self.values[word + 1] = self.values[word + 2] = 0.0
        start = used + _VALUE_WORDS * _WORD
        self._bytes[start : start + len(name)] = name
        # Last, so that a reader finds whole records.
        self._words[_USED] = used + needed
        return word + 1


class _Cells:
    """The values of one process by their names, in its place, or in memory of its own when the place is full."""

    def __init__(self, place: _Place) -> None:
        self._place = place
        self._known = dict(place.records())
        self.lock = Lock()

    def cell(self, name: bytes) -> tuple[memoryview[float] | array[float], int]:
        """Return where the value with that name is."""
        with self.lock:
            index = self._known.get(name)
            if index is None:
                index = self._place.append(name)
                if index is None:
                    return array("d", (0.0, 0.0)), 0
                self._known[name] = index
            return self._place.values, index


class _Value:
    """A value of a metric, as prometheus-client uses it."""

    def __init__(  # noqa: PLR0913 - the library calls it
        self,
        cells: _Cells,
        kind: str,
        metric: str,
        name: str,
        labels: Iterable[str],
        label_values: Iterable[str],
        meaning: str,
        *,
        multiprocess_mode: str = "",
    ) -> None:
        # What describes a metric is stored once, and not with each of its series.
        cells.cell(_encoded([metric, kind, multiprocess_mode, meaning]))
        series = dict(zip(labels, label_values, strict=True))
        self._values, self._index = cells.cell(_encoded([metric, name, series]))
        self._lock = cells.lock
        if kind == _GAUGE and multiprocess_mode == _MOST_RECENT:
            # It is shown once it is set.
            self._values[self._index + 1] = _ABSENT
        elif kind == _GAUGE:
            self.set(0.0)

    def inc(self, amount: float) -> None:
        """Add to the value."""
        with self._lock:
            self._values[self._index] += amount

    def set(self, value: float, timestamp: float | None = None) -> None:
        """Set the value, and the time of a gauge whose most recent value counts.

        The library gives the time of the machine's clock, which may be set back: then no later value would be shown.
        """
        with self._lock:
            self._values[self._index] = value
            self._values[self._index + 1] = _TIMELESS if timestamp is None else time.monotonic()


@dataclass(frozen=True, slots=True)
class _Family:
    """What describes a metric."""

    kind: str
    mode: str
    meaning: str


@dataclass(frozen=True, slots=True)
class _Sample:
    """A value of one place."""

    value: float
    at: float


class _Collector(Collector):
    """Adds up what all places have."""

    def __init__(self, places: Iterable[_Place]) -> None:
        self._places = list(places)

    def collect(self) -> Iterable[Metric]:
        families: dict[str, _Family] = {}
        found: dict[str, dict[_Series, list[_Sample]]] = defaultdict(lambda: defaultdict(list))
        for place in self._places:
            is_taken = place.is_taken
            for metric, series, index in _series(place, families):
                sample = _Sample(place.values[index], place.values[index + 1])
                if families[metric].kind != _GAUGE or (is_taken and sample.at != _ABSENT):
                    found[metric][series].append(sample)
        for metric, family in families.items():
            yield _merged(metric, family, found[metric])


def _hide_gauges(place: _Place) -> None:
    families: dict[str, _Family] = {}
    for metric, _, index in _series(place, families):
        if families[metric].kind == _GAUGE:
            place.values[index + 1] = _ABSENT


def _series(place: _Place, families: dict[str, _Family]) -> Iterator[tuple[str, _Series, int]]:
    """Yield the metric of each value, its name with its labels, and its index; add what describes the metrics."""
    for name, index in place.records():
        match json.loads(name):
            case [metric, kind, mode, meaning]:
                families[metric] = _Family(kind, mode, meaning)
            # The description of a metric may have been too long for the rest.
            case [metric, sample, labels] if metric in families:
                yield metric, (sample, tuple(sorted(labels.items()))), index
            case _:
                pass


def _merged(metric: str, family: _Family, found: Mapping[_Series, list[_Sample]]) -> Metric:
    merged = Metric(metric, family.meaning, family.kind)
    buckets: dict[tuple[tuple[str, str], ...], list[tuple[float, dict[str, str], float]]] = defaultdict(list)
    for (name, labels), samples in found.items():
        value, series = _of_all(family.mode, samples), dict(labels)
        if "le" in series and family.kind == "histogram":
            others = tuple(label for label in labels if label[0] != "le")
            buckets[others].append((float(series["le"]), series, value))
        else:
            merged.add_sample(name, series, value)
    for others, counts in buckets.items():
        # Each of them has counted what is in no smaller one.
        total = 0.0
        for _, series, value in sorted(counts, key=lambda count: count[0]):
            total += value
            merged.add_sample(f"{metric}_bucket", series, total)
        merged.add_sample(f"{metric}_count", dict(others), total)
    return merged


def _of_all(mode: str, samples: list[_Sample]) -> float:
    if mode == _MOST_RECENT:
        return max(samples, key=lambda sample: sample.at).value
    values = [sample.value for sample in samples]
    return {"min": min, "max": max}.get(mode, sum)(values)


def _encoded(parts: list[Any]) -> bytes:
    return json.dumps(parts, separators=(",", ":")).encode()


def _words_for(length: int) -> int:
    return -(-length // _WORD)
