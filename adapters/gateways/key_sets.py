"""The port `KeySets`: the key sets of clients and of other issuers over HTTP, remembered for some minutes.

Each address of an organization is fetched by one request at a time, however many wait for it. The client of HTTP
reaches only addresses that are allowed (`outbound.py`); what an address answers is limited in time and size.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Final, cast, final
from uuid import UUID

import httpx
import structlog
import trio

from adapters.crypto.json_web_signatures import remembered_keys
from adapters.gateways.outbound import of, read_beginning
from core.openid.clients import KeySet
from core.sign_in.upstream import discovery

FETCH_SECONDS_MAX: Final = 5.0
BYTES_MAX: Final = 64 * 1024
REMEMBERED_SECONDS: Final = 600.0
# Any caller can name an unknown key, or a client whose keys cannot be had; however many do, one fetch is made in it.
PAUSE_SECONDS: Final = 30.0
# While an issuer is away, the tokens that it has signed go on.
KEPT_SECONDS: Final = 86_400.0
ADDRESSES_MAX: Final = 1000
# One that names very many addresses drops its own.
ADDRESSES_OF_AN_ORGANIZATION_MAX: Final = 500
_HEADERS: Final = {"Accept": "application/json", "Accept-Encoding": "identity"}

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _CachedKeySet:
    """The remembered state of an address: the key set, or None when it could not be fetched.

    `fetched_at_seconds` is the time of the last try, `read_at_seconds` when the key set came.
    """

    key_set: KeySet | None = None
    fetched_at_seconds: float = float("-inf")
    read_at_seconds: float = float("-inf")
    lock: trio.Lock = field(default_factory=trio.Lock)


class _Way(Enum):
    """What is at an address, and for how long its keys count while no newer ones can be had."""

    KEYS_OF_CLIENT = auto()
    KEYS_OF_ISSUER = auto()
    # The address is the issuer, whose discovery document says where its keys are.
    ISSUER = auto()

    @property
    def kept_seconds(self) -> float:
        return 0.0 if self is _Way.KEYS_OF_CLIENT else KEPT_SECONDS


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
        self._known: dict[tuple[UUID, _Way, str], _CachedKeySet] = {}

    @property
    def remembered_count(self) -> int:
        """The number of remembered addresses."""
        return len(self._known)

    async def fetch(
        self, organization_id: UUID, uri: str, *, is_fresh: bool = False, is_kept: bool = False
    ) -> KeySet | None:
        way = _Way.KEYS_OF_ISSUER if is_kept else _Way.KEYS_OF_CLIENT
        return await self._current(organization_id, way, uri, is_fresh=is_fresh)

    async def discover(self, organization_id: UUID, issuer: str, *, is_fresh: bool = False) -> KeySet | None:
        return await self._current(organization_id, _Way.ISSUER, issuer, is_fresh=is_fresh)

    async def _current(self, organization_id: UUID, way: _Way, uri: str, *, is_fresh: bool) -> KeySet | None:
        known = self._remembered(organization_id, way, uri)
        is_asked_for = known.key_set is not None and known.lock.locked()
        if not is_fresh and (is_asked_for or self._is_enough(known)):
            # What is known will do while another caller asks for newer keys.
            return known.key_set
        async with known.lock:
            age_seconds = self._monotonic_seconds() - known.fetched_at_seconds
            if age_seconds > PAUSE_SECONDS if is_fresh else not self._is_enough(known):
                fetched = await self._fetched(organization_id, way, uri)
                now_seconds = self._monotonic_seconds()
                if fetched is not None:
                    known.key_set, known.read_at_seconds = fetched, now_seconds
                elif not is_fresh and now_seconds - known.read_at_seconds > way.kept_seconds:
                    known.key_set = None
                known.fetched_at_seconds = now_seconds
            return known.key_set

    def _remembered(self, organization_id: UUID, way: _Way, uri: str) -> _CachedKeySet:
        """Return what is known of an address, as the one that was used last."""
        key = organization_id, way, uri
        known = self._known.pop(key, None)
        if known is None:
            known = _CachedKeySet()
            own = [one for one in self._known if one[0] == organization_id]
            if len(own) >= ADDRESSES_OF_AN_ORGANIZATION_MAX:
                del self._known[own[0]]
        self._known[key] = known
        while len(self._known) > ADDRESSES_MAX:
            del self._known[next(iter(self._known))]
        return known

    def _is_enough(self, known: _CachedKeySet) -> bool:
        """Return whether what is known need not be fetched again: a young set, or a failure of a moment ago."""
        now_seconds = self._monotonic_seconds()
        is_young = now_seconds - known.read_at_seconds <= REMEMBERED_SECONDS and known.key_set is not None
        return is_young or now_seconds - known.fetched_at_seconds <= PAUSE_SECONDS

    async def _fetched(self, organization_id: UUID, way: _Way, uri: str) -> KeySet | None:
        with trio.move_on_after(FETCH_SECONDS_MAX):
            address: str | None = uri
            if way is _Way.ISSUER:
                document = await self._document(organization_id, uri.removesuffix("/") + discovery.PATH)
                address = discovery.keys_address(uri, document)
            if address is not None:
                return _key_set(await self._document(organization_id, address))
            log.info("key_set.not_discovered")
            return None
        log.info("key_set.not_usable", timed_out=True, size_bytes=0)
        return None

    async def _document(self, organization_id: UUID, uri: str) -> Any:
        """Return the JSON at an address; None when it cannot be had, is too large, or none."""
        body = bytearray()
        try:
            async with self._client.stream("GET", uri, headers=_HEADERS, extensions=of(organization_id)) as response:
                await read_beginning(response, body, bytes_max=BYTES_MAX)
                is_usable = httpx.codes.is_success(response.status_code) and len(body) <= BYTES_MAX
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            log.info("key_set.not_fetched", reason=type(error).__name__)
            return None
        if not is_usable:
            log.info("key_set.not_usable", timed_out=False, size_bytes=len(body))
            return None
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            return None


def _key_set(found: Any) -> KeySet | None:
    if not isinstance(found, dict):
        return None
    keys = cast("dict[str, Any]", found).get("keys")
    return {"keys": remembered_keys(keys)} if isinstance(keys, list) else None
