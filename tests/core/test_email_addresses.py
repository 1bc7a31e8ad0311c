"""Email addresses: the canonical form under which each is stored and found."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.domain_names import IdnaDomainNames
from core import email_addresses
from core import text as normal_forms
from core.email_addresses import DOMAIN_INVALID, NOT_AN_ADDRESS, UNSTABLE, is_found_at_beginning, part_of_email
from core.errors import BadRequest, FieldError
from core.limits import EMAIL_CHARACTERS_MAX

TO_ASCII = IdnaDomainNames().to_ascii


def normalize_email(text: str, field: str = "email") -> str:
    return email_addresses.normalize_email(text, TO_ASCII, field)


def canonical_email(text: str) -> str:
    return email_addresses.canonical_email(text, TO_ASCII)


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
        ("JOSÉ@BÜCHER.EXAMPLE", "josé@xn--bcher-kva.example"),
        ("boss@straße.de", "boss@xn--strae-oqa.de"),
        ("boss@strasse.de", "boss@strasse.de"),
        ("שלום@שלום.example", "שלום@xn--9dbne9b.example"),
        ("boss@r3--sn.example", "boss@r3--sn.example"),
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

    assert refused.value.details == (FieldError(field="invitee", message=NOT_AN_ADDRESS),)


@pytest.mark.parametrize(
    "text",
    [
        "boss@\uff45xample.com",
        "\uff42oss@example.com",
        "boss@example\uff0ecom",
        "boss@\u212aelvin.example",
        "jose\u0301@example.org",
        "oﬃce@example.org",
        "boss@İstanbul.example",
        "x²@example.org",
    ],
)
def test_an_address_that_mail_systems_would_change_is_refused(text: str) -> None:
    with pytest.raises(BadRequest) as refused:
        normalize_email(text)

    assert refused.value.details == (FieldError(field="email", message=UNSTABLE),)


@pytest.mark.parametrize(
    "text",
    [
        "boss@bücher..example",
        "boss@bücher.example.",
        "boss@.bücher.example",
        "boss@bücher",
        "boss@☃.example",
        "boss@a_bücher.example",
        "boss@-bücher.example",
        "boss@example。com",
        "boss@" + "ü" * 63 + ".example",
        "boss@xn--bcher-kva8445foa.example",
        "boss@xn--.example",
        "boss@xn--example.example",
        "boss@xn--a.example",
        # The ASCII forms of a snowman, and of a capital letter.
        "boss@xn--n3h.example",
        "boss@xn--xda.example",
    ],
)
def test_a_domain_without_an_ascii_form_is_refused(text: str) -> None:
    with pytest.raises(BadRequest) as refused:
        normalize_email(text)

    assert refused.value.details == (FieldError(field="email", message=DOMAIN_INVALID),)


def test_an_address_is_looked_up_in_its_canonical_form_and_other_texts_as_they_are() -> None:
    assert canonical_email(" Boss@Straße.de ") == "boss@xn--strae-oqa.de"
    assert canonical_email(" No Address ") == "no address"
    assert canonical_email("Boss@\uff45xample.com") == "boss@\uff45xample.com"


@pytest.mark.parametrize(
    ("typed", "searched"),
    [
        (" Boss@Straße.DE", "boss@xn--strae-oqa.de"),
        ("@straße.de", "@xn--strae-oqa.de"),
        ("Boss@Stra", "boss@stra"),
        ("Boss@Straß", "boss@straß"),
        ("boss@☃.example", "boss@☃.example"),
        ("Jose\u0301", "jos\u00e9"),
        ("e\u0301" * 200, "e\u0301" * 200),
        ("", ""),
    ],
)
def test_a_part_of_an_address_is_searched_for_as_addresses_are_stored(typed: str, searched: str) -> None:
    assert part_of_email(typed, TO_ASCII) == searched


def test_an_address_is_at_most_254_characters_long() -> None:
    longest = f"ada@{'a' * 60}.{'b' * 60}.{'c' * 60}.{'d' * 60}.exa.{'e'}x"
    assert len(longest) == EMAIL_CHARACTERS_MAX

    assert normalize_email(longest) == longest
    with pytest.raises(BadRequest):
        normalize_email("x" + longest)


def test_the_ascii_form_of_an_address_is_at_most_254_characters_long() -> None:
    domain = ".".join(["ü" * 40] * 4)

    assert len(f"ada@{domain}.example") < EMAIL_CHARACTERS_MAX
    assert accepted(f"ada@{domain}.example") is not None
    assert accepted(f"{'a' * 64}@{domain}.example") is None


def test_a_text_with_very_many_marks_is_refused_without_normalizing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Normalizing it would take minutes, during which the process answers no other request."""
    normalized: list[str] = []

    def is_normalized(_form: str, text: str, /) -> bool:
        normalized.append(text)
        return True

    recorded = SimpleNamespace(is_normalized=is_normalized, normalize=is_normalized)
    monkeypatch.setattr(normal_forms, "unicodedata", recorded)

    assert accepted("ada@example.org") == "ada@example.org"
    assert accepted("a" + "\u0300\u0316" * 250_000 + "@example.org") is None

    assert set(normalized) == {"ada@example.org"}


@given(addresses)
def test_normalizing_twice_is_normalizing_once(text: str) -> None:
    once = accepted(text)

    assert once is None or normalize_email(once) == once


@given(st.emails())
def test_case_and_surrounding_blanks_do_not_change_the_account(text: str) -> None:
    once = accepted(text)

    assert once is not None or len(text) > EMAIL_CHARACTERS_MAX or "'" in text
    assert accepted(f" {text.upper()} ") == once


@given(addresses)
def test_the_domain_of_an_accepted_address_is_in_ascii(text: str) -> None:
    once = accepted(text)

    assert once is None or once.rpartition("@")[2].isascii()


@given(addresses)
def test_every_accepted_address_can_be_stored_and_displayed(text: str) -> None:
    stored = accepted(text)

    if stored is not None:
        assert stored.encode()
        assert stored.isprintable()
        assert len(stored) <= EMAIL_CHARACTERS_MAX
        assert not set(stored) & set(" \r\n\t<>,;\"'")


@pytest.mark.parametrize(("part", "is_short"), [("", False), ("a", True), ("ad", True), ("ada", False)])
def test_a_short_part_is_looked_for_at_the_beginning_alone(part: str, *, is_short: bool) -> None:
    assert is_found_at_beginning(part) is is_short
