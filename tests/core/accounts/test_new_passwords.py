"""New passwords: which are accepted."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.accounts.passwords import (
    BREACHED,
    NewPassword,
    PasswordBreached,
    PasswordRules,
    PasswordTooCommon,
    breached,
)
from core.accounts.passwords import accepted as accept
from core.errors import BadRequest, ErrorCode, Refusal
from tests.shown_text import shows

ABOUT = ("jo.smith@mail.acme-tools.example", "Société Générale", "acme-shop")
COMMON = frozenset({"password", "iloveyou", "dragon", "trustno1", "12345678"})


def accepted(password: str, *, about: Sequence[str] = ABOUT, characters_min: int = 8) -> NewPassword:
    rules = PasswordRules(characters_min=characters_min, platform="Gatehouse", is_common=COMMON.__contains__)
    return accept(password, "new_password", rules, about)


def refusal_of(password: str, characters_min: int = 8) -> Refusal:
    with pytest.raises(BadRequest) as refused:
        accepted(password, characters_min=characters_min)
    assert refused.value.details[0].field == "new_password"
    return refused.value


@pytest.mark.parametrize("password", ["87235149", "é" * 8, "p" * 128, "correct horse", "correct\thorse", "ⅷⅷⅷⅷⅷⅷⅷⅷ"])
def test_a_password_of_8_to_128_characters_is_accepted(password: str) -> None:
    assert accepted(password) == NewPassword(text=password, named="new_password")


@pytest.mark.parametrize(
    ("password", "found"),
    [
        ("1234567", "at least 8 characters"),
        ("p" * 129, "at most 128 characters"),
        ("1234567\x00", "a character that cannot be used"),
        ("1234567\ud800", "a character that cannot be used"),
    ],
)
def test_another_password_is_refused_with_what_is_wrong(password: str, found: str) -> None:
    refusal = refusal_of(password)

    assert (found in refusal.message, refusal.code) == (True, ErrorCode.BAD_REQUEST)


def test_an_installation_may_ask_for_longer_ones() -> None:
    assert "at least 15 characters" in refusal_of("correct horse", characters_min=15).message
    assert accepted("correct horse battery", characters_min=15).text == "correct horse battery"


@pytest.mark.parametrize(
    "password", ["password", "PassWord", " iloveyou ", "dragon12", "Dragon2026", "trustno12026", "trustno1", "12345678"]
)
def test_a_common_password_is_refused_whatever_its_case_and_with_up_to_four_digits_behind(password: str) -> None:
    refusal = refusal_of(password)

    assert isinstance(refusal, PasswordTooCommon)
    assert (refusal.code.name, refusal.code.status) == ("PASSWORD_TOO_COMMON", 400)
    assert "one of the commonest" in refusal.details[0].message


@pytest.mark.parametrize("password", ["dragon12345", "my password", "dragonfruits", "2026dragon", "password-is-long"])
def test_a_common_password_inside_of_a_longer_one_is_no_problem(password: str) -> None:
    assert accepted(password).text == password


@pytest.mark.parametrize(
    "password",
    [
        "jo.smith@mail.acme-tools.example",
        "JoSmith2026!",
        "smith+smith",
        "acme-shop",
        "Acme Shop 2026",
        "gatehouse",
        "Gatehouse#Acme",
        "société-générale",
        "acmetoolsexample",
    ],
)
def test_a_password_of_nothing_but_words_around_the_account_is_refused(password: str) -> None:
    refusal = refusal_of(password)

    assert isinstance(refusal, PasswordTooCommon)
    assert "nothing but words of your address" in refusal.details[0].message


@pytest.mark.parametrize("password", ["jo likes smith", "acme shopper", "gatehous", "jojojojo", "smith-and-acme"])
def test_a_password_with_more_than_these_words_is_accepted(password: str) -> None:
    assert accepted(password).text == password


def test_words_that_make_a_password_in_many_ways_are_tried_in_no_time() -> None:
    about = ["a" * length for length in range(3, 60)]

    assert accepted("a" * 127 + "b", about=about).text.endswith("b")


def test_a_text_that_is_no_address_is_not_split_beyond_the_length_of_one() -> None:
    assert accepted("elephants", about=["x" * 254 + " elephants"]).text == "elephants"


def test_a_breached_password_is_refused_for_its_field() -> None:
    refusal = breached(accepted("correct horse"))

    assert isinstance(refusal, PasswordBreached)
    assert (refusal.code.name, refusal.code.status) == ("PASSWORD_BREACHED", 400)
    assert [(problem.field, problem.message) for problem in refusal.details] == [("new_password", BREACHED)]


def test_an_accepted_password_does_not_show_itself() -> None:
    assert not shows(repr(accepted("correct horse")), "horse")
