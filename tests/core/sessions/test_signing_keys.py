"""The life of signing keys: next, active, retired, and deleted when every token they signed has expired."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.secrets import Secret
from core.sessions import signing_keys
from core.sessions.security_profiles import SignatureAlgorithm
from core.sessions.signing_keys import RETIREMENT_MARGIN, RING_AGE_MAX, KeyPair, KeyState, NoSigningKeys, SigningKey
from ports.unit_of_work import UnitOfWork

START = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
LIFETIME = timedelta(minutes=15)


class KeysInMemory:
    """The port `SigningKeys`, without a database."""

    def __init__(self) -> None:
        self.by_kid: dict[str, SigningKey] = {}

    def lock(self) -> Sequence[SigningKey]:
        return [key for key in self.by_kid.values() if key.state is not KeyState.RETIRED]

    def published(self, at: datetime) -> Sequence[SigningKey]:
        return [key for key in self.by_kid.values() if key.published_until is None or key.published_until > at]

    def add(self, key: SigningKey) -> None:
        self.by_kid[key.kid] = key
        self._assert_one_of_each()

    def save(self, key: SigningKey) -> None:
        self.by_kid[key.kid] = key
        self._assert_one_of_each()

    def forget(self, before: datetime) -> int:
        gone = [kid for kid, key in self.by_kid.items() if key.published_until and key.published_until <= before]
        for kid in gone:
            del self.by_kid[kid]
        return len(gone)

    def _assert_one_of_each(self) -> None:
        # The database has the same constraint, so the order of the steps matters.
        states = [(key.algorithm, key.state) for key in self.lock()]
        assert len(states) == len(set(states))


@dataclass
class SmallUnitOfWork:
    """The part of the unit of work that these use cases need."""

    now: datetime = START
    signing_keys: KeysInMemory = field(default_factory=KeysInMemory)


def pair(name: str, algorithm: SignatureAlgorithm = SignatureAlgorithm.RS256) -> KeyPair:
    return KeyPair(kid=name, public_pem=f"public {name}", private_pem=Secret(f"private {name}"), algorithm=algorithm)


def ensure(small: SmallUnitOfWork) -> bool:
    return signing_keys.ensure(cast("UnitOfWork", small), pair("first"), pair("second"))


def rotate(small: SmallUnitOfWork, name: str) -> SigningKey:
    return signing_keys.rotate(cast("UnitOfWork", small), pair(name), LIFETIME)


def states(small: SmallUnitOfWork) -> dict[str, KeyState]:
    return {key.kid: key.state for key in signing_keys.published(cast("UnitOfWork", small))}


def test_a_new_installation_gets_an_active_key_and_a_next_key() -> None:
    uow = SmallUnitOfWork()

    assert ensure(uow) is True

    assert states(uow) == {"first": KeyState.ACTIVE, "second": KeyState.NEXT}
    assert uow.signing_keys.by_kid["first"] == SigningKey(
        kid="first",
        state=KeyState.ACTIVE,
        public_pem="public first",
        private_pem=Secret("private first"),
        created_at=START,
    )


def test_every_later_start_leaves_the_keys_unchanged() -> None:
    uow = SmallUnitOfWork()
    ensure(uow)
    before = dict(uow.signing_keys.by_kid)

    assert ensure(uow) is False

    assert uow.signing_keys.by_kid == before


def test_a_rotation_moves_every_key_one_step() -> None:
    uow = SmallUnitOfWork()
    ensure(uow)

    active = rotate(uow, "third")

    assert active.kid == "second"
    assert states(uow) == {"first": KeyState.RETIRED, "second": KeyState.ACTIVE, "third": KeyState.NEXT}


def test_the_kinds_of_keys_are_made_and_rotated_apart_and_together() -> None:
    uow = SmallUnitOfWork()
    elliptic = SignatureAlgorithm.ES256
    ensure(uow)
    with pytest.raises(NoSigningKeys):
        signing_keys.rotate(cast("UnitOfWork", uow), pair("early", elliptic), LIFETIME)

    assert signing_keys.ensure(cast("UnitOfWork", uow), pair("fourth", elliptic), pair("fifth", elliptic)) is True
    active = signing_keys.rotate_each(cast("UnitOfWork", uow), [pair("third"), pair("sixth", elliptic)], LIFETIME)

    assert [(key.kid, key.algorithm) for key in active] == [("second", SignatureAlgorithm.RS256), ("fifth", elliptic)]
    assert states(uow) == {
        "first": KeyState.RETIRED,
        "second": KeyState.ACTIVE,
        "third": KeyState.NEXT,
        "fourth": KeyState.RETIRED,
        "fifth": KeyState.ACTIVE,
        "sixth": KeyState.NEXT,
    }


def test_a_rotation_without_keys_is_refused() -> None:
    with pytest.raises(NoSigningKeys, match="no signing keys yet"):
        rotate(SmallUnitOfWork(), "third")


def test_a_retired_key_is_published_until_the_last_token_it_may_have_signed_has_expired() -> None:
    uow = SmallUnitOfWork()
    ensure(uow)
    rotate(uow, "third")
    # A replica that could not read the keys signs with the old one until its ring is too old.
    last_token_expires_at = START + RING_AGE_MAX + LIFETIME

    uow.now = last_token_expires_at

    assert "first" in states(uow)


def test_a_retired_key_is_not_published_longer_than_needed() -> None:
    uow = SmallUnitOfWork()
    ensure(uow)
    rotate(uow, "third")

    uow.now = START + LIFETIME + RETIREMENT_MARGIN

    assert states(uow) == {"second": KeyState.ACTIVE, "third": KeyState.NEXT}


def test_a_key_that_is_no_longer_published_is_deleted_at_the_next_rotation() -> None:
    uow = SmallUnitOfWork()
    ensure(uow)
    rotate(uow, "third")
    uow.now = START + LIFETIME + RETIREMENT_MARGIN

    rotate(uow, "fourth")

    assert set(uow.signing_keys.by_kid) == {"second", "third", "fourth"}


@given(waits=st.lists(st.timedeltas(timedelta(0), timedelta(hours=1)), max_size=12))
def test_no_token_outlives_its_key_at_any_time_of_rotation(waits: list[timedelta]) -> None:
    uow = SmallUnitOfWork()
    ensure(uow)
    signed: list[tuple[str, datetime]] = []
    for number, wait in enumerate(waits):
        uow.now += wait
        of_old_ring = next(kid for kid, state in states(uow).items() if state is KeyState.ACTIVE)
        rotate(uow, f"fresh {number}")
        signed.append((of_old_ring, uow.now + RING_AGE_MAX + LIFETIME))
        published: Any = states(uow)

        assert sorted(published.values()).count(KeyState.ACTIVE) == 1
        assert sorted(published.values()).count(KeyState.NEXT) == 1
        assert all(kid in published for kid, expires_at in signed if expires_at > uow.now)


@pytest.mark.parametrize("state", [KeyState.ACTIVE, KeyState.RETIRED])
def test_only_the_next_key_becomes_active(state: KeyState) -> None:
    key = SigningKey(kid="k", state=state, public_pem="", private_pem=Secret(""), created_at=START)

    with pytest.raises(AssertionError):
        key.activated()


@pytest.mark.parametrize("state", [KeyState.NEXT, KeyState.RETIRED])
def test_only_the_active_key_retires(state: KeyState) -> None:
    key = SigningKey(kid="k", state=state, public_pem="", private_pem=Secret(""), created_at=START)

    with pytest.raises(AssertionError):
        key.retired(published_until=START)
