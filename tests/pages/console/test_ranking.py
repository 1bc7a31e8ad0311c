"""How well things fit a text that is typed into a console's search."""

from __future__ import annotations

from entrypoints.pages.console.found_pages import WORDS_MAX, Rank, longest_word, rank_of

SERVICES = (("Services",), "applications apps clients")
CREATE = (("Create a service",), "add new application")
GERMAN = (("Zweite Faktoren", "Second factors"), "MFA Zwei-Faktor")


def test_a_name_comes_before_its_beginning_its_words_what_is_said_and_parts_of_words() -> None:
    for text, (names, about), rank in (
        (" services ", SERVICES, Rank.NAME),
        ("serv", SERVICES, Rank.BEGINNING),
        ("create a s", CREATE, Rank.BEGINNING),
        ("create service", CREATE, Rank.WORDS),
        ("service create", CREATE, Rank.WORDS),
        ("services", CREATE, Rank.WORDS),
        ("add service", CREATE, Rank.DESCRIBED),
        ("apps", SERVICES, Rank.DESCRIBED),
        ("ervice", SERVICES, Rank.PART),
        ("ices", SERVICES, Rank.PART),
        ("ice", SERVICES, None),
        ("create webhook", CREATE, None),
        ("s", SERVICES, None),
        (".", SERVICES, None),
        ("", SERVICES, None),
    ):
        assert rank_of(text, names, (about,)) is rank, text


def test_every_language_of_a_name_is_one_of_its_names_without_case_and_accents() -> None:
    names, about = GERMAN
    for text, rank in (
        ("ZWEITE FAKTOREN", Rank.NAME),
        ("second factors", Rank.NAME),
        ("second", Rank.BEGINNING),
        ("faktor", Rank.WORDS),
        ("mfa faktor", Rank.DESCRIBED),
    ):
        assert rank_of(text, names, (about,)) is rank, text
    assert rank_of("loschen", ("Löschen",)) is rank_of("lösch", ("Löschen",)) is Rank.BEGINNING
    assert rank_of("grosse", ("Größe",)) is Rank.BEGINNING
    assert rank_of("faktor", ("Zweitfaktor",)) is Rank.PART


def test_any_text_is_only_a_text() -> None:
    for text in ("(", "\\", "%", "*", "a" * 254, "́" * 254, "ﷺ" * 100, "x y z " * 40):
        assert rank_of(text, ("Services", ""), ("",)) is None
    assert longest_word("a bcd, ef") == 3


def test_of_a_text_with_many_words_the_first_are_looked_at() -> None:
    # One such letter stands for four words.
    assert rank_of("ﷺ " * 127, ("ﷺ " * 4,)) is Rank.BEGINNING
    words = " ".join(f"w{number}" for number in range(WORDS_MAX))

    assert rank_of(f"{words} other", (words,)) is Rank.BEGINNING
