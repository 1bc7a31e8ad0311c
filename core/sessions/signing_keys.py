"""The life of the keys that sign our tokens: next, then active, then retired until nothing they signed is alive.

The next key is published before it signs, so that every replica and every relying party knows it in time; the retired
ones stay published until the last token they signed has expired. Making a pair is slow and happens outside any
transaction; signing and checking are the business of the port `TokenSigner`, whose replicas keep the keys in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from core.errors import Conflict

if TYPE_CHECKING:
    from datetime import datetime

    from core.secrets import Secret
    from ports.unit_of_work import UnitOfWork


# A replica does not hear of a rotation, it looks. One that could not look for this long stops signing, because the key
# that it takes for the active one may have retired meanwhile.
RING_AGE_MAX = timedelta(minutes=4)
# So a retired key may sign this much longer; the minute is for a look that is slow and for clocks that differ.
RETIREMENT_MARGIN = RING_AGE_MAX + timedelta(minutes=1)


class NoSigningKeys(Conflict):
    """There is nothing to rotate."""

    default_message = "There are no signing keys yet; the service makes them at its first start."


class KeyState(StrEnum):
    """Where in its life a key is."""

    NEXT = "next"
    ACTIVE = "active"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPair:
    """A freshly made pair: its id, and both halves as PEM."""

    kid: str
    public_pem: str
    private_pem: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKey:
    """A stored pair and its state."""

    kid: str
    state: KeyState
    public_pem: str
    private_pem: Secret
    created_at: datetime
    published_until: datetime | None = None

    def activated(self) -> SigningKey:
        """Begin to sign."""
        assert self.state is KeyState.NEXT, "only the next key becomes active"
        return replace(self, state=KeyState.ACTIVE)

    def retired(self, *, published_until: datetime) -> SigningKey:
        """Stop signing; stay published that long."""
        assert self.state is KeyState.ACTIVE, "only the active key retires"
        return replace(self, state=KeyState.RETIRED, published_until=published_until)


def ensure(uow: UnitOfWork, active: KeyPair, following: KeyPair) -> bool:
    """Give a new installation its first two keys; False when it has some, so that every start may call it."""
    if uow.signing_keys.lock():
        return False
    uow.signing_keys.add(_stored(uow, active, KeyState.ACTIVE))
    uow.signing_keys.add(_stored(uow, following, KeyState.NEXT))
    return True


def rotate(uow: UnitOfWork, fresh: KeyPair, longest_token_lifetime: timedelta) -> SigningKey:
    """Let the next key sign from now on, retire the active one, publish the fresh one as next; give the active one."""
    keys = {key.state: key for key in uow.signing_keys.lock()}
    if not keys:
        raise NoSigningKeys
    published_until = uow.now + longest_token_lifetime + RETIREMENT_MARGIN
    uow.signing_keys.save(keys[KeyState.ACTIVE].retired(published_until=published_until))
    active = keys[KeyState.NEXT].activated()
    uow.signing_keys.save(active)
    uow.signing_keys.add(_stored(uow, fresh, KeyState.NEXT))
    # Keys are born here alone, so forgetting here keeps the table small.
    uow.signing_keys.forget(uow.now)
    return active


def published(uow: UnitOfWork) -> tuple[SigningKey, ...]:
    """List the keys that tokens may be signed with or checked against now."""
    return tuple(uow.signing_keys.published(uow.now))


def _stored(uow: UnitOfWork, pair: KeyPair, state: KeyState) -> SigningKey:
    return SigningKey(
        kid=pair.kid,
        state=state,
        public_pem=pair.public_pem,
        private_pem=pair.private_pem,
        created_at=uow.now,
    )
