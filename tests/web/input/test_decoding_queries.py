"""Query strings: which ones are accepted, and how the others are refused."""

from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.errors import BadRequest
from entrypoints.web.input.decoding import (
    QUERY_FIELDS_MAX,
    SLOWLY_DECODED_BYTES_MAX,
    decode_query,
)
from tests.web.input.parcels import ID, Search, got, is_storable


async def test_a_query_is_decoded_into_its_type() -> None:
    answer = await got("/parcels?text=a%20b%C3%BC&age=42&is_open=true")

    assert answer.json == {"text": "a bü", "age": 42, "is_open": True, "chosen": []}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("text=a+b", {"text": "a b"}),
        ("text=", {"text": ""}),
        ("text=a&text=b", {"text": "b"}),
        ("text=%F0%9F%8E%81", {"text": "🎁"}),
        ("text=%ff", {"text": "\ufffd"}),
        ("text=%zz%", {"text": "%zz%"}),
        ("unknown=%00", {}),
        ("%00=x", {}),
        ("&&=&text", {"text": ""}),
        ("age=0007", {"age": 7}),
        ("age=-3", {"age": -3}),
        ("age=" + "0" * 5000 + "5", {"age": 5}),
        ("age=" + "9" * 18, {"age": 10**18 - 1}),
        ("age=" + "9" * 5000, {"age": 10**18}),
        ("age=-" + "9" * 19, {"age": -(10**18)}),
        ("is_open=1", {"is_open": True}),
        (f"chosen={ID}", {"chosen": [str(ID)]}),
        (f"chosen={ID}&age=1&chosen={ID}", {"chosen": [str(ID), str(ID)]}),
        ("text=a", {"chosen": []}),
    ],
)
async def test_a_query_is_decoded_leniently(query: str, expected: dict[str, Any]) -> None:
    answer = await got(f"/parcels?{query}")

    assert answer.status == 200
    assert expected.items() <= answer.json.items()


async def test_an_invalid_query_is_400_and_names_the_field(subtests: pytest.Subtests) -> None:
    for query, field in (
        ("age=", "age"),
        ("age=x", "age"),
        ("age=1.0", "age"),
        ("age=1e3", "age"),
        ("age=+1", "age"),
        ("age=%201", "age"),
        ("age=1_000", "age"),
        ("age=%D9%A3", "age"),
        ("age=--1", "age"),
        ("age=" + "0" * 15_000 + "x", "age"),
        ("text=a%00b", "text"),
        ("is_open=perhaps", "is_open"),
        ("is_open=null", "is_open"),
        ("day=null", "day"),
        ("day=NULL", "day"),
        ("age=null", "age"),
    ):
        with subtests.test(query=query, field=field):
            answer = await got(f"/parcels?{query}")

            assert (answer.status, answer.code, answer.fields) == (400, "BAD_REQUEST", [field])


async def test_every_invalid_field_of_a_query_is_named_at_once() -> None:
    answer = await got("/parcels?age=x&is_open=perhaps&text=a%00b")

    assert (answer.status, sorted(answer.fields)) == (400, ["age", "is_open", "text"])


async def test_every_value_of_a_list_is_read() -> None:
    for query, fields in (
        (f"chosen={ID}&chosen=x", {"chosen[1]"}),
        (f"chosen=x&chosen={ID}", {"chosen[0]"}),
        ("chosen=", {"chosen[0]"}),
        ("chosen=%00", {"chosen", "chosen[0]"}),
    ):
        answer = await got(f"/parcels?{query}")

        assert (answer.status, set(answer.fields)) == (400, fields)


async def test_a_query_has_a_bounded_number_of_fields() -> None:
    answer = await got("/parcels?" + "a=1&" * QUERY_FIELDS_MAX + "a=1")

    assert (answer.status, answer.json["error"]) == (400, "The query string has too many fields.")


async def test_a_route_that_takes_no_query_ignores_it() -> None:
    answer = await got(f"/parcels/{ID}?%00=%ff&&&")

    assert answer.status == 200


@given(st.lists(st.tuples(st.sampled_from(["text", "é=&", "="]), st.text(st.characters(exclude_characters="\0")))))
@example([("text", "=41 %41 + & ; _ \t\r\n =\r\n= ü 🎁 ")])
@example([("text", "a"), ("text", "\n"), ("", "b"), ("text", "")])
def test_a_large_form_says_the_same_as_a_small_one(fields: list[tuple[str, str]]) -> None:
    fields = [(name, text.encode(errors="replace").decode()) for name, text in fields]
    for written in (urlencode(fields).encode(), urlencode(fields, quote_via=quote, safe="\n\r=_").encode()):
        large = b"rest=" + b"%C3%BC" * SLOWLY_DECODED_BYTES_MAX + b"&&" + written

        assert decode_query(large, Search) == decode_query(written, Search)


@pytest.mark.parametrize("text", [b"%", b"%4", b"%zz", b"%%41", b"%\n"])
def test_a_large_form_with_a_damaged_escape_is_refused(text: bytes) -> None:
    with pytest.raises(BadRequest, match="This form cannot be read"):
        decode_query(b"rest=" + b"x" * SLOWLY_DECODED_BYTES_MAX + b"&text=" + text, Search)


def test_bytes_that_are_no_utf_8_are_replaced_in_a_large_form_as_well() -> None:
    large = b"rest=" + b"x" * SLOWLY_DECODED_BYTES_MAX + b"&text=a%ff%C3a"

    assert decode_query(large, Search).text == "a\ufffd\ufffda"


@given(st.binary(max_size=200))
def test_any_query_string_is_either_accepted_or_refused(query_string: bytes) -> None:
    try:
        query = decode_query(query_string, Search)
    except BadRequest:
        return

    assert is_storable(query.text)
