"""Deliveries over HTTP, signed as Standard Webhooks prescribe."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import httpx

from adapters.gateways.attempts import attempt
from core.attempts import Attempt
from core.secrets import Secret
from core.webhooks.deliveries import DueDelivery
from core.webhooks.webhooks import SECRET_PREFIX


class HttpWebhookSender:
    """The port `WebhookSender`."""

    def __init__(self, client: httpx.AsyncClient, *, version: str) -> None:
        self._client = client
        self._user_agent = f"Gatehouse/{version}"

    async def send(
        self, organization_id: UUID, url: str, delivery: DueDelivery, secrets: Sequence[Secret], *, at: datetime
    ) -> Attempt:
        body = json.dumps(delivery.payload, ensure_ascii=False, separators=(",", ":")).encode()
        timestamp = str(int(at.timestamp()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": self._user_agent,
            "webhook-id": delivery.message_id,
            "webhook-timestamp": timestamp,
            "webhook-signature": " ".join(
                signature(secret, delivery.message_id, timestamp, body) for secret in secrets
            ),
        }
        change = "change the URL of the webhook."
        return await attempt(self._client, organization_id, url, body, headers, change=change)


def signature(secret: Secret, message_id: str, timestamp: str, body: bytes) -> str:
    """Return a signature over the id, the time and the body."""
    key = base64.b64decode(secret.reveal().removeprefix(SECRET_PREFIX))
    mac = hmac.new(key, b".".join((message_id.encode(), timestamp.encode(), body)), hashlib.sha256)
    return "v1," + base64.b64encode(mac.digest()).decode()
