"""One attempt to post something to a receiver that an organization has named: limited in time, and in what is read."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, final
from urllib.parse import urlencode
from uuid import UUID

import httpx
import trio

from adapters.gateways.failures import reason_of
from adapters.gateways.outbound import of, read_beginning
from core.attempts import ERROR_CHARACTERS_MAX, RESPONSE_CHARACTERS_MAX, Attempt
from core.secrets import Secret
from core.webhooks.deliveries import DueDelivery
from core.webhooks.webhooks import SECRET_PREFIX
from core.wording import Wording

ATTEMPT_SECONDS_MAX: Final = 15.0
# UTF-8 takes at most four bytes for a character.
_RESPONSE_BYTES_MAX: Final = 4 * RESPONSE_CHARACTERS_MAX


@dataclass(slots=True)
class _PartialAnswer:
    """What has arrived of an answer so far; the status is the answer, whatever becomes of the body."""

    status: int | None = None
    body: bytearray = field(default_factory=bytearray)


async def attempt(
    client: httpx.AsyncClient,
    organization_id: UUID,
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    change: str,
) -> Attempt:
    """Post a body for an organization, and return what came back; `change` says what to change on a redirect."""
    answer = _PartialAnswer()
    began_at = trio.current_time()
    problem = Wording("The receiver did not answer within %(seconds)s seconds.", seconds=round(ATTEMPT_SECONDS_MAX))
    with trio.move_on_after(ATTEMPT_SECONDS_MAX):
        # A body that is compressed could grow without end when it is read.
        sent = {"Accept-Encoding": "identity", **headers}
        posting = client.stream("POST", url, content=body, headers=sent, extensions=of(organization_id))
        problem = await _fill_in(posting, answer)
    duration_ms = round((trio.current_time() - began_at) * 1000)
    if answer.status is None:
        error = _storable(problem)[:ERROR_CHARACTERS_MAX]
        return Attempt(status_code=None, body=None, error=error, duration_ms=duration_ms, headers=headers)
    text = _storable(answer.body.decode("utf-8", "replace"))[:RESPONSE_CHARACTERS_MAX]
    error = _problem_of(answer.status, change)
    return Attempt(status_code=answer.status, body=text, error=error, duration_ms=duration_ms, headers=headers)


async def _fill_in(posting: AbstractAsyncContextManager[httpx.Response], answer: _PartialAnswer) -> str:
    """Fill in the answer; return why it is missing or incomplete, or an empty text."""
    try:
        async with posting as response:
            answer.status = response.status_code
            await read_beginning(response, answer.body, bytes_max=_RESPONSE_BYTES_MAX)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return reason_of(error)
    return ""


def _storable(text: str) -> str:
    # PostgreSQL stores no NUL.
    return text.replace("\0", "\ufffd")


def _problem_of(status: int, change: str) -> str | None:
    if httpx.codes.is_success(status):
        return None
    if httpx.codes.is_redirect(status):
        return f"The receiver answered {status}. Redirects are not followed: {change}"
    return Wording("The receiver answered %(status)s.", status=status)


@final
class HttpLogoutSender:
    """The port `LogoutSender` (OpenID Connect Back-Channel Logout, 2.5)."""

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


class HttpWebhookSender:
    """The port `WebhookSender`; deliveries are signed as Standard Webhooks prescribe."""

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
