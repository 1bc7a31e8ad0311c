"""The keys of an installation: fetched once, found by their id, and known for a while when they cannot be fetched.

Gatehouse publishes a key before it signs with it, so reading the set every five minutes survives a rotation. A token
that names an unknown key leads to one more fetch, at most one in 30 seconds, so forged tokens cannot flood Gatehouse.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from gatehouse_client.errors import TokenRefused, Unreachable
from gatehouse_client.provider import Provider, fetch_json
from gatehouse_client.signatures import VerificationKey, key_of
from gatehouse_client.steps import Steps, locked, locked_if_free, now

FRESH_SECONDS: Final = 300.0
# Known keys hold so long after they were read last, while Gatehouse cannot be reached.
HOLD_SECONDS: Final = 3600.0
UNKNOWN_SECONDS: Final = 30.0
RETRY_SECONDS: Final = 2.0
KEYS_MAX: Final = 100


class KeySet:
    """The keys of one installation. One fetch serves all callers that wait for it."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._keys: Mapping[str, VerificationKey] = {}
        self._read_at: float | None = None
        self._failed_at: float | None = None
        self._asked_at: float | None = None
        self._reads = 0
        self._lock = f"keys {provider.issuer}"

    def find(self, key_id: str) -> Steps[VerificationKey]:
        """Return the key of that id; raise `TokenRefused` for an unknown one, `Unreachable` when that is not known."""
        at = yield from now()
        reads = self._reads
        if not _is_within(self._read_at, HOLD_SECONDS, at):
            yield from locked(self._lock, self._read_first())
        elif not _is_within(self._read_at, FRESH_SECONDS, at) and not _is_within(self._failed_at, UNKNOWN_SECONDS, at):
            # One caller refreshes, the others go on with the keys that they know.
            yield from locked_if_free(self._lock, self._refresh())
        key = self._keys.get(key_id)
        if key is None:
            yield from locked(self._lock, self._read_for(key_id, after_reads=reads))
            key = self._keys.get(key_id)
        if key is None:
            raise TokenRefused("no key of this installation has signed the token")
        return key

    def _read_first(self) -> Steps[None]:
        """Read the keys, unless another caller has while this one waited."""
        at = yield from now()
        if _is_within(self._read_at, HOLD_SECONDS, at):
            return
        if _is_within(self._failed_at, RETRY_SECONDS, at):
            raise Unreachable(f"the keys of {self._provider.issuer} could not be read a moment ago")
        yield from self._read()

    def _refresh(self) -> Steps[None]:
        """Read the keys again; a failure leaves the known ones."""
        at = yield from now()
        if _is_within(self._read_at, FRESH_SECONDS, at):
            return
        try:
            yield from self._read()
        except Unreachable:
            return

    def _read_for(self, key_id: str, *, after_reads: int) -> Steps[None]:
        """Read the keys for an unknown one, unless they were read meanwhile, or for another one a moment ago."""
        at = yield from now()
        if key_id in self._keys or self._reads > after_reads:
            return
        if not _is_within(self._asked_at, UNKNOWN_SECONDS, at):
            self._asked_at = at
            yield from self._read()
        elif _is_within(self._failed_at, UNKNOWN_SECONDS, at):
            raise Unreachable(f"the keys of {self._provider.issuer} could not be read a moment ago")

    def _read(self) -> Steps[None]:
        at = yield from now()
        try:
            address = yield from self._provider.endpoint("jwks_uri")
            keys = keys_of((yield from fetch_json(address)))
        except Unreachable:
            # The failure counts from its end: waiting for an answer takes longer than it counts.
            self._failed_at = yield from now()
            raise
        self._keys, self._read_at, self._failed_at = keys, at, None
        self._reads += 1


def keys_of(document: Mapping[str, Any]) -> Mapping[str, VerificationKey]:
    """Return the keys of a JSON web key set by their ids; raise `Unreachable` when it is invalid or empty."""
    listed: object = document.get("keys")
    if not isinstance(listed, list):
        raise Unreachable("the document of the keys is no key set")
    entries = [cast("Mapping[str, Any]", entry) for entry in cast("list[object]", listed) if isinstance(entry, dict)]
    found = [key for entry in entries[:KEYS_MAX] if (key := key_of(entry)) is not None and key.id]
    if not found:
        raise Unreachable("the key set has no key that signs tokens")
    # Of two keys with one id the first counts.
    return {key.id: key for key in reversed(found)}


def _is_within(moment: float | None, seconds: float, at: float) -> bool:
    # A moment in the future comes from a clock that was set back, and counts as long ago.
    return moment is not None and 0 <= at - moment < seconds
