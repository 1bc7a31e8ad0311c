"""The port `LogoutSender`: logout tokens over HTTP (OpenID Connect Back-Channel Logout, 2.5)."""

from __future__ import annotations

from typing import final
from urllib.parse import urlencode
from uuid import UUID

import httpx

from adapters.gateways.attempts import attempt
from core.attempts import Attempt


@final
class HttpLogoutSender:
    """The port `LogoutSender`."""

    def __init__(self, client: httpx.AsyncClient, *, version: str) -> None:
        self._client = client
        self._headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "User-Agent": f"Gatehouse/{version}",
        }

    async def send(self, organization_id: UUID, uri: str, logout_token: str) -> Attempt:
        body = urlencode({"logout_token": logout_token}).encode()
        change = "change the backchannel_logout_uri of the service."
        return await attempt(self._client, organization_id, uri, body, self._headers, change=change)
