"""The signature of the payment provider's events, without a network."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.billing import signatures
from core.billing.signatures import Signature, SignatureInvalid, SignatureMalformed, SignatureMissing
from core.secrets import Secret

SECRET = Secret("whsec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FH")
NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)


@given(st.binary(max_size=200))
def test_what_we_sign_we_accept(body: bytes) -> None:
    signatures.verify(signatures.parse(signatures.header_of(body, SECRET, at=NOW)), body, SECRET, at=NOW)


def test_a_known_signature_is_computed() -> None:
    # Computed with openssl: printf '1492774577.{"id":"evt_1"}' | openssl dgst -sha256 -hmac SECRET
    signed = signatures.sign("1492774577", b'{"id":"evt_1"}', SECRET)

    assert signed == "6b7116673ce957beb7fb22f85a7235b7d3a8a3859a83807cfebe0f4a71b80b5f"


@given(st.binary(min_size=1, max_size=50), st.integers(0), st.integers(1, 255))
def test_a_changed_body_is_refused(body: bytes, place: int, change: int) -> None:
    header = signatures.parse(signatures.header_of(body, SECRET, at=NOW))
    place %= len(body)
    changed = body[:place] + bytes([body[place] ^ change]) + body[place + 1 :]

    with pytest.raises(SignatureInvalid):
        signatures.verify(header, changed, SECRET, at=NOW)


@given(st.text(max_size=60))
def test_any_text_is_a_signature_or_malformed(header: str) -> None:
    try:
        parsed = signatures.parse(header)
    except SignatureMalformed:
        return
    with pytest.raises(SignatureInvalid):
        signatures.verify(parsed, b"", SECRET, at=NOW)


def test_a_missing_header_is_refused() -> None:
    with pytest.raises(SignatureMissing):
        signatures.parse(None)


def test_a_header_that_is_too_long_is_refused() -> None:
    with pytest.raises(SignatureMalformed):
        signatures.parse("t=1,v1=" + "a" * signatures.HEADER_CHARACTERS_MAX)


def test_a_header_without_a_time_or_a_signature_of_the_known_scheme_is_refused() -> None:
    for header in ("", "t=12", "v1=a", "t=12,v0=a", "t=,v1=a", "t=-1,v1=a", "t=1.5,v1=a", "t=noon,v1=a"):
        with pytest.raises(SignatureMalformed):
            signatures.parse(header)


def test_every_signature_of_the_known_scheme_is_read_and_others_are_not() -> None:
    assert signatures.parse("t=12, v1=a,v0=b,v1=c,other") == Signature("12", ("a", "c"))


@pytest.mark.parametrize("distance", [signatures.TOLERANCE, -signatures.TOLERANCE])
def test_the_tolerance_holds_in_both_directions(distance: timedelta) -> None:
    signature = signatures.parse(signatures.header_of(b"", SECRET, at=NOW))
    beyond = timedelta(seconds=1) if distance > timedelta() else -timedelta(seconds=1)

    signatures.verify(signature, b"", SECRET, at=NOW + distance)
    with pytest.raises(SignatureInvalid):
        signatures.verify(signature, b"", SECRET, at=NOW + distance + beyond)
