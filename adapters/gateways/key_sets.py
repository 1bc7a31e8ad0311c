"""The port `KeySets`: the key sets of clients over HTTP, remembered for some minutes.

Each address of an organization is fetched by one request at a time, however many wait for it. The client of HTTP
reaches only addresses that are allowed (`outbound.py`); what an address answers is limited in time and size.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, cast, final
from uuid import UUID

import httpx
import structlog
import trio

from adapters.crypto.json_web_signatures import remembered_keys
from adapters.gateways.outbound import of, read_beginning
from core.openid.clients import KeySet

FETCH_SECONDS_MAX: Final = 5.0
BYTES_MAX: Final = 64 * 1024
REMEMBERED_SECONDS: Final = 600.0
# Any caller can name an unknown key, or a client whose keys cannot be had; however many do, one fetch is made in it.
PAUSE_SECONDS: Final = 30.0
ADDRESSES_MAX: Final = 1000
_HEADERS: Final = {"Accept": "application/json", "Accept-Encoding": "identity"}

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _CachedKeySet:
    """What is known of an address: the key set, or None when it could not be had, and when that was."""

    key_set: KeySet | None = None
    fetched_at_seconds: float = float("-inf")
    lock: trio.Lock = field(default_factory=trio.Lock)


@final
class HttpKeySets:
    """The port `KeySets`."""

    def __init__(
        self, client: httpx.AsyncClient, *, monotonic_seconds: Callable[[], float] = trio.current_time
    ) -> None:
        self._client = client
        self._monotonic_seconds = monotonic_seconds
        # In the order of their last use, so that the first one is dropped. By organization, because one whose share of
        # the connections is used up must not pass its failure on to others that name the same address.
        self._known: dict[tuple[UUID, str], _CachedKeySet] = {}

    @property
    def remembered_count(self) -> int:
        """The number of addresses of which something is remembered."""
        return len(self._known)

    async def fetch(self, organization_id: UUID, uri: str, *, is_fresh: bool = False) -> KeySet | None:
        known = self._known.pop((organization_id, uri), None) or _CachedKeySet()
        self._known[organization_id, uri] = known
        while len(self._known) > ADDRESSES_MAX:
            del self._known[next(iter(self._known))]
        async with known.lock:
            is_bad = is_fresh or known.key_set is None
            age_seconds = self._monotonic_seconds() - known.fetched_at_seconds
            if age_seconds > (PAUSE_SECONDS if is_bad else REMEMBERED_SECONDS):
                fetched = await self._fetched(organization_id, uri)
                if fetched is not None or not is_fresh:
                    known.key_set = fetched
                known.fetched_at_seconds = self._monotonic_seconds()
            return known.key_set

    async def _fetched(self, organization_id: UUID, uri: str) -> KeySet | None:
        body = bytearray()
        with trio.move_on_after(FETCH_SECONDS_MAX) as limit:
            try:
                async with self._client.stream(
                    "GET", uri, headers=_HEADERS, extensions=of(organization_id)
                ) as response:
                    await read_beginning(response, body, bytes_max=BYTES_MAX)
                    if httpx.codes.is_success(response.status_code) and len(body) <= BYTES_MAX:
                        return _key_set(bytes(body))
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                log.info("key_set.not_fetched", reason=type(error).__name__)
                return None
        log.info("key_set.not_usable", timed_out=limit.cancelled_caught, size_bytes=len(body))
        return None


def _key_set(body: bytes) -> KeySet | None:
    try:
        found: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    keys = cast("dict[str, Any]", found).get("keys")
    return {"keys": remembered_keys(keys)} if isinstance(keys, list) else None
