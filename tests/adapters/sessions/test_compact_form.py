"""The compact form of a signed token is the one way to write its bytes."""

from __future__ import annotations

import base64

from hypothesis import example, given
from hypothesis import strategies as st

from adapters.crypto.compact_form import COMPACT_FORM
from tests.second_writings import ALPHABET, decoded, second_writings

parts = st.tuples(*[st.binary(min_size=1, max_size=120)] * 3)


def written(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


@given(parts)
@example((b"a", b"ab", b"abc"))
@example((b"a" * 47, b"a" * 48, b"a" * 49))
def test_every_token_is_taken_in_the_form_in_which_it_was_issued_and_in_no_other(values: tuple[bytes, ...]) -> None:
    token = ".".join(map(written, values))

    assert COMPACT_FORM.fullmatch(token)
    assert [name for name, text in second_writings(token).items() if COMPACT_FORM.fullmatch(text)] == []


@given(st.lists(st.text(ALPHABET + ".=+/ \n", max_size=8), max_size=12).map("".join))
@example("AA.AAA.AAAA")
@example("AB.AAA.AAAA")
@example("A.AA.AA")
@example("AAAAA.AA.AA")
def test_a_text_is_in_the_form_exactly_if_its_three_parts_are_as_their_bytes_are_written(text: str) -> None:
    found = text.split(".")
    is_written_so = len(found) == 3 and all(set(part) <= set(ALPHABET) and len(part) % 4 != 1 for part in found)

    expected = is_written_so and all(written(decoded(part)) == part for part in found)
    assert (COMPACT_FORM.fullmatch(text) is not None) == expected


def test_a_long_text_of_a_stranger_is_in_the_form_or_not() -> None:
    for length in range(4096, 4096 + 66):
        assert (COMPACT_FORM.fullmatch(f"{'A' * length}.AA.AA") is not None) == (length % 4 != 1), length
        assert COMPACT_FORM.fullmatch(f"{'A' * length}!.AA.AA") is None, length
