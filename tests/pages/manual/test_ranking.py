"""A search ranks by where words stand and how rare they are, and knows their forms and synonyms."""

from __future__ import annotations

import pytest

from entrypoints.pages.manual.searching import Ranking, stem


def ranked(text: str, *texts: str) -> list[int]:
    """Return the numbers of texts, each a heading and the rest behind a colon."""
    parts = [((6.0, heading), (1.0, rest)) for heading, _, rest in (one.partition(":") for one in texts)]
    return Ranking(parts, {"hook": ("webhook",), "mfa": ("second factor",)}).ranked(text)


@pytest.mark.parametrize(
    "words",
    [
        ("verify", "verifies", "verified", "verifying", "verification"),
        ("create", "creates", "created", "creating"),
        ("key", "keys"),
        ("passkey", "passkeys"),
        ("policy", "policies"),
        ("impersonate", "impersonation", "impersonating"),
        ("customer", "customers"),
    ],
)
def test_the_forms_of_a_word_are_one(words: tuple[str, ...]) -> None:
    assert len({stem(word) for word in words}) == 1


def test_a_heading_goes_before_a_text() -> None:
    assert ranked("keys", "Mail:about keys and keys", "Keys:about mail") == [1, 0]


def test_texts_with_all_words_are_found_or_else_those_with_the_most() -> None:
    texts = ("Webhooks:verify", "Webhooks:send", "Mail:send")

    assert ranked("verify webhooks", *texts) == [0]
    assert ranked("verify webhooks zebra", *texts) == [0]
    assert ranked("zebra", *texts) == []


def test_a_rare_word_counts_more() -> None:
    assert ranked("mail zebra lion", "Zebra:x", "Mail:x", "Mail:y", "Mail:z")[0] == 0


def test_compounds_are_found_as_one_word_and_as_several() -> None:
    assert ranked("backchannel", "Back-channel logout:x") == [0]
    assert ranked("back-channel", "Back-channel logout:x") == [0]


def test_the_beginning_of_a_word_finds_it_behind_the_word_itself() -> None:
    assert ranked("webh", "Mail:x", "Webhooks:x") == [1]
    assert ranked("hoo", "Hooligans:x") == []


def test_synonyms_are_found_behind_the_word_itself() -> None:
    assert ranked("hooks", "Webhooks:x", "Hooks:x") == [1, 0]
    assert ranked("mfa", "Second factors:x", "Second thoughts:x", "Factors:x") == [0]


def test_words_without_a_meaning_of_their_own_are_left_out() -> None:
    assert ranked("how to set up the mail", "Mail:x", "How to set up the thing:x") == [0]
    assert ranked("how to", "How to:x") == []
