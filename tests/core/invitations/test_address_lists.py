"""Lists of people as they are typed or copied."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.invitations.bulk_invitations import TypedList, read, written

WORDS = st.text("abcdefghijklmnopqrstuvwxyzÄöß-'.", min_size=1, max_size=12)
ADDRESSES = st.builds(
    "{}@{}.example".format,
    st.from_regex(r"[a-z0-9._+-]{0,8}[a-z0-9]", fullmatch=True),
    st.from_regex(r"[a-z]{1,8}", fullmatch=True),
)
SEPARATORS = st.sampled_from([",", ";", "\t", "\n", "\r\n", ", ", " ; ", "\n\n", ",\n", "\uff0c", "\u3001"])
FORMS = st.sampled_from(
    [
        "{address}",
        " {address} ",
        "<{address}>",
        '"{address}"',
        "'{address}'",
        "({address})",
        "mailto:{address}",
        "{name} <{address}>",
        '"{name}, {name}" <{address}>',
        "\u200b{address}\ufeff",
        "{address} ({name})",
        "{address}.",
    ]
)


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("carl@x.de, dora@x.de", ["carl@x.de", "dora@x.de"]),
        ("a@x.de b@x.de;c@x.de\td@x.de", ["a@x.de", "b@x.de", "c@x.de", "d@x.de"]),
        ("Emma Stone <emma@x.de>", ["emma@x.de"]),
        ('"Stone, Emma" <mailto:emma@x.de>, bob@x.de', ["emma@x.de", "bob@x.de"]),
        ("Carl <carl@x.de> Dora <dora@x.de>", ["carl@x.de", "dora@x.de"]),
        ('"a@x.de, b@x.de"', ["a@x.de", "b@x.de"]),
        ('5" pipe, "c@x.de","d@x.de', ["c@x.de", "d@x.de"]),
        ("((((a@x.de))))", ["(a@x.de)"]),
        ("<b>bolt</b>@x.de", ["<b>bolt</b>@x.de"]),
        ("@handle, name@", ["@handle", "name@"]),
    ],
)
def test_every_form_of_a_list_is_read(text: str, addresses: list[str]) -> None:
    assert [*read(text).addresses] == addresses


def test_a_spreadsheet_has_its_addresses_and_the_other_cells_are_named() -> None:
    assert read("name,email\nEmma,emma@x.de,Sales\n,,\nBob;bob@x.de\n\n") == TypedList(
        addresses=("emma@x.de", "bob@x.de"),
        repeated=(),
        names=("Emma", "Sales", "Bob"),
        lines=("name,email", ",,"),
        called={"bob@x.de": "Bob"},
    )


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("Emma Stone <emma@x.de>", {"emma@x.de": "Emma Stone"}),
        ('"Stone, Emma" <emma@x.de>, Bob <bob@x.de>', {"emma@x.de": "Stone, Emma", "bob@x.de": "Bob"}),
        ("Emma Stone\temma@x.de\nbob@x.de", {"emma@x.de": "Emma Stone"}),
        ("Emma,Stone,emma@x.de", {}),
        ("Emma, emma@x.de, bob@x.de", {}),
        ("emma@y.de <emma@x.de>; <bob@x.de>", {}),
        ("A <emma@x.de>\nB <emma@x.de>", {"emma@x.de": "A"}),
        ("A <emma@x.de> <bob@x.de>", {}),
    ],
)
def test_the_name_beside_an_address_is_what_its_person_is_called(text: str, called: dict[str, str]) -> None:
    assert read(text).called == called


def test_an_address_is_written_with_its_name_as_it_is_read_again() -> None:
    for name in ("Emma Stone", "Stone, Emma"):
        again = read(written("emma@x.de", name))
        assert (again.addresses, again.called) == (("emma@x.de",), {"emma@x.de": name})
    assert written("emma@x.de", 'The "Rock"') == written("emma@x.de", None) == "emma@x.de"


def test_an_address_that_is_there_more_than_once_is_named() -> None:
    assert read("a@x.de\nb@x.de, A@x.de\na@x.de") == TypedList(
        addresses=("a@x.de", "b@x.de"), repeated=("A@x.de",), names=(), lines=()
    )


def test_an_address_in_the_name_of_another_one_is_named_and_not_read() -> None:
    found = read("Emma (old@x.de) <emma@x.de>\nbob@x.de <bob@x.de>")

    assert found.addresses == ("emma@x.de", "bob@x.de")
    assert found.names == ("old@x.de",)


def test_empty_cells_beside_an_address_are_left_out() -> None:
    assert read('"",a@x.de, ,""') == TypedList(addresses=("a@x.de",), repeated=(), names=(), lines=())


def test_words_beside_an_address_are_named() -> None:
    assert read("ask emma@x.de please").names == ("ask", "please")


def test_a_text_without_lines_has_nothing() -> None:
    assert read(" \r\n\u200b") == TypedList(addresses=(), repeated=(), names=(), lines=())


@given(st.lists(st.tuples(ADDRESSES, WORDS, FORMS, SEPARATORS), max_size=12))
def test_no_address_of_a_list_is_lost(people: list[tuple[str, str, str, str]]) -> None:
    text = "".join(form.format(address=address, name=name) + separator for address, name, form, separator in people)
    wanted = dict.fromkeys(address for address, *_ in people)

    found = read(text)

    assert [*found.addresses] == [*wanted]
    assert {each.lower() for each in found.repeated} == {
        address for address in wanted if [one for one, *_ in people].count(address) > 1
    }


@given(st.text())
def test_every_word_with_an_at_sign_of_any_text_is_somewhere(text: str) -> None:
    found = read(text)
    kept = " ".join((*found.addresses, *found.repeated, *found.names, *found.lines))

    assert ("@" in text) == ("@" in kept)
    assert len({each.lower() for each in found.addresses}) == len(found.addresses)
