"""A server that is killed and started again while clients call it, each repeating a request until it is answered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import httpx
import trio

from adapters.gateways.outbound import NoCookies
from tests.processes import Service, Services
from tests.waiting import eventually

HOST = "localhost:8000"
BASE_URL = f"http://{HOST}"
# A client waits as long as the server takes to start on a busy machine.
START_SECONDS_MAX = 180.0
TRY_AGAIN = 503


@dataclass(frozen=True)
class Acknowledged:
    """An answer; `is_repeated` says that requests before it had none, so that each may have been executed."""

    answer: httpx.Response
    is_repeated: bool

    @property
    def status(self) -> int:
        """The status of the answer."""
        return self.answer.status_code

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return self.answer.json()

    def expect(self, status: int, *of_a_repetition: int) -> Self:
        """Assert the status: of a repetition it may also be one of the others."""
        allowed = (status, *of_a_repetition) if self.is_repeated else (status,)
        assert self.status in allowed, (self.status, self.is_repeated, self.answer.text)
        return self


class KilledServer:
    """The server under one base URL; each start has another port."""

    def __init__(self, services: Services, **settings: str) -> None:
        self._services = services
        self._settings = settings
        # A connection for each request: an idle one would only tell of the last kill.
        limits = httpx.Limits(max_keepalive_connections=0)
        self._client = httpx.AsyncClient(timeout=START_SECONDS_MAX, limits=limits, cookies=NoCookies())
        self._service: Service | None = None
        self.url = ""
        # The requests whose connection was refused or broken.
        self.lost = 0

    async def start(self) -> None:
        """Start the server, and let the clients go on."""
        service = await trio.to_thread.run_sync(partial(self._services.ready, **self._settings))
        self._service, self.url = service, f"http://127.0.0.1:{service.port}"

    async def kill(self) -> None:
        """Kill the server by SIGKILL."""
        assert self._service is not None
        await trio.to_thread.run_sync(self._service.kill)

    async def request(
        self, method: str, path: str, *, token: str | None = None, headers: dict[str, str] | None = None, **body: Any
    ) -> Acknowledged:
        """Send a request, and again to each next server until one answers, and while it asks to try again."""
        sent = {"Host": HOST, **({"Authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
        is_repeated = False
        while True:
            asked = self.url
            try:
                answer = await self._client.request(method, f"{asked}{path}", headers=sent, **body)
            except httpx.TransportError:
                self.lost += 1
                is_repeated = True
                await eventually(partial(self._is_replaced, asked), seconds_max=START_SECONDS_MAX)
                continue
            if answer.status_code == TRY_AGAIN:
                # On a busy machine a request may find no connection to the database in time, so it has waited.
                is_repeated = True
                continue
            return Acknowledged(answer, is_repeated)

    async def _is_replaced(self, asked: str) -> bool:
        return self.url != asked

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()
