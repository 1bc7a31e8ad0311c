"""Which bodies are accepted, and how others are refused."""

import json
import sys
from contextlib import suppress

import msgspec
import pytest

from core.errors import BadRequest
from core.limits import BODY_BYTES_MAX
from entrypoints.web.input.decoding import FIELD_NAME_CHARACTERS_MAX, decode_body
from tests.web.input.parcels import ID, Parcel, posted, routes
from tests.web.probe import ask, serving


async def test_a_body_is_decoded_into_its_type() -> None:
    body = {
        "name": "Ünï 🎁",
        "weight": 3,
        "price": 2,
        "address": {"street": "Mill Lane"},
        "tags": ["a"],
        "owner": str(ID).upper(),
        "sent_at": "2026-01-31T12:00:00+01:00",
    }

    answer = await posted(json.dumps(body).encode())

    assert answer.status == 200
    assert answer.json["name"] == "Ünï 🎁"
    assert answer.json["owner"] == str(ID)
    assert answer.json["address"] == {"street": "Mill Lane"}


async def test_an_invalid_value_is_400_and_names_the_field(subtests: pytest.Subtests) -> None:
    for data, field in (
        (b"{}", "name"),
        (b"", "name"),
        (b'{"name": null}', "name"),
        (b'{"name": 1}', "name"),
        (b'{"name": ""}', "name"),
        (b'{"name": "longer than ten"}', "name"),
        (b'{"name": "x", "sent_at": "0001-01-01T00:00:00+14:00"}', "sent_at"),
        (b'{"name": "x", "sent_at": "9999-12-31T23:59:59-14:00"}', "sent_at"),
        (b'{"name": "x", "weight": "1"}', "weight"),
        (b'{"name": "x", "weight": 1.5}', "weight"),
        (b'{"name": "x", "weight": 1e2}', "weight"),
        (b'{"name": "x", "weight": true}', "weight"),
        (b'{"name": "x", "weight": -1}', "weight"),
        (b'{"name": "x", "weight": 1001}', "weight"),
        (b'{"name": "x", "weight": ' + b"9" * 30 + b"}", "weight"),
        (b'{"name": "x", "weight": ' + b"9" * 10_000 + b"}", "weight"),
        (b'{"name": "x", "price": 1e999}', "price"),
        (b'{"name": "x", "price": ' + b"9" * 10_000 + b"}", "price"),
        (b'{"name": "x", "kind": "crate"}', "kind"),
        (b'{"name": "x", "is_fragile": 1}', "is_fragile"),
        (b'{"name": "x", "address": {}}', "address.street"),
        (b'{"name": "x", "address": {"street": 1}}', "address.street"),
        (b'{"name": "x", "address": []}', "address"),
        (b'{"name": "x", "tags": ["a", 1]}', "tags[1]"),
        (b'{"name": "x", "tags": ["a", "b", "c"]}', "tags"),
        (b'{"name": "x", "colour": "red"}', "colour"),
        (b'{"name": "x", "owner": "me"}', "owner"),
        (b'{"name": "x", "sent_at": "yesterday"}', "sent_at"),
        (b'{"name": "x", "marks": {"a": 1}}', "marks[...]"),
        (b"[]", "body"),
        (b"null", "body"),
        (b'"text"', "body"),
        (b"1", "body"),
    ):
        with subtests.test(data=data, field=field):
            answer = await posted(data)

            assert (answer.status, answer.code, answer.fields) == (400, "BAD_REQUEST", [field])


