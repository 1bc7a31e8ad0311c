"""Signing keys in PostgreSQL: sealed, one in each state, and safe under concurrent starts and rotations."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
import trio

from adapters.crypto.vault import SealBroken
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from adapters.postgres.driver.greenlets import wait_in_greenlet
from adapters.postgres.sessions.signing_keys import PostgresSigningKeys
from core.sessions import signing_keys
from core.sessions.security_profiles import SignatureAlgorithm
from core.sessions.signing_keys import RETIREMENT_MARGIN, KeyState, SigningKey
from ports.unit_of_work import UnitOfWork
from tests.clock import SettableClock
from tests.shown_text import shows
from tests.signing_keys import key_pair
from tests.transactions import transaction_on
from tests.waiting import waiting_for_a_lock

LIFETIME = timedelta(minutes=15)
PAIRS = [key_pair(number) for number in range(4)]
ELLIPTIC = [key_pair(number, SignatureAlgorithm.ES256) for number in range(3)]


def states(transact: Callable[..., Any]) -> dict[str, KeyState]:
    return {key.kid: key.state for key in transact(signing_keys.published)}


def test_keys_are_read_as_they_were_stored(transact: Callable[..., Any], clock: SettableClock) -> None:
    transact(signing_keys.ensure, PAIRS[0], PAIRS[1])

    keys = transact(signing_keys.published)

    assert {key.kid: key for key in keys} == {
        pair.kid: SigningKey(
            kid=pair.kid,
            state=state,
            public_pem=pair.public_pem,
            private_pem=pair.private_pem,
            created_at=clock.now,
        )
        for pair, state in ((PAIRS[0], KeyState.ACTIVE), (PAIRS[1], KeyState.NEXT))
    }


def test_keys_are_listed_oldest_first(transact: Callable[..., Any], clock: SettableClock) -> None:
    transact(signing_keys.ensure, PAIRS[0], PAIRS[1])
    for pair in PAIRS[2:]:
        clock.advance(timedelta(seconds=1))
        transact(signing_keys.rotate, pair, LIFETIME)

    kids = [key.kid for key in transact(signing_keys.published)]

    assert kids[2:] == [PAIRS[2].kid, PAIRS[3].kid]
    assert set(kids[:2]) == {PAIRS[0].kid, PAIRS[1].kid}


def test_no_private_key_is_stored_in_plain_text(transact: Callable[..., Any], connection: Connection) -> None:
    transact(signing_keys.ensure, PAIRS[0], PAIRS[1])

    rows = connection.execute("SELECT row_to_json(k)::text, private_pem_sealed FROM signing_keys k").fetchall()

    assert len(rows) == 2
    for text, sealed in rows:
        assert not shows(text, "PRIVATE")
        assert b"PRIVATE" not in sealed


def test_a_private_key_moved_to_another_row_is_refused(transact: Callable[..., Any], connection: Connection) -> None:
    transact(signing_keys.ensure, PAIRS[0], PAIRS[1])

    connection.execute(
        "UPDATE signing_keys SET private_pem_sealed = (SELECT private_pem_sealed FROM signing_keys WHERE kid = %s)",
        (PAIRS[0].kid,),
    )

    with pytest.raises(SealBroken):
        transact(signing_keys.published)


def test_keys_cannot_be_read_without_the_master_key(transact: Callable[..., Any], connection: Connection) -> None:
    transact(signing_keys.ensure, PAIRS[0], PAIRS[1])

    with pytest.raises(SealBroken, match="GATEHOUSE_MASTER_KEYS"):
        PostgresSigningKeys(transaction_on(connection)).lock()


def test_a_rotation_is_stored(transact: Callable[..., Any]) -> None:
    transact(signing_keys.ensure, PAIRS[0], PAIRS[1])

    transact(signing_keys.rotate, PAIRS[2], LIFETIME)

    assert states(transact) == {
        PAIRS[0].kid: KeyState.RETIRED,
        PAIRS[1].kid: KeyState.ACTIVE,
        PAIRS[2].kid: KeyState.NEXT,
    }


def test_a_retired_key_is_published_until_its_deadline_and_not_at_it(
    transact: Callable[..., Any], clock: SettableClock
) -> None:
    transact(signing_keys.ensure, PAIRS[0], PAIRS[1])
    transact(signing_keys.rotate, PAIRS[2], LIFETIME)

    clock.advance(LIFETIME + RETIREMENT_MARGIN - timedelta(microseconds=1))
    just_before = states(transact)
    clock.advance(timedelta(microseconds=1))

    assert PAIRS[0].kid in just_before
    assert PAIRS[0].kid not in states(transact)


def test_a_rotation_deletes_only_keys_that_are_no_longer_published(
    transact: Callable[..., Any], clock: SettableClock, connection: Connection
) -> None:
    transact(signing_keys.ensure, PAIRS[0], PAIRS[1])
    transact(signing_keys.rotate, PAIRS[2], LIFETIME)
    clock.advance(LIFETIME + RETIREMENT_MARGIN)

    transact(signing_keys.rotate, PAIRS[3], LIFETIME)

    stored = {kid for (kid,) in connection.execute("SELECT kid FROM signing_keys")}
    assert stored == {PAIRS[1].kid, PAIRS[2].kid, PAIRS[3].kid}


def test_a_second_active_key_is_refused(transact: Callable[..., Any], clock: SettableClock) -> None:
    transact(signing_keys.ensure, PAIRS[0], PAIRS[1])
    second = SigningKey(
        kid=PAIRS[2].kid,
        state=KeyState.ACTIVE,
        public_pem=PAIRS[2].public_pem,
        private_pem=PAIRS[2].private_pem,
        created_at=clock.now,
    )

    with pytest.raises(psycopg.errors.UniqueViolation):
        transact(lambda uow: uow.signing_keys.add(second))


def test_each_kind_of_keys_has_its_own_active_and_next_key(transact: Callable[..., Any]) -> None:
    transact(signing_keys.ensure, PAIRS[0], PAIRS[1])
    assert transact(signing_keys.ensure, ELLIPTIC[0], ELLIPTIC[1]) is True
    assert transact(signing_keys.ensure, ELLIPTIC[1], ELLIPTIC[2]) is False

    active = transact(signing_keys.rotate_each, [PAIRS[2], ELLIPTIC[2]], LIFETIME)

    assert [(key.kid, key.algorithm) for key in active] == [
        (PAIRS[1].kid, SignatureAlgorithm.RS256),
        (ELLIPTIC[1].kid, SignatureAlgorithm.ES256),
    ]
    assert states(transact) == {
        pair.kid: state
        for pairs in (PAIRS, ELLIPTIC)
        for pair, state in zip(pairs, (KeyState.RETIRED, KeyState.ACTIVE, KeyState.NEXT), strict=False)
    }
    assert {key.private_pem for key in transact(signing_keys.published)} == {
        pair.private_pem for pair in (*PAIRS[:3], *ELLIPTIC)
    }


def test_a_sealed_key_does_not_open_as_one_of_the_other_kind(
    transact: Callable[..., Any], connection: Connection
) -> None:
    transact(signing_keys.ensure, PAIRS[0], PAIRS[1])

    connection.execute("INSERT INTO elliptic_signing_keys SELECT * FROM signing_keys")

    with pytest.raises(SealBroken):
        transact(signing_keys.published)


def test_retired_keys_of_both_kinds_are_deleted(transact: Callable[..., Any], clock: SettableClock) -> None:
    transact(signing_keys.ensure, PAIRS[0], PAIRS[1])
    transact(signing_keys.ensure, ELLIPTIC[0], ELLIPTIC[1])
    transact(signing_keys.rotate_each, [PAIRS[2], ELLIPTIC[2]], LIFETIME)

    clock.advance(LIFETIME + RETIREMENT_MARGIN)

    assert transact(lambda uow: uow.signing_keys.forget(uow.now)) == 2


async def test_of_two_concurrent_first_starts_one_creates_the_keys(database: PostgresDatabase) -> None:
    outcomes: list[bool] = []

    async def start(first: int) -> None:
        outcomes.append(await database.transact(signing_keys.ensure, PAIRS[first], PAIRS[first + 1]))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(start, 0)
        nursery.start_soon(start, 2)

    keys = await database.read(signing_keys.published)
    assert sorted(outcomes) == [False, True]
    assert {key.kid for key in keys} in ({PAIRS[0].kid, PAIRS[1].kid}, {PAIRS[2].kid, PAIRS[3].kid})


async def test_a_rotation_waits_for_a_concurrent_rotation(database: PostgresDatabase, connection: Connection) -> None:
    await database.transact(signing_keys.ensure, PAIRS[0], PAIRS[1])
    has_rotated = trio.Event()

    def rotate_and_wait_for_another(uow: UnitOfWork) -> None:
        signing_keys.rotate(uow, PAIRS[2], LIFETIME)
        has_rotated.set()
        wait_in_greenlet(lambda: waiting_for_a_lock(connection), seconds_max=math.inf)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(database.transact, rotate_and_wait_for_another)
        await has_rotated.wait()
        await database.transact(signing_keys.rotate, PAIRS[3], LIFETIME)

    keys = await database.read(signing_keys.published)
    assert {key.kid: key.state for key in keys if key.state is not KeyState.RETIRED} == {
        PAIRS[2].kid: KeyState.ACTIVE,
        PAIRS[3].kid: KeyState.NEXT,
    }
