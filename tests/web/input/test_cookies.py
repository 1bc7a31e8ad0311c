"""The cookies of a request, among cookies of other applications of the domain."""

from __future__ import annotations

from typing import Any, cast

import pytest
from werkzeug.http import dump_cookie

from entrypoints.web.input.cookies import cookie_of
from entrypoints.web.serving.exchanges import GatehouseRequest


def request(*headers: str) -> GatehouseRequest:
    """Return a request with these Cookie headers."""
    scope: Any = {"method": "GET", "scheme": "http", "path": "/", "query_string": b"", "http_version": "1.1"}
    scope |= {"client": None, "headers": [(b"cookie", one.encode("latin1")) for one in headers]}
    return GatehouseRequest.of(scope, cast("Any", None))


@pytest.mark.parametrize(
    "headers",
    [
        ["a=1"],
        ["b=2; a=1; a=3"],
        ["b=2;a=1"],
        ["b=2;\ta = 1 ;c"],
        ["b=2", "a=1"],
        ['b="x; a=1; c=y"'],
        ['b="; a=1'],
        ['a="1"'],
        ["=a; a; a=1"],
    ],
    ids=str,
)
def test_a_cookie_is_found_whatever_other_cookies_contain(headers: list[str]) -> None:
    assert cookie_of(request(*headers), "a") == "1"


@pytest.mark.parametrize("headers", [[], [""], ["A=1"], ["\xa0a=1"], ["\x0ba=1"], ["b=a=1"], ["a"], ['a="1']], ids=str)
def test_what_is_no_cookie_of_that_name_is_none(headers: list[str]) -> None:
    assert cookie_of(request(*headers), "a") is None


def test_any_value_of_ours_is_read_as_it_was_set() -> None:
    for value in ("", "a.b-c_d~e", 'a;b, "c" \\ d', "=", "ä"):
        assert cookie_of(request(dump_cookie("a", value).removesuffix("; Path=/")), "a") == value
