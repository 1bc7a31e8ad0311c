"""Decoy credentials: stable, like real ones, and recognized."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.crypto.pepper import HmacPepper
from core.credentials import passkey_challenges
from core.credentials.passkey_challenges import DECOYS_MAX
from core.credentials.passkeys import PASSKEYS_MAX
from core.credentials.webauthn import Descriptor
from core.sessions.origins import CustomHost, Origin


class Installation:
    """The part of a unit of work that decoys need."""

    def __init__(self, key: bytes = b"\x01" * 32, host: CustomHost | None = None) -> None:
        self.origin = Origin(custom_host=host)
        self.pepper = HmacPepper()
        self.pepper.load(key)


INSTALLATION: Any = Installation()


def decoys_of(address: str, installation: Any = INSTALLATION) -> Sequence[Descriptor]:
    """Return the decoys of an address."""
    return passkey_challenges.decoys_of_address(installation, address)


@given(st.text(max_size=300))
def test_an_address_has_the_same_decoys_every_time_and_others_in_another_installation(address: str) -> None:
    assert decoys_of(address) == decoys_of(address)
    assert decoys_of(address)[0] != decoys_of(address, Installation(b"\x02" * 32))[0]


@given(st.text(max_size=300))
def test_decoys_look_like_credentials_of_authenticators(address: str) -> None:
    passkeys = decoys_of(address)

    assert 1 <= len(passkeys) <= DECOYS_MAX <= PASSKEYS_MAX
    assert len({passkey.credential_id for passkey in passkeys}) == len(passkeys)
    for passkey in passkeys:
        assert len(passkey.credential_id) in {16, 20, 32, 48, 64}
        assert list(passkey.transports) == sorted(passkey.transports) != []


@given(st.text(max_size=50))
def test_a_decoy_is_recognized_only_by_its_own_installation(address: str) -> None:
    other: Any = Installation(b"\x02" * 32)
    for passkey in decoys_of(address):
        assert passkey_challenges.is_decoy(INSTALLATION, passkey.credential_id)
        assert not passkey_challenges.is_decoy(other, passkey.credential_id)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(min_size=1, max_size=1023))
def test_no_other_id_is_recognized_as_a_decoy(credential_id: bytes) -> None:
    assert not passkey_challenges.is_decoy(INSTALLATION, credential_id)


def test_each_further_decoy_is_for_half_of_the_remaining_addresses() -> None:
    numbers = Counter(len(decoys_of(f"person{number}@example.com")) for number in range(4000))

    assert 1850 <= numbers[1] <= 2150
    assert 875 <= numbers[2] <= 1125
    assert set(numbers) == set(range(1, DECOYS_MAX + 1))


def test_all_bytes_are_equally_frequent_in_decoy_ids() -> None:
    drawn = Counter(
        byte for number in range(2000) for passkey in decoys_of(f"{number}@x.example") for byte in passkey.credential_id
    )

    assert len(drawn) == 256
    assert max(drawn.values()) < 1.5 * min(drawn.values())


def test_under_another_host_an_address_has_other_decoys() -> None:
    ids = [UUID(int=1), UUID(int=2), UUID(int=1)]
    hosts = [
        CustomHost(domain_id=one, name="id.acme.example", organization_id=one, organization_slug="a") for one in ids
    ]

    found = [decoys_of("ada@example.com", Installation(host=host)) for host in (None, *hosts)]

    assert found[1] == found[3]
    assert found[0] != found[1] != found[2] != found[0]
