"""Metadata: few names with short values, changed name by name."""

from __future__ import annotations

from typing import Any

import pytest

from core import metadata
from core.errors import BadRequest
from core.metadata import MetadataPatch


def _after(before: dict[str, Any], names: dict[str, Any] | None) -> dict[str, Any]:
    return MetadataPatch(names=names).applied_to(before)


def test_a_patch_sets_its_names_and_takes_away_what_is_null() -> None:
    before = {"plan": "gold", "seats": 5, "beta": True}

    assert _after(before, {"seats": 6, "beta": None, "tags": ["a", "b"], "gone": None}) == {
        "plan": "gold",
        "seats": 6,
        "tags": ["a", "b"],
    }
    assert _after(before, {}) == before
    assert _after(before, None) == {}


@pytest.mark.parametrize(
    "names",
    [
        {"": 1},
        {"two words": 1},
        {"x" * 65: 1},
        {"nul\0": 1},
        {"pl\u0430n": 1},
        {"plan\n": 1},
        {"a": {"b": 1}},
        {"a": [1]},
        {"a": [["b"]]},
        {"a": "nul\0"},
        {"a": "\ud800"},
        {"a": ["nul\0"]},
        {"a": 2**53},
        {"a": -(2**53)},
        {"a": float("inf")},
        {"a": float("nan")},
        {"a": "\N{GRINNING FACE}" * 1024},
        {"a": ["\N{GRINNING FACE}"] * 700},
        {f"n{number}": number for number in range(51)},
    ],
)
def test_names_and_values_that_cannot_be_are_refused(names: dict[str, Any]) -> None:
    with pytest.raises(BadRequest) as refused:
        _after({}, names)

    assert [one.field for one in refused.value.details] == ["metadata"]


def test_the_bytes_count_as_they_are_written_and_a_patch_may_make_room() -> None:
    full = {"a": "\N{GRINNING FACE}" * 1022}

    assert metadata.size_bytes(_after({}, full)) == 4096
    with pytest.raises(BadRequest):
        _after(full, {"b": 1})
    assert _after(full, {"a": None, "b": 1}) == {"b": 1}


def test_what_is_recorded_names_what_has_changed_and_no_value() -> None:
    before = {"kept": "x", "number": 1, "list": ["a"], "gone": "secret"}
    after = {"kept": "x", "number": True, "list": ["b"], "new": "secret"}

    assert metadata.changed_names(before, after) == {"set": ["list", "new", "number"], "removed": ["gone"]}
    assert metadata.is_changed({"a": 1}, {"a": 1.0})
    assert not metadata.is_changed(before, dict(before))
