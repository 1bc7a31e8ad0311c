"""The port `SamlMessages` with lxml and xmlsec.

A message of our own takes less than a millisecond, as a short one of others does, and to hand it to a thread would cost
a good part of that again. What may take longer has threads, and leaves the interpreter to others while it computes.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

import trio

from core.errors import ServiceUnavailable
from core.key_certificates import MadeCertificate, SamlSigningKey
from core.saml.identity_providers import ProviderMetadata
from core.saml.messages import (
    AuthnRequest,
    EncodedMessage,
    LogoutResponse,
    OutgoingLogout,
    OutgoingLogoutRequest,
    OutgoingMessage,
    Response,
    SamlBinding,
    SamlLogoutRequest,
)

if TYPE_CHECKING:
    from adapters.saml.work import Work

Result = TypeVar("Result")

# A message takes some milliseconds. Requests that wait longer than this are better refused than answered late.
MESSAGE_SECONDS_MAX: Final = 5.0
CERTIFICATE_SECONDS_MAX: Final = 20.0
RETRY_AFTER_SECONDS: Final = 2


@final
class LxmlSamlMessages:
    """The port `SamlMessages`."""

    def __init__(self, *, processors: int) -> None:
        self._work: type[Work] | None = None
        self._places = trio.CapacityLimiter(processors)
        self._certificate_place = trio.CapacityLimiter(1)

    async def read(
        self, message: EncodedMessage, certificate_pem: str | None
    ) -> AuthnRequest | SamlLogoutRequest | LogoutResponse:
        loaded = await self._loaded()
        if loaded.is_short(message, certificate_pem):
            return loaded.read(message, certificate_pem)
        return await self._on_a_thread(lambda: loaded.read(message, certificate_pem))

    async def response(self, content: Response, key: SamlSigningKey) -> str:
        return (await self._loaded()).response(content, key)

    async def logout_message(
        self, content: OutgoingLogout, key: SamlSigningKey, binding: SamlBinding, relay_state: str | None
    ) -> OutgoingMessage:
        loaded = await self._loaded()
        if isinstance(content, OutgoingLogoutRequest):
            return loaded.logout_request(content, key, binding, relay_state)
        return loaded.logout_response(content, key, binding, relay_state)

    async def provider_metadata(self, content: ProviderMetadata) -> bytes:
        return await self._on_a_thread(lambda: work().provider_metadata(content))

    async def read_metadata(self, given: str, *, at: datetime) -> dict[str, Any]:
        return await self._on_a_thread(lambda: work().read_metadata(given, at))

    async def normalized_certificate(self, given: str) -> str:
        return await self._on_a_thread(lambda: work().normalized_certificate(given))

    async def make_certificate(self, common_name: str, *, valid_from: datetime) -> MadeCertificate:
        return await when_there_is_room(
            lambda: work().make_certificate(common_name, valid_from=valid_from),
            self._certificate_place,
            CERTIFICATE_SECONDS_MAX,
        )

    async def _loaded(self) -> type[Work]:
        """Return what messages take; the libraries are imported with the first message."""
        if self._work is None:
            self._work = await self._on_a_thread(work)
        return self._work

    async def _on_a_thread(self, work: Callable[[], Result]) -> Result:
        return await when_there_is_room(work, self._places, MESSAGE_SECONDS_MAX)


def work() -> type[Work]:
    """Return what messages take."""
    # Imported with the first message, because the libraries take 18 MB, and many installations have no SAML.
    from adapters.saml.work import Work  # noqa: PLC0415

    return Work


async def when_there_is_room(work: Callable[[], Result], places: trio.CapacityLimiter, seconds_max: float) -> Result:
    """Return the result of work on a thread; raise `ServiceUnavailable` when no place becomes free in time."""
    # Only the wait for a place ends at the deadline: what a thread has begun, it finishes.
    with trio.move_on_after(seconds_max):
        return await trio.to_thread.run_sync(work, limiter=places)
    raise ServiceUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS)
