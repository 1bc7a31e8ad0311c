"""Forms with files: what browsers send, and what is no such form."""

from __future__ import annotations

import msgspec
import pytest

from core.errors import BadRequest
from entrypoints.web.input.decoding import QUERY_FIELDS_MAX, decode_query, takes_files
from entrypoints.web.input.multipart import decode_multipart
from entrypoints.web.serving.admission.browsers import ProtectedForm
from tests.multipart import BOUNDARY, part, sent


class WithFile(msgspec.Struct, kw_only=True):
    """A form with a text, boxes to tick, and a file."""

    name: str = ""
    chosen: list[str] = []
    logo: bytes = b""


def decoded(*parts: bytes) -> WithFile:
    return decode_multipart(sent(*parts), BOUNDARY, WithFile)


def test_texts_and_files_are_the_fields_of_a_form() -> None:
    form = decoded(
        part("name", "Björk\r\n--".encode()),
        part("chosen", b"a"),
        part("chosen", b"b"),
        part("logo", b"\r\n\x89PNG\r\n\x00--", filename="../../logo.png"),
        part("other", b"ignored", filename="x"),
    )

    assert form == WithFile(name="Björk\r\n--", chosen=["a", "b"], logo=b"\r\n\x89PNG\r\n\x00--")


def test_a_file_that_is_not_chosen_is_empty_and_a_text_is_no_file() -> None:
    assert decoded(part("logo", b"", filename="")).logo == b""
    assert decoded(part("logo", b"aGk=")).logo == b""
    assert decode_query(b"logo=aGk%3D&name=x", WithFile) == WithFile(name="x")
    assert decoded(part("name", b"x", filename="x")).name == ""


def test_a_form_takes_files_if_it_has_a_field_of_bytes() -> None:
    assert takes_files(WithFile)
    assert not takes_files(ProtectedForm)


@pytest.mark.parametrize("text", [b"a\x00b", b"a\xed\xa0\x80\x00"])
def test_a_text_that_cannot_be_stored_is_refused_with_its_field(text: bytes) -> None:
    with pytest.raises(BadRequest) as refused:
        decoded(part("name", text))

    assert [one.field for one in refused.value.details] == ["name"]


def test_a_part_without_a_name_belongs_to_no_field() -> None:
    nameless = b"Content-Disposition: form-data\r\n\r\nx"

    assert decoded(nameless, part("name", b"y")) == WithFile(name="y")


@pytest.mark.parametrize(
    "options",
    [
        b"; name=name",
        b';name="name"',
        b'; name="name"; name="chosen"',
        b'; name="name"; name*0="chosen"; x=' + b";" * 1_800,
    ],
    ids=["bare", "no blank", "twice", "in parts"],
)
def test_only_the_first_name_of_a_part_is_read(options: bytes) -> None:
    # What else the standards allow there takes a second for a form of 1 MiB.
    form = decoded(b"content-type: text/plain\r\nCONTENT-DISPOSITION: form-data" + options + b"\r\n\r\nx")

    assert form == WithFile(name="x")


@pytest.mark.parametrize(
    "filename", [b'; filename=""', b'; filename="a\\"b; name=\\"name\\""', b"; FILENAME*=utf-8''x"]
)
def test_a_name_of_a_file_makes_a_part_a_file_whatever_is_in_it(filename: bytes) -> None:
    form = decoded(b'Content-Disposition: form-data; name="logo"' + filename + b"\r\n\r\nx")

    assert form == WithFile(logo=b"x")


def test_the_name_of_another_header_is_none_of_a_field() -> None:
    assert decoded(
        b'X: content-disposition: form-data; name="logo"\r\nContent-Disposition: form-data; name=name\r\n\r\nx'
    ) == WithFile(name="x")


@pytest.mark.parametrize(
    "data",
    [
        b"name=x",
        b"--edge\r\n",
        b"--edge\r\nContent-Disposition: form-data; name=name\r\n\r\nx",
        b"--edge\r\nContent-Type: text/plain\r\n\r\nx\r\n--edge--",
        b"--edge\r\nContent-Disposition: form-data; name=name\r\n--edge--",
        b"--edgeContent-Disposition: form-data; name=name\r\n\r\nx\r\n--edge--",
        sent(part("x" * 2_000, b"")),
        sent(*[part("chosen", b"")] * (QUERY_FIELDS_MAX + 1)),
    ],
    ids=["urlencoded", "begun", "no end", "no disposition", "no text", "no line", "long name", "too many"],
)
def test_what_is_no_such_form_is_refused(data: bytes) -> None:
    with pytest.raises(BadRequest, match="This form cannot be read"):
        decode_multipart(data, BOUNDARY, WithFile)


@pytest.mark.parametrize("boundary", ["", "x" * 71, "a\nb", "ends with a space ", "ö"])
def test_a_boundary_that_no_program_sends_is_refused(boundary: str) -> None:
    with pytest.raises(BadRequest):
        decode_multipart(sent(part("name", b"x")), boundary, WithFile)