async def test_invalid_json_or_utf_8_is_400(subtests: pytest.Subtests) -> None:
    for data in (
        b"{",
        b'{"name": "x"}{}',
        b"{'name': 'x'}",
        b'{"name": "x",}',
        b'{"name": "x", "price": NaN}',
        b'{"name": "x", "price": Infinity}',
        b'{"name": "x", "price": -Infinity}',
        b'{"name": "x", "price": 01}',
        b'{"name": "\x00"}',
        b'{"name": "\n"}',
        b'{"name": "\xff"}',
        b'{"name": "x", "unknown": "\xff"}',
        b'{"name": "\xed\xa0\x80"}',
        b'\xef\xbb\xbf{"name": "x"}',
        '{"name": "x"}'.encode("utf-16"),
        b"\x00",
        b"name=x",
        b"// no comments\n{}",
    ):
        with subtests.test(data=data):
            answer = await posted(data)

            assert (answer.status, answer.code) == (400, "BAD_REQUEST")
            assert answer.json["error"] == "The body is not valid JSON in UTF-8."


async def test_a_text_with_nul_or_a_lone_surrogate_is_400_and_names_the_field(subtests: pytest.Subtests) -> None:
    for template, field in (
        ('{"name": "%s"}', "name"),
        ('{"name": "x", "address": {"street": "a%sb"}}', "address.street"),
        ('{"name": "x", "tags": ["a", "%s"]}', "tags[1]"),
        ('{"name": "x", "unknown": [{"deep": "%s"}]}', "unknown[0].deep"),
        ('{"name": "x", "unknown": ' + "9" * 5000 + ', "note": "%s"}', "note"),
    ):
        for escape in (r"\u0000", r"\ud800", r"\udfff", r"\ud800x", r"\udc00\ud800", r"\uD83D"):
            with subtests.test(escape=escape, template=template, field=field):
                answer = await posted(template.replace("%s", escape).encode())

                assert (answer.status, answer.code, answer.fields) == (400, "BAD_REQUEST", [field])


@pytest.mark.parametrize("escape", [r"\u0000", r"\ud800"])
async def test_a_key_with_nul_or_a_lone_surrogate_is_400_and_is_named_without_it(escape: str) -> None:
    answer = await posted(b'{"name": "x", "marks": {"a%s": "b"}}' % escape.encode())

    assert (answer.status, answer.fields) == (400, ["marks.a\ufffd"])


@pytest.mark.parametrize("text", [r"\\u0000", r"\ud83d\ude00", r"\u0001", r"\\ud800", r"\uffff"])
async def test_a_text_that_only_resembles_such_an_escape_is_accepted(text: str) -> None:
    answer = await posted(f'{{"name": "{text}"}}'.encode())

    assert answer.status == 200


async def test_a_long_key_is_truncated_in_the_refusal() -> None:
    answer = await posted(b'{"name": "x", "' + b"k" * 8_000 + rb'": "\u0000"}')

    assert answer.status == 400
    assert len(answer.fields[0]) == FIELD_NAME_CHARACTERS_MAX


async def test_a_long_value_is_not_repeated_in_the_refusal() -> None:
    answer = await posted(b'{"name": "x", "kind": "' + b"k" * 60_000 + b'"}')

    assert (answer.status, answer.fields) == (400, ["kind"])
    assert len(answer.content) < 500


@pytest.mark.parametrize("levels", [1, 100])
async def test_nesting_is_accepted(levels: int) -> None:
    answer = await posted(b'{"name": "x", "unknown": ' + b"[" * levels + b"]" * levels + b"}")

    assert answer.status == 200


