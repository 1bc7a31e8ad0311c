"""Email addresses: the canonical form under which each is stored and found."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.email_addresses import canonical_email, normalize_email
from core.errors import BadRequest, FieldProblem
from core.limits import EMAIL_CHARACTERS_MAX


def accepted(text: str) -> str | None:
    """Return the canonical form, or None when the text is not an address."""
    try:
        return normalize_email(text)
    except BadRequest:
        return None


LETTERS = st.characters(categories=["Ll", "Lo"])
# Ordinary addresses, addresses with letters of all languages, and arbitrary text.
addresses = st.one_of(
    st.emails(),
    st.builds("{}@{}.example".format, st.text(LETTERS, min_size=1), st.text(LETTERS, min_size=1)),
    st.builds("{}@{}.example".format, st.text(min_size=1), st.text(min_size=1)),
)


@pytest.mark.parametrize(
    ("given_spelling", "stored"),
    [
        ("ada@example.org", "ada@example.org"),
        ("  Ada@Example.ORG\n", "ada@example.org"),
        ("ada+news@example.org", "ada+news@example.org"),
        ("a.b-c_d@mail.example.co.uk", "a.b-c_d@mail.example.co.uk"),
        ("o!#$%&*/=?^`{|}~@example.org", "o!#$%&*/=?^`{|}~@example.org"),
        ("ada@xn--bcher-kva.example", "ada@xn--bcher-kva.example"),
        ("JOSÉ@BÜCHER.EXAMPLE", "josé@bücher.example"),
        ("jose\u0301@example.org", "jos\u00e9@example.org"),
    ],
)
def test_every_spelling_has_the_same_canonical_form(given_spelling: str, stored: str) -> None:
    assert normalize_email(given_spelling) == stored


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ada",
        "@example.org",
        "ada@",
        "ada@localhost",
        "ada@@example.org",
        "ada@example.org@example.net",
        "ada@-example.org",
        "ada@example-.org",
        "ada@example..org",
        "ada@.example.org",
        "ada@example.o",
        "ada@example.123",
        "ada@[192.0.2.1]",
        "ada lovelace@example.org",
        "ada@exa mple.org",
        '"ada"@example.org',
        "Ada <ada@example.org>",
        "ada@example.org,eve@example.net",
        "ada@example.org\r\nBcc: eve@example.net",
        "ada\x00@example.org",
        "ada\u200b@example.org",
        "\u202eada@example.org",
        "ada\ud800@example.org",
        "a" * 65 + "@example.org",
        "ada@" + "a" * 64 + ".org",
    ],
)
def test_an_invalid_address_is_refused(text: str) -> None:
    with pytest.raises(BadRequest) as refused:
        normalize_email(text, "invitee")

    assert refused.value.details == (FieldProblem(field="invitee", message="This is not a valid email address."),)


def test_an_address_is_at_most_254_characters_long() -> None:
    longest = f"ada@{'a' * 60}.{'b' * 60}.{'c' * 60}.{'d' * 60}.exa.{'e'}x"
    assert len(longest) == EMAIL_CHARACTERS_MAX

    assert normalize_email(longest) == longest
    with pytest.raises(BadRequest):
        normalize_email("x" + longest)


def test_the_longest_address_may_be_written_with_every_letter_decomposed() -> None:
    # This letter decomposes into four characters, and no other into more.
    longest = f"{'ᾂ' * 64}@{'ᾂ' * 60}.{'ᾂ' * 60}.{'ᾂ' * 59}.example"

    assert normalize_email(unicodedata.normalize("NFD", longest)) == longest


def test_a_text_with_very_many_marks_is_refused_without_normalizing_it() -> None:
    """Normalizing it would take minutes, during which the process answers no other request."""
    begun = time.perf_counter()

    with pytest.raises(BadRequest):
        normalize_email("a" + "\u0300\u0316" * 250_000 + "@example.org")

    assert time.perf_counter() - begun < 1


@given(addresses)
def test_normalizing_twice_is_normalizing_once(text: str) -> None:
    once = accepted(text)

    assert once is None or normalize_email(once) == once


@given(st.emails())
def test_case_and_surrounding_blanks_do_not_change_the_account(text: str) -> None:
    once = accepted(text)

    assert once is not None or len(text) > EMAIL_CHARACTERS_MAX or "'" in text
    assert accepted(f" {text.upper()} ") == once


@given(st.text(LETTERS, min_size=1, max_size=64))
def test_composed_and_decomposed_letters_are_the_same_account(name: str) -> None:
    composed = unicodedata.normalize("NFC", f"{name}@example.org")

    assert accepted(unicodedata.normalize("NFD", composed)) == accepted(composed)
    assert canonical_email(unicodedata.normalize("NFD", composed)) == composed


@given(addresses)
def test_every_accepted_address_can_be_stored_and_displayed(text: str) -> None:
    stored = accepted(text)

    if stored is not None:
        assert stored.encode()
        assert stored.isprintable()
        assert len(stored) <= EMAIL_CHARACTERS_MAX
        assert not set(stored) & set(" \r\n\t<>,;\"'")
