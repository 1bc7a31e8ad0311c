"""The port `SamlConnectionGateway`: metadata over HTTP, remembered for some minutes, and XML on threads."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, TypeVar, final
from uuid import UUID

import trio

from adapters.gateways.upstream_requests import TOO_SLOW, UpstreamRequests, failed, time_limit
from adapters.saml.messages import MESSAGE_SECONDS_MAX, when_there_is_room, work
from core.key_certificates import SamlSigningKey
from core.saml.messages import OutgoingMessage, SamlBinding
from core.sign_in.upstream.provider_answers import UpstreamFailed
from core.sign_in.upstream.saml import (
    AnswerUnusable,
    MetadataUnusable,
    OwnMetadata,
    SamlAnswer,
    SamlDescription,
    SamlMetadata,
    SamlRecipient,
    SamlRequest,
)
from core.wording import Wording

Result = TypeVar("Result")

# The page that has to wait for it comes within 10 seconds.
FETCH_SECONDS_MAX: Final = 4.5
REMEMBERED_SECONDS: Final = 300.0
REMEMBERED_MAX: Final = 1000
# What an encrypted assertion is refused for shows in no difference of time: a refusal waits for the end of a period
# that is many times longer than the work before it.
REFUSAL_SECONDS: Final = 0.25
_OK: Final = 200


@final
class HttpSamlConnectionGateway:
    """The port `SamlConnectionGateway`."""

    def __init__(
        self,
        requests: UpstreamRequests,
        *,
        processors: int,
        takes_cbc: bool = False,
        seconds_max: float = FETCH_SECONDS_MAX,
    ) -> None:
        self._requests = requests
        self._takes_cbc = takes_cbc
        self._seconds_max = seconds_max
        self._places = trio.CapacityLimiter(processors)
        # By address, in the order in which they were fetched, so that the oldest is dropped.
        self._known: dict[str, tuple[SamlDescription, float]] = {}

    async def describe(
        self, organization_id: UUID, metadata: SamlMetadata, *, is_fresh: bool = False
    ) -> SamlDescription:
        found = await self._found(organization_id, metadata, is_fresh=is_fresh)
        if metadata.entity_id is not None and found.entity_id != metadata.entity_id:
            raise MetadataUnusable("These metadata are those of another identity provider than before.")
        return found

    async def request(self, content: SamlRequest, key: SamlSigningKey | None) -> OutgoingMessage:
        return await self._on_a_thread(lambda: work().upstream_request(content, key))

    async def try_request(self, organization_id: UUID, request: OutgoingMessage) -> int | None:
        form = {request.parameter: request.value}
        if request.relay_state is not None:
            form["RelayState"] = request.relay_state
        try:
            with time_limit(request.url, self._seconds_max, TOO_SLOW):
                return await self._requests.status_of_page(
                    organization_id, request.url, form if request.binding is SamlBinding.POST else None
                )
        except UpstreamFailed:
            return None

    async def read_answer(
        self, organization_id: UUID, metadata: SamlMetadata, value: str, recipient: SamlRecipient
    ) -> SamlAnswer:
        begun_at = trio.current_time()
        try:
            return await self._read_answer(organization_id, metadata, value, recipient)
        except UpstreamFailed:
            if work().is_encrypted(value):
                periods = math.ceil((trio.current_time() - begun_at) / REFUSAL_SECONDS)
                await trio.sleep_until(begun_at + max(1, periods) * REFUSAL_SECONDS)
            raise

    async def _read_answer(
        self, organization_id: UUID, metadata: SamlMetadata, value: str, recipient: SamlRecipient
    ) -> SamlAnswer:
        def read(certificates: Sequence[str]) -> SamlAnswer:
            return work().upstream_answer(value, certificates, recipient, takes_cbc=self._takes_cbc)

        described = await self.describe(organization_id, metadata)
        try:
            return await self._on_a_thread(lambda: read(described.certificates))
        except AnswerUnusable as unusable:
            if metadata.url is None or not self._is_outdated(metadata.url):
                raise _logged(described, unusable) from None
        # The identity provider may have a new key.
        renewed = await self.describe(organization_id, metadata, is_fresh=True)
        try:
            return await self._on_a_thread(lambda: read(renewed.certificates))
        except AnswerUnusable as unusable:
            raise _logged(renewed, unusable) from None

    async def own_metadata(self, content: OwnMetadata) -> bytes:
        return await self._on_a_thread(lambda: work().own_metadata(content))

    async def _found(self, organization_id: UUID, metadata: SamlMetadata, *, is_fresh: bool) -> SamlDescription:
        if metadata.url is None:
            assert metadata.xml is not None, "a connection has no metadata"
            return await self._read(metadata.xml.encode())
        known = self._known.get(metadata.url)
        if known is not None and not is_fresh and trio.current_time() - known[1] < REMEMBERED_SECONDS:
            return known[0]
        found = await self._read(await self._fetched(organization_id, metadata.url))
        self._known.pop(metadata.url, None)
        while len(self._known) >= REMEMBERED_MAX:
            del self._known[next(iter(self._known))]
        self._known[metadata.url] = found, trio.current_time()
        return found

    async def _fetched(self, organization_id: UUID, url: str) -> bytes:
        with time_limit(url, self._seconds_max, TOO_SLOW):
            status, body = await self._requests.get_bytes(organization_id, url)
        if status != _OK:
            raise failed(url, "no_metadata", Wording("The provider answered %(status)s.", status=status), status=status)
        return body

    async def _read(self, given: bytes) -> SamlDescription:
        return await self._on_a_thread(lambda: work().upstream_metadata(given))

    def _is_outdated(self, url: str) -> bool:
        # Not again at once: answers that are forged must not make us fetch without end.
        known = self._known.get(url)
        return known is None or known[1] < trio.current_time() - 1

    async def _on_a_thread(self, job: Callable[[], Result]) -> Result:
        return await when_there_is_room(job, self._places, MESSAGE_SECONDS_MAX)


def _logged(described: SamlDescription, unusable: AnswerUnusable) -> UpstreamFailed:
    """Log why an answer of an identity provider is refused, and return the refusal with its kind of problem."""
    refusal = failed(described.sso_url, unusable.problem)
    refusal.word = unusable.word
    return refusal
