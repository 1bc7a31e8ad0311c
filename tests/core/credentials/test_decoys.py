"""The passkeys of nobody: always the same, like real ones, and known again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.crypto.pepper import HmacPepper
from core.credentials import decoys
from core.credentials.decoys import STAND_INS_MAX
from core.credentials.passkeys import PASSKEYS_MAX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.credentials.webauthn import Descriptor


class Installation:
    """As much of a unit of work as is asked here."""

    def __init__(self, key: bytes = b"\x01" * 32) -> None:
        self.pepper = HmacPepper()
        self.pepper.load(key)


HOUSE: Any = Installation()


def made_up(address: str, installation: Any = HOUSE) -> Sequence[Descriptor]:
    """Make up the passkeys of an address."""
    return decoys.of_address(installation, address)


@given(st.text(max_size=300))
def test_an_address_has_the_same_ones_every_time_and_others_in_another_house(address: str) -> None:
    assert made_up(address) == made_up(address)
    assert made_up(address)[0] != made_up(address, Installation(b"\x02" * 32))[0]


@given(st.text(max_size=300))
def test_they_look_like_those_of_authenticators(address: str) -> None:
    passkeys = made_up(address)

    assert 1 <= len(passkeys) <= STAND_INS_MAX <= PASSKEYS_MAX
    assert len({passkey.credential_id for passkey in passkeys}) == len(passkeys)
    for passkey in passkeys:
        assert len(passkey.credential_id) in {16, 20, 32, 48, 64}
        assert list(passkey.transports) == sorted(passkey.transports) != []


@given(st.text(max_size=50))
def test_each_of_them_is_known_again_by_its_own_house_alone(address: str) -> None:
    other: Any = Installation(b"\x02" * 32)
    for passkey in made_up(address):
        assert decoys.is_one(HOUSE, passkey.credential_id)
        assert not decoys.is_one(other, passkey.credential_id)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(min_size=1, max_size=1023))
def test_no_other_id_is_taken_for_one(credential_id: bytes) -> None:
    assert not decoys.is_one(HOUSE, credential_id)


def test_each_further_one_is_for_half_of_the_rest() -> None:
    numbers = Counter(len(made_up(f"person{number}@example.com")) for number in range(4000))

    assert 1850 <= numbers[1] <= 2150
    assert 875 <= numbers[2] <= 1125
    assert set(numbers) == set(range(1, STAND_INS_MAX + 1))


def test_no_byte_of_their_ids_is_more_frequent_than_another() -> None:
    drawn = Counter(
        byte for number in range(2000) for passkey in made_up(f"{number}@x.example") for byte in passkey.credential_id
    )

    assert len(drawn) == 256
    assert max(drawn.values()) < 1.5 * min(drawn.values())