async def test_any_nesting_is_ignored_or_400(subtests: pytest.Subtests) -> None:
    for opening, closing in ((b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]")):
        for case, name in (
            ("valid", b'"x"'),
            ("invalid", b"1"),
            ("unstorable", rb'"\u0000"'),
        ):
            for levels in (1000, 6000):
                with subtests.test(levels=levels, case=case, opening=opening, closing=closing):
                    inside = opening * levels + b"0" + closing * levels

                    answer = await posted(b'{"unknown": ' + inside + b', "name": ' + name + b"}")

                    # How deep the decoder reads depends on the version of Python.
                    assert answer.status in ({200, 400} if name == b'"x"' else {400})


async def test_nesting_that_the_decoder_does_not_read_is_refused_as_such() -> None:
    answer = await posted(filled(b'{"unknown": ', b"[", b""))

    assert (answer.status, answer.json["error"]) == (400, "body: This is nested too deeply.")


@pytest.mark.parametrize("levels", [1000, 6000])
async def test_nesting_after_an_invalid_field_does_not_hide_it(levels: int) -> None:
    answer = await posted(b'{"name": 1, "unknown": ' + b"[" * levels + b"]" * levels + b"}")

    assert (answer.status, answer.fields) == (400, ["name"])


async def test_many_sibling_values_are_not_nested() -> None:
    answer = await posted(b'{"name": "[[[", "unknown": [' + b'{"a": ["]]"]}, ' * 1000 + b"0]}")

    assert answer.status == 200


def filled(before: bytes, piece: bytes, after: bytes) -> bytes:
    """Repeat the piece until the body has the largest size."""
    return before + piece * ((BODY_BYTES_MAX - len(before) - len(after)) // len(piece)) + after


@pytest.mark.parametrize(
    "data",
    [
        filled(b"", b"[", b""),
        filled(b'{"name": "x", "unknown": [', b"{},", b"0]}"),
        filled(b'{"name": 1, "unknown": [', b"{},", b"0]}"),
        filled(b'{"name": "x", "unknown": [', b"0,", rb'"\u0000"]}'),
        filled(b'{"name": "x", "unknown": [', rb'"\ud83d\ude00",', b"0]}"),
        filled(b'{"name": "x", "unknown": [', rb'"\ud83d",', b"0]}"),
        filled(b'{"name": "x", "unknown": "', rb"\\", rb'\u0000"}'),
        filled(b'{"name": "x", "unknown": "', rb"\\u0000", b'"}'),
        filled(b'{"name": "x", "price": ', b"9", b"}"),
    ],
    ids=["brackets", "objects", "refused", "nul", "pairs", "halves", "backslashes", "look-alikes", "digits"],
)
async def test_a_large_body_is_never_read_value_by_value(data: bytes) -> None:
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        with suppress(BadRequest):
            decode_body(data, Parcel)
    finally:
        sys.setprofile(None)

    # A body of this size has tens of thousands of values.
    assert calls < 500


async def test_a_nul_in_a_large_body_is_400_and_its_position_is_named() -> None:
    data = filled(b'{"name": "x", "unknown": "', b"y", rb'\u0000"}')

    answer = await posted(data)

    assert (answer.status, answer.fields) == (400, ["body"])
    assert f"at byte {data.index(b'u0000') - 1} " in answer.json["error"]


async def test_a_lone_surrogate_in_a_large_body_is_400() -> None:
    answer = await posted(filled(b'{"name": "x", "unknown": "', b"y", rb'\ud800"}'))

    assert (answer.status, answer.code) == (400, "BAD_REQUEST")


async def test_an_invalid_field_of_a_large_body_is_named() -> None:
    answer = await posted(filled(b'{"name": 1, "unknown": "', b"y", b'"}'))

    assert (answer.status, answer.fields) == (400, ["name"])


async def test_unknown_fields_are_ignored() -> None:
    answer = await posted(b'{"name": "x", "unknown": {"a": [1, 1e999, ' + b"9" * 5000 + b"]}}")

    assert answer.status == 200


async def test_the_last_of_duplicate_keys_counts() -> None:
    answer = await posted(b'{"name": "x", "name": "y"}')

    assert answer.json["name"] == "y"


async def test_a_body_may_arrive_in_pieces_and_with_whitespace_around() -> None:
    answer = await posted([b" \n", b'{"na', b'me": "x"}', b"\t"])

    assert (answer.status, answer.json["name"]) == (200, "x")


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON", None])
async def test_several_content_types_and_none_are_accepted_as_json(content_type: str | None) -> None:
    answer = await posted(b'{"name": "x"}', content_type)

    assert answer.status == 200


@pytest.mark.parametrize("coding", ["gzip", "deflate, br", "identity, gzip", "x"])
@pytest.mark.parametrize("target", ["/parcels", "/shelves/a"])
async def test_an_encoded_body_is_415_and_the_answer_says_that_none_is_accepted(coding: str, target: str) -> None:
    method = "POST" if target == "/parcels" else "GET"

    answer = await ask(serving(routes), method, target, data=b"\x1f\x8b", headers={"Content-Encoding": coding})

    assert (answer.status, answer.code) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert answer.headers["Accept-Encoding"] == "identity"


async def test_a_body_whose_encoding_is_identity_is_accepted() -> None:
    headers = {"Content-Encoding": "Identity"}

    answer = await ask(serving(routes), "POST", "/parcels", data=b'{"name": "x"}', headers=headers)

    assert answer.status == 200


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "nonsense",
    ],
)
async def test_a_body_of_another_content_type_is_415(content_type: str) -> None:
    answer = await posted(b'{"name": "x"}', content_type)

    assert (answer.status, answer.code) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert answer.json["error"] == "Send the body as application/json."


