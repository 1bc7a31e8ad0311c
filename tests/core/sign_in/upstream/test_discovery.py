"""What is taken from the discovery document of an issuer that signs in no people."""

from __future__ import annotations

from typing import Any

import pytest

from core.outbound import URL_CHARACTERS_MAX
from core.sign_in.upstream.discovery import keys_address

ISSUER = "https://issuer.example"


def test_the_keys_are_where_the_document_of_the_issuer_says() -> None:
    assert keys_address(ISSUER, {"issuer": ISSUER, "jwks_uri": f"{ISSUER}/keys"}) == f"{ISSUER}/keys"


@pytest.mark.parametrize(
    "document", [None, [], {}, {"issuer": f"{ISSUER}/", "jwks_uri": f"{ISSUER}/keys"}, {"issuer": ISSUER}]
)
def test_another_document_names_no_keys(document: Any) -> None:
    assert keys_address(ISSUER, document) is None


@pytest.mark.parametrize(("length", "is_taken"), [(URL_CHARACTERS_MAX, True), (URL_CHARACTERS_MAX + 1, False)])
def test_an_address_has_a_longest_length(length: int, *, is_taken: bool) -> None:
    address = f"{ISSUER}/".ljust(length, "k")

    found = keys_address(ISSUER, {"issuer": ISSUER, "jwks_uri": address})

    assert found == (address if is_taken else None)
