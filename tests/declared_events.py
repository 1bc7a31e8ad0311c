"""Compares the events and audit entries that tests record with what is declared of their type.

`tests/conftest.py` sets the watch up for all tests: it compares whatever a use case records, in any test. What a test
writes itself, without a use case, is not compared.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import msgspec

from adapters.postgres.events.actions import PostgresAuditEntries
from adapters.postgres.events.events import PostgresEvents
from core.events.actions import AuditAction
from core.events.data import EntryData, Place, keys_of
from core.events.declared_data import DATA
from core.events.events import EventType

CORE = str(Path(__file__).resolve().parents[1] / "core")
Recorded = Iterable[tuple[EventType, Place, Mapping[str, Any]]]


def differences(event: EventType, place: Place, data: Mapping[str, Any], *, is_delivered: bool = False) -> list[str]:
    """List how the data of an event, or the details of an entry, differ from what is declared.

    Only what is delivered has addresses, and an entry may lack any key.
    """
    declared = {key.name: key for key in keys_of(EntryData)} if place is Place.ENTRY else {}
    declared |= {
        key.name: key
        for key in keys_of(DATA[event])
        if key.place in {None, place} and (key.address_of is None or is_delivered)
    }
    found = [f"{event.value}: {name} is not declared" for name in data.keys() - declared.keys()]
    for name, key in declared.items():
        if name in data:
            try:
                msgspec.convert(data[name], key.kind, str_keys=True)
            except msgspec.ValidationError as problem:
                found.append(f"{event.value}: {name} is {data[name]!r}: {problem}")
        elif key.is_always_there and place is Place.EVENT:
            found.append(f"{event.value}: {name} is missing")
    return found


def watch_events() -> None:
    """Fail in each use case that records what is not declared."""
    for writer, name, recorded in (
        (PostgresEvents, "add", lambda event, _owners, data, **_: [(event, Place.EVENT, data)]),
        (PostgresEvents, "add_of_users", lambda event, _owner, rows: ((event, Place.EVENT, row[2]) for row in rows)),
        (PostgresEvents, "add_each", lambda event, rows: ((event, Place.EVENT, row[1]) for row in rows)),
        (PostgresEvents, "add_alike", _alike_events),
        (PostgresAuditEntries, "add", lambda action, _, details, **__: [(action.event, Place.ENTRY, details)]),
        (PostgresAuditEntries, "add_alike", lambda action, rows: _entries(action, (row.details for row in rows))),
        (PostgresAuditEntries, "add_each_without_origin", lambda action, rows: _entries(action, (r[2] for r in rows))),
    ):
        setattr(writer, name, _watched(getattr(writer, name), recorded))


def _alike_events(event: EventType, target_name: str, rows: Iterable[Any]) -> Recorded:
    target = {target_name: "01890a5d-ac96-774b-bcce-b302099a8057"}
    return ((event, Place.EVENT, target | row.details) for row in rows)


def _entries(action: AuditAction, details: Iterable[Mapping[str, Any]]) -> Recorded:
    return ((action.event, Place.ENTRY, one) for one in details)


def _watched(write: Callable[..., None], recorded: Callable[..., Recorded]) -> Callable[..., None]:
    @wraps(write)
    def watched(self: Any, *arguments: Any, **named: Any) -> None:
        if _is_of_a_use_case():
            found = [
                one
                for event, place, data in recorded(*arguments, **named)
                for one in differences(event, place, msgspec.to_builtins(dict(data)))
            ]
            assert not found, f"declare in core/events what is recorded: {found}"
        write(self, *arguments, **named)

    return watched


def _is_of_a_use_case() -> bool:
    """Return whether the first caller that is no adapter is in core."""
    frame = sys._getframe(2)
    while frame.f_back is not None and "/adapters/" in frame.f_code.co_filename:
        frame = frame.f_back
    return frame.f_code.co_filename.startswith(CORE)
