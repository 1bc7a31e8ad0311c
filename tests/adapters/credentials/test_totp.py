"""Codes of authenticator apps, against the vectors of RFC 6238 (appendix B)."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.crypto.totp import PyotpTotp
from core.secrets import Secret

TOTP = PyotpTotp()
RFC_SECRET = Secret(base64.b32encode(b"12345678901234567890").decode())
STEP = timedelta(seconds=30)
# The RFC lists eight digits; a code of six digits is the last six of them.
VECTORS = [
    (59, "287082", 0x1),
    (1111111109, "081804", 0x23523EC),
    (1111111111, "050471", 0x23523ED),
    (1234567890, "005924", 0x273EF07),
    (2000000000, "279037", 0x3F940AA),
    (20000000000, "353130", 0x27BC86AA),
]


def moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


@pytest.mark.parametrize(("seconds", "code", "step"), VECTORS)
def test_the_codes_are_those_of_the_rfc(seconds: int, code: str, step: int) -> None:
    assert TOTP.step_of(RFC_SECRET, code, at=moment(seconds)) == step


@pytest.mark.parametrize(("seconds", "code", "step"), VECTORS[1:])
@pytest.mark.parametrize("drift", [-1, 0, 1])
def test_the_code_of_a_clock_one_step_off_is_accepted(seconds: int, code: str, step: int, drift: int) -> None:
    assert TOTP.step_of(RFC_SECRET, code, at=moment(seconds) + drift * STEP) == step


@pytest.mark.parametrize(("seconds", "code", "step"), VECTORS[1:])
@pytest.mark.parametrize("drift", [-2, 2])
def test_the_code_of_a_clock_two_steps_off_is_refused(seconds: int, code: str, step: int, drift: int) -> None:
    assert TOTP.step_of(RFC_SECRET, code, at=moment(seconds) + drift * STEP) is None


@pytest.mark.parametrize("code", ["287083", "87082", "0287082", "", "\uff12\uff18\uff17\uff10\uff18\uff12"])
def test_a_wrong_code_matches_no_step(code: str) -> None:
    assert TOTP.step_of(RFC_SECRET, code, at=moment(59)) is None


def test_the_code_of_another_secret_matches_no_step() -> None:
    assert TOTP.step_of(TOTP.new_secret(), "353130", at=moment(20000000000)) is None


def test_a_secret_has_160_random_bits() -> None:
    secrets = {TOTP.new_secret().reveal() for _ in range(100)}

    assert len(secrets) == 100
    assert all(len(base64.b32decode(secret)) == 20 for secret in secrets)


def test_the_otpauth_uri_contains_product_account_and_secret() -> None:
    uri = TOTP.uri(RFC_SECRET, "ada+test@example.com")

    address = urlsplit(uri.reveal())
    assert (address.scheme, address.netloc) == ("otpauth", "totp")
    assert unquote(address.path) == "/Gatehouse:ada+test@example.com"
    assert parse_qs(address.query) == {"secret": [RFC_SECRET.reveal()], "issuer": ["Gatehouse"]}
    assert str(uri) == "***"


@given(st.text(max_size=254))
def test_no_account_name_adds_a_parameter_to_the_otpauth_uri(account: str) -> None:
    address = urlsplit(TOTP.uri(RFC_SECRET, account.encode("utf-8", "ignore").decode()).reveal())

    assert parse_qs(address.query) == {"secret": [RFC_SECRET.reveal()], "issuer": ["Gatehouse"]}
    assert not address.fragment
