"""Ids and texts in paths: which ones are accepted, and which ones are not found."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import NotFound
from entrypoints.web.input.decoding import (
    decode_id,
    decode_word,
)
from tests.web.input.parcels import ID, got


@pytest.mark.parametrize("text", [str(ID), str(ID).upper()])
async def test_an_id_is_case_insensitive(text: str) -> None:
    answer = await got(f"/parcels/{text}")

    assert answer.json == {"id": str(ID)}


async def test_an_invalid_id_is_404(subtests: pytest.Subtests) -> None:
    for text in (
        "1",
        "me",
        ID.hex,
        f"{{{ID}}}",
        f"urn:uuid:{ID}",
        f"{ID}0",
        str(ID)[:-1],
        str(ID)[:-1] + "g",
        "----" + ID.hex,
        "1_23c9f2-8f3a-7e11-b0aa-bb00cc11dd22",
        "%D9%A1" + str(ID)[1:],
        f"{ID}%00",
        f"%20{str(ID)[1:]}",
    ):
        with subtests.test(text=text):
            answer = await got(f"/parcels/{text}")

            assert (answer.status, answer.code) == (404, "NOT_FOUND")


@given(st.uuids())
def test_every_id_is_decoded_unchanged(id: UUID) -> None:  # noqa: A002 - the word for it
    assert decode_id(str(id)) == id


async def test_a_text_in_a_path_may_be_anything_that_can_be_stored() -> None:
    answer = await got("/shelves/a%20%C3%BC%2E%F0%9F%8E%81%ff")

    assert answer.json == {"name": "a ü.🎁\ufffd"}


async def test_a_text_in_a_path_that_cannot_be_stored_is_404() -> None:
    answer = await got("/shelves/a%00b")

    assert (answer.status, answer.code) == (404, "NOT_FOUND")


@pytest.mark.parametrize("word", ["\x00", "a\ud800", "\udfff"])
def test_a_text_with_nul_or_a_lone_surrogate_is_not_found(word: str) -> None:
    with pytest.raises(NotFound):
        decode_word(word)
