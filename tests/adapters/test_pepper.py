"""Keyed hashes: none can be computed without the key, and different inputs have different hashes."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.crypto.pepper import PEPPER_BYTES, HmacPepper

KEY = bytes(range(PEPPER_BYTES))


def pepper(key: bytes = KEY) -> HmacPepper:
    made = HmacPepper()
    made.load(key)
    return made


def test_a_mark_is_an_hmac_of_the_parts_with_their_lengths() -> None:
    message = b"\0\0\0\7purpose" + b"\0\0\0\3one" + b"\0\0\0\0"

    assert pepper().mark("purpose", b"one", b"") == hmac.digest(KEY, message, hashlib.sha256)


def test_the_same_parts_have_the_same_mark_in_every_replica() -> None:
    assert pepper().mark("purpose", b"part") == pepper().mark("purpose", b"part")


def test_another_key_computes_another_mark() -> None:
    assert pepper().mark("purpose", b"part") != pepper(bytes(PEPPER_BYTES)).mark("purpose", b"part")


inputs = st.tuples(st.text(), st.lists(st.binary(max_size=8), max_size=4))


@given(inputs, inputs)
def test_different_inputs_have_different_marks(one: tuple[str, list[bytes]], other: tuple[str, list[bytes]]) -> None:
    marks = [pepper().mark(purpose, *parts) for purpose, parts in (one, other)]

    assert (marks[0] == marks[1]) == (one == other)


@pytest.mark.parametrize(("one", "other"), [((b"ab", b"c"), (b"a", b"bc")), ((b"ab",), (b"ab", b"")), ((), (b"",))])
def test_parts_split_at_another_place_have_another_mark(one: tuple[bytes, ...], other: tuple[bytes, ...]) -> None:
    assert pepper().mark("purpose", *one) != pepper().mark("purpose", *other)


def test_a_pepper_without_a_key_computes_no_mark() -> None:
    with pytest.raises(AssertionError):
        HmacPepper().mark("purpose", b"part")


@pytest.mark.parametrize("key", [b"", bytes(PEPPER_BYTES - 1), bytes(PEPPER_BYTES + 1)])
def test_a_key_has_256_bits(key: bytes) -> None:
    with pytest.raises(AssertionError):
        pepper(key)


def test_the_repr_does_not_show_the_key() -> None:
    assert repr(pepper()) == "HmacPepper(***)"
