"""Searching an audit log: the times of ids, and where a part of the list goes on."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from core.audit.audit_log import SearchedEntries
from core.audit.browser import AskedEntries
from core.audit.entry_search import EntryCriteria, place_of
from core.errors import BadRequest
from core.ids import FIRST_ID, first_id_at, moment_of
from core.log_times import time_of

NOON = datetime(2026, 2, 3, 12, 0, 0, 1000, tzinfo=UTC)


def test_an_id_has_the_time_when_it_was_made() -> None:
    assert moment_of(first_id_at(NOON)) == NOON
    assert first_id_at(datetime(1, 1, 1, tzinfo=UTC)) == FIRST_ID


def test_a_list_goes_on_after_its_last_entry_or_after_the_last_one_that_was_looked_at() -> None:
    last = cast("Any", SimpleNamespace(id=UUID(int=7)))

    def next_id(*, has_more: bool, bound_id: UUID | None) -> UUID | None:
        found = SearchedEntries(entries=[last], total=1, is_exact=True, has_more=has_more, bound_id=bound_id)
        return found.next_id

    assert next_id(has_more=True, bound_id=UUID(int=1)) == UUID(int=7)
    assert next_id(has_more=False, bound_id=UUID(int=1)) == UUID(int=1)
    assert next_id(has_more=False, bound_id=None) is None


def test_what_is_typed_is_an_address_or_the_id_of_a_request() -> None:
    assert place_of(" 2001:DB8:0::1 ") == ("2001:db8::1", None)
    assert place_of(" req-1 ") == (None, "req-1")


def test_a_filter_is_empty_until_something_is_typed() -> None:
    assert AskedEntries().is_empty
    assert not AskedEntries(actor="ann@example.com").is_empty
    assert not EntryCriteria().is_given
    assert EntryCriteria(q="").is_given


@pytest.mark.parametrize("typed", ["2026-02-03", "2026-02-03T00:00", "2026-02-03 01:00+01:00", " 20260203 "])
def test_a_time_without_a_zone_is_in_utc(typed: str) -> None:
    assert time_of("since", typed) == datetime(2026, 2, 3, tzinfo=UTC)


@pytest.mark.parametrize("typed", ["yesterday", "2026-02-30", "0001-01-01T00:00+14:00"])
def test_what_is_no_time_is_refused(typed: str) -> None:
    with pytest.raises(BadRequest):
        time_of("since", typed)
