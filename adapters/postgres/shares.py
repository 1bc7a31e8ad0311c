"""Whose share of the connections a use case takes, which is known without a query (`ops/decisions/0050`).

A request counts for an organization only when its credential was found to belong there by an earlier request: a member,
their key, a SCIM token or an API key. What a caller merely says, such as the slug in a path or a prefix that is not
secret, never moves a request into the share of that organization. Everything else counts for the network of the client.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from functools import lru_cache
from typing import Final
from uuid import UUID

from adapters.postgres.driver.places import Share
from core.connection_uses import ConnectionUse
from core.networks import throttled_network

CREDENTIALS_MAX: Final = 10_000
_NETWORKS_MAX: Final = 4096

BACKGROUND: Final = "background"
# What those who govern the platform do there.
PLATFORM: Final = "platform"

_network = lru_cache(_NETWORKS_MAX)(throttled_network)


class KnownCredentials:
    """The shares of the credentials that were used last, by hashes of tokens and ids of sessions; bounded in number."""

    def __init__(self, credentials_max: int = CREDENTIALS_MAX) -> None:
        self._credentials_max = credentials_max
        # The one that was used last is at the end.
        self._keys: OrderedDict[Hashable, Hashable] = OrderedDict()

    def __len__(self) -> int:
        """Return how many credentials are known."""
        return len(self._keys)

    def key(self, credential: Hashable) -> Hashable | None:
        """Return the key of a credential's share; None for an unknown credential."""
        key = self._keys.get(credential)
        if key is not None:
            self._keys.move_to_end(credential)
        return key

    def know(self, credential: Hashable, key: Hashable | None) -> None:
        """Remember the share of a credential that was verified; with None forget it, because it belongs to none."""
        if key is None:
            self._keys.pop(credential, None)
            return
        self._keys[credential] = key
        self._keys.move_to_end(credential)
        if len(self._keys) > self._credentials_max:
            self._keys.popitem(last=False)


def background_share(use: ConnectionUse, *, may_lock: bool) -> Share:
    """Return the share of background work: its organization's, or one for all other background work."""
    if use.organization_id is None:
        return Share(BACKGROUND)
    return Share(use.organization_id, row=use.organization_id if may_lock else None)


def request_share(
    use: ConnectionUse,
    address: str | None,
    credential: Hashable | None,
    known: KnownCredentials,
    *,
    may_lock: bool,
) -> Share:
    """Return the share of a request from an address; `may_lock` says that it is a transaction.

    Until an organization is known, what locks its row waits for what locks it with the same credential, which no
    other caller has.
    """
    if use.is_sign_in:
        return Share(_network(address), is_sign_in=True)
    key = known.key(credential) if credential is not None else None
    row = (key or credential) if may_lock and use.changes_organization else None
    return Share(key or _network(address), row=row)


def session_credential(session_id: UUID, organization_slug: str | None) -> Hashable:
    """Return the key of a session in the organization of a path, or in its own context where the path has none."""
    return (session_id, organization_slug)
