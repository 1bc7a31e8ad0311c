"""Secrets are not printed, and only their hashes are stored."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.secrets import Secret, hash_token
from tests.shown_text import shows

SECRET = Secret("correct horse")


@pytest.mark.parametrize(
    "print_it",
    [
        pytest.param(repr, id="repr"),
        pytest.param(str, id="str"),
        pytest.param("{}".format, id="format"),
        pytest.param("{:>20}".format, id="format with a width"),
        pytest.param(lambda secret: "%s" % secret, id="percent"),  # noqa: UP031 - logging formats this way
        pytest.param(lambda secret: repr({"password": [secret]}), id="inside a container"),
    ],
)
def test_a_secret_prints_as_stars_wherever_it_is_printed(print_it: Callable[[Secret], str]) -> None:
    printed = print_it(SECRET)

    assert "***" in printed
    assert not shows(printed, "horse")


def test_reveal_returns_the_value() -> None:
    assert SECRET.reveal() == "correct horse"


def test_secrets_are_equal_when_their_values_are() -> None:
    assert Secret("a") == Secret("a")
    assert hash(Secret("a")) == hash(Secret("a"))
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"


@pytest.mark.parametrize("write", [pickle.dumps, copy.deepcopy, json.dumps], ids=["pickle", "copy", "json"])
def test_a_secret_cannot_be_serialized(write: Callable[[Secret], object]) -> None:
    with pytest.raises(TypeError):
        write(SECRET)


def test_a_secret_has_no_dictionary_that_a_logger_could_read() -> None:
    assert not hasattr(SECRET, "__dict__")


def test_a_token_is_stored_as_its_sha_256() -> None:
    assert hash_token("abc") == hashlib.sha256(b"abc").digest()


@given(st.text(st.characters()))
def test_every_text_has_a_hash_even_with_lone_surrogates(token: str) -> None:
    assert len(hash_token(token)) == 32
    assert hash_token(token) == hash_token(token)
