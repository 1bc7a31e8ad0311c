"""The headers of a request: quick look-ups that find what werkzeug's own headers find."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.datastructures import Headers
from werkzeug.exceptions import BadRequestKeyError

from entrypoints.web.serving.exchanges import RequestHeaders

PEER = "192.0.2.1"
NAMES = ("accept", "x-number", "remote-addr")
sent_headers = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(["", "1", "23", "x"])), max_size=6)


def both(sent: list[tuple[str, str]]) -> tuple[RequestHeaders, Headers]:
    """Return the headers of a request that sends these, and werkzeug's."""
    ours = RequestHeaders(PEER, [(name.encode(), value.encode()) for name, value in sent])
    return ours, Headers([("remote-addr", PEER), *sent])


@given(sent_headers)
def test_every_look_up_finds_what_that_of_werkzeug_finds(sent: list[tuple[str, str]]) -> None:
    ours, theirs = both(sent)

    assert (list(ours), len(ours), list(ours.items())) == (list(theirs), len(theirs), list(theirs.items()))
    for name in (*(name.title() for name in NAMES), "Missing"):
        assert ours.get(name, "default") == theirs.get(name, "default")
        assert ours.get(name, 0, int) == theirs.get(name, 0, int)
        assert ours.getlist(name) == theirs.getlist(name)
        assert ours.getlist(name, int) == theirs.getlist(name, int)
        assert (name in ours) == (name in theirs)
        if name in ours:
            assert ours[name] == theirs[name]


def test_a_header_that_is_missing_is_an_error_and_none_can_be_changed() -> None:
    ours: Any = both([])[0]

    with pytest.raises(BadRequestKeyError):
        _ = ours["missing"]
    for change in (lambda: ours.add("a", "b"), lambda: ours.update({"a": "b"}), ours.copy):
        with pytest.raises(TypeError):
            change()
