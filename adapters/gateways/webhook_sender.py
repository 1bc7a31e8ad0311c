"""Deliveries over HTTP, signed as Standard Webhooks prescribe (decisions 7.3)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import ssl
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

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


@dataclass(slots=True)
class _Answer:
    """What has arrived of an answer so far; the status is the answer, whatever becomes of the body."""

    status: int | None = None
    body: bytearray = field(default_factory=bytearray)


class HttpWebhookSender:
    """The port `WebhookSender`."""

    def __init__(self, client: httpx.AsyncClient, *, version: str) -> None:
        self._client = client
        self._user_agent = f"Gatehouse/{version}"

    async def send(self, url: str, delivery: DueDelivery, secrets: Sequence[Secret], *, at: datetime) -> Attempt:
        body = json.dumps(delivery.payload, ensure_ascii=False, separators=(",", ":")).encode()
        timestamp = str(int(at.timestamp()))
        headers = {
            "Content-Type": "application/json",
            # A body that is compressed could grow without end when it is read.
            "Accept-Encoding": "identity",
            "User-Agent": self._user_agent,
            "webhook-id": delivery.message_id,
            "webhook-timestamp": timestamp,
            "webhook-signature": " ".join(
                signature(secret, delivery.message_id, timestamp, body) for secret in secrets
            ),
        }
        answer = _Answer()
        problem = f"The receiver did not answer within {ATTEMPT_SECONDS_MAX:.0f} seconds."
        with trio.move_on_after(ATTEMPT_SECONDS_MAX):
            problem = await self._attempt(url, body, headers, answer)
        if answer.status is None:
            return Attempt(status_code=None, body=None, error=_storable(problem)[:ERROR_CHARACTERS_MAX])
        text = _storable(answer.body.decode("utf-8", "replace"))[:RESPONSE_CHARACTERS_MAX]
        return Attempt(status_code=answer.status, body=text, error=_problem_of(answer.status))

    async def _attempt(self, url: str, body: bytes, headers: dict[str, str], answer: _Answer) -> str:
        """Fill in the answer; return why it is missing or incomplete, or an empty text."""
        try:
            async with self._client.stream("POST", url, content=body, headers=headers) as response:
                answer.status = response.status_code
                # Cancelled and not left by `break`, which would leave the client's generators to the garbage collector.
                with trio.CancelScope() as reading:
                    async for chunk in response.aiter_raw():
                        answer.body += chunk
                        if len(answer.body) >= _RESPONSE_BYTES_MAX:
                            reading.cancel()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return _reason_of(error)
        return ""


def signature(secret: Secret, message_id: str, timestamp: str, body: bytes) -> str:
    """Return a signature over the id, the time and the body."""
    key = base64.b64decode(secret.reveal().removeprefix(SECRET_PREFIX))
    mac = hmac.new(key, b".".join((message_id.encode(), timestamp.encode(), body)), hashlib.sha256)
    return "v1," + base64.b64encode(mac.digest()).decode()


def _storable(text: str) -> str:
    # PostgreSQL stores no NUL.
    return text.replace("\0", "\ufffd")


def _reason_of(error: Exception) -> str:
    """Return why there is no answer; what TLS says is in a cause of the client's error."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"The certificate of the receiver is not valid: {cause.verify_message}"
        cause = cause.__cause__ or cause.__context__
    return str(error) or f"The connection failed: {type(error).__name__}."


def _problem_of(status: int) -> str | None:
    if httpx.codes.is_success(status):
        return None
    if httpx.codes.is_redirect(status):
        return f"The receiver answered {status}. Redirects are not followed: change the URL of the webhook."
    return f"The receiver answered {status}."
