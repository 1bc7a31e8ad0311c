"""The life of the keys that sign tokens: next, then active, then retired until the last token they signed has expired.

The next key is published before it signs, so that every replica and every relying party knows it in time; retired keys
stay published until the last token they signed has expired. Key pairs are generated outside any transaction, because
that is slow. The port `TokenSigner` signs and verifies, with keys that each replica keeps in memory.

There are keys of two kinds, each with an active and a next one, which rotate together: RSA keys sign what is
issued to services, unless their record asks for the other kind (`security_profiles.py`), and proofs of audit logs;
elliptic keys, which sign in a tenth of the time, what Gatehouse alone verifies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from core.errors import Conflict
from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from core.sessions.security_profiles import SignatureAlgorithm

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


# A replica is not notified of a rotation; it reads the keys periodically. One that could not read them for this long
# stops signing, because the key that it takes for the active one may have been retired.
RING_AGE_MAX = timedelta(minutes=4)
# So a retired key may sign for this much longer; the extra minute allows for a slow read and for clock differences.
RETIREMENT_MARGIN = RING_AGE_MAX + timedelta(minutes=1)


class NoSigningKeys(Conflict):
    """There are no keys to rotate."""

    default_message = "There are no signing keys yet; the service creates them at its first start."


class KeyState(StrEnum):
    """The stage of a key's life."""

    NEXT = "next"
    ACTIVE = "active"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPair:
    """A newly generated pair: its id, and both halves as PEM."""

    kid: str
    public_pem: str
    private_pem: Secret
    algorithm: SignatureAlgorithm = SignatureAlgorithm.RS256


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKey:
    """A stored pair and its state."""

    kid: str
    state: KeyState
    public_pem: str
    private_pem: Secret
    created_at: datetime
    published_until: datetime | None = None
    algorithm: SignatureAlgorithm = SignatureAlgorithm.RS256

    def activated(self) -> SigningKey:
        """Return the key as the one that signs."""
        assert self.state is KeyState.NEXT, "the key to activate is not the next key"
        return replace(self, state=KeyState.ACTIVE)

    def retired(self, *, published_until: datetime) -> SigningKey:
        """Return the key as one that no longer signs and is published until that time."""
        assert self.state is KeyState.ACTIVE, "the key to retire is not the active key"
        return replace(self, state=KeyState.RETIRED, published_until=published_until)


def ensure(uow: UnitOfWork, active: KeyPair, following: KeyPair) -> bool:
    """Store the first two keys of a kind; False when there are keys of it already, so every start may call this."""
    assert active.algorithm is following.algorithm, "the first two keys are of different kinds"
    if _in_use(uow, active.algorithm):
        return False
    uow.signing_keys.add(_stored(uow, active, KeyState.ACTIVE))
    uow.signing_keys.add(_stored(uow, following, KeyState.NEXT))
    return True


def rotate_each(uow: UnitOfWork, fresh: Sequence[KeyPair], longest_token_lifetime: timedelta) -> Sequence[SigningKey]:
    """Rotate the keys of each kind, of which there is a fresh pair; return the active keys, in the same order.

    Raise `NoSigningKeys` when a kind has none.
    """
    return [rotate(uow, pair, longest_token_lifetime) for pair in fresh]


def rotate(uow: UnitOfWork, fresh: KeyPair, longest_token_lifetime: timedelta) -> SigningKey:
    """Activate the next key, retire the active one, and store the fresh one as next, all of one kind.

    Return the active key; raise `NoSigningKeys` when there is none of that kind.
    """
    keys = _in_use(uow, fresh.algorithm)
    if not keys:
        raise NoSigningKeys
    published_until = uow.now + longest_token_lifetime + RETIREMENT_MARGIN
    uow.signing_keys.save(keys[KeyState.ACTIVE].retired(published_until=published_until))
    active = keys[KeyState.NEXT].activated()
    uow.signing_keys.save(active)
    uow.signing_keys.add(_stored(uow, fresh, KeyState.NEXT))
    # Only a rotation adds keys, so deleting old ones here keeps the table small.
    uow.signing_keys.forget(uow.now)
    return active


def published(uow: UnitOfWork) -> tuple[SigningKey, ...]:
    """List the keys with which tokens may be signed or verified now."""
    return tuple(uow.signing_keys.published(uow.now))


def _in_use(uow: UnitOfWork, algorithm: SignatureAlgorithm) -> Mapping[KeyState, SigningKey]:
    """Lock all keys, and return the active and the next one of a kind; empty when there are none."""
    return {key.state: key for key in uow.signing_keys.lock() if key.algorithm is algorithm}


def _stored(uow: UnitOfWork, pair: KeyPair, state: KeyState) -> SigningKey:
    return SigningKey(
        kid=pair.kid,
        state=state,
        public_pem=pair.public_pem,
        private_pem=pair.private_pem,
        created_at=uow.now,
        algorithm=pair.algorithm,
    )