async def test_the_content_type_of_an_empty_body_is_ignored() -> None:
    answer = await posted(b"", "text/plain")

    assert (answer.status, answer.fields) == (400, ["name"])


async def test_a_refusal_explains_the_problem_in_plain_words(subtests: pytest.Subtests) -> None:
    for data, sentence in (
        (b"{}", "This field is required."),
        (b'{"name": 1}', "This must be text with a length of at least 1 and at most 10."),
        (b'{"name": ""}', "This must be text with a length of at least 1 and at most 10."),
        (b'{"name": "longer than ten"}', "This must be text with a length of at least 1 and at most 10."),
        (b'{"name": "x", "weight": "1"}', "This must be a whole number of at least 0 and at most 1000."),
        (b'{"name": "x", "weight": -1}', "This must be a whole number of at least 0 and at most 1000."),
        (b'{"name": "x", "weight": 1001}', "This must be a whole number of at least 0 and at most 1000."),
        (b'{"name": "x", "weight": ' + b"9" * 5000 + b"}", "This number is too large."),
        (b'{"name": "x", "note": 1}', "This must be text or null."),
        (b'{"name": "x", "kind": "crate"}', "This must be one of these: box, letter."),
        (b'{"name": "x", "is_fragile": 1}', "This must be true or false."),
        (b'{"name": "x", "address": []}', "This must be an object or null."),
        (b'{"name": "x", "tags": {}}', "This must be a list with a length of at most 2."),
        (b'{"name": "x", "tags": ["a", 1]}', "This must be text."),
        (b'{"name": "x", "marks": {"a": 1}}', "This must be text."),
        (b'{"name": "x", "tags": ["a", "b", "c"]}', "This must be a list with a length of at most 2."),
        (b'{"name": "x", "colour": "red"}', "This must be text that matches the regular expression ^str|int$."),
        (b'{"name": "x", "owner": "me"}', "This must be an id (a UUID)."),
        (b'{"name": "x", "owner": 1}', "This must be an id (a UUID) or null."),
        (b'{"name": "x", "owner": "me", no JSON', "This must be an id (a UUID) or null."),
        (b'{"name": "x", "owner": "me", "owner": null}', "This must be an id (a UUID) or null."),
        (b'{"name": "x", "sent_at": ""}', "This must be a time such as 2026-01-31T12:00:00Z (RFC 3339)."),
        (b"[]", "This must be an object."),
    ):
        with subtests.test(data=data, sentence=sentence):
            answer = await posted(data)

            problem = answer.json["details"][0]
            assert problem["message"] == sentence
            assert answer.json["error"] == f"{problem['field']}: {sentence}"


async def test_a_message_of_a_custom_validation_is_passed_on() -> None:
    class Span(msgspec.Struct):
        begin: str
        end: str

        def __post_init__(self) -> None:
            if self.end < self.begin:
                raise ValueError("The end is before the beginning.")

    with pytest.raises(BadRequest, match=r"^body: The end is before the beginning\.$"):
        decode_body(b'{"begin": "b", "end": "a"}', Span)
