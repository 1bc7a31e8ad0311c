"""Deliveries over HTTP, signed as Standard Webhooks prescribe (decisions 7.3)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import TYPE_CHECKING, Final

import httpcore
import httpx
import trio

from core.webhooks.deliveries import ERROR_CHARACTERS_MAX, RESPONSE_CHARACTERS_MAX, Attempt
from core.webhooks.webhooks import SECRET_PREFIX

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from core.secrets import Secret
    from core.webhooks.deliveries import DueDelivery

ATTEMPT_SECONDS_MAX: Final = 15.0
# UTF-8 takes at most four bytes for a character.
_RESPONSE_BYTES_MAX: Final = 4 * RESPONSE_CHARACTERS_MAX


class HttpWebhookSender:
    """The port `WebhookSender`."""

    def __init__(self, client: httpx.AsyncClient, *, version: str) -> None:
        self._client = client
        self._user_agent = f"Gatehouse/{version}"

    async def send(self, url: str, delivery: DueDelivery, secrets: Sequence[Secret], *, at: datetime) -> Attempt:
        body = json.dumps(delivery.payload, ensure_ascii=False, separators=(",", ":")).encode()
        message_id, timestamp = str(delivery.payload["id"]), str(int(at.timestamp()))
        headers = {
            "Content-Type": "application/json",
            # A body that is compressed could grow without end when it is read.
            "Accept-Encoding": "identity",
            "User-Agent": self._user_agent,
            "webhook-id": message_id,
            "webhook-timestamp": timestamp,
            "webhook-signature": " ".join(signature(secret, message_id, timestamp, body) for secret in secrets),
        }
        with trio.move_on_after(ATTEMPT_SECONDS_MAX):
            return await self._attempt(url, body, headers)
        return _failed(f"The receiver did not answer within {ATTEMPT_SECONDS_MAX:.0f} seconds.")

    async def _attempt(self, url: str, body: bytes, headers: dict[str, str]) -> Attempt:
        status: int | None = None
        received = b""
        try:
            async with self._client.stream("POST", url, content=body, headers=headers) as response:
                status = response.status_code
                async for chunk in response.aiter_raw():
                    received += chunk
                    if len(received) >= _RESPONSE_BYTES_MAX:
                        break
        except (httpx.HTTPError, httpx.InvalidURL, httpcore.ConnectError) as error:
            # The status is the answer, whatever became of the body.
            if status is None:
                return _failed(str(error) or type(error).__name__)
        return Attempt(status_code=status, body=_text(received), error=_problem_of(status))


def signature(secret: Secret, message_id: str, timestamp: str, body: bytes) -> str:
    """Return a signature over the id, the time and the body."""
    key = base64.b64decode(secret.reveal().removeprefix(SECRET_PREFIX))
    mac = hmac.new(key, b".".join((message_id.encode(), timestamp.encode(), body)), hashlib.sha256)
    return "v1," + base64.b64encode(mac.digest()).decode()


def _text(received: bytes) -> str:
    # PostgreSQL stores no NUL.
    return received.decode("utf-8", "replace").replace("\0", "\ufffd")[:RESPONSE_CHARACTERS_MAX]


def _failed(error: str) -> Attempt:
    return Attempt(status_code=None, body=None, error=error.replace("\0", "\ufffd")[:ERROR_CHARACTERS_MAX])


def _problem_of(status: int) -> str | None:
    if httpx.codes.is_success(status):
        return None
    if httpx.codes.is_redirect(status):
        return f"The receiver answered {status}. Redirects are not followed: change the URL of the webhook."
    return f"The receiver answered {status}."
