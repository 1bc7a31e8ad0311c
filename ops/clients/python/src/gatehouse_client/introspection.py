"""Asking Gatehouse whether a token still holds (RFC 7662), with answers that are kept for seconds."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

import httpx

from gatehouse_client.errors import Refused, TokenRefused
from gatehouse_client.provider import Provider, authenticated, object_of
from gatehouse_client.steps import Steps, locked, now, send

KEPT_SECONDS: Final = 5.0
KEPT_MAX: Final = 10_000
_REFUSED: Final = (httpx.codes.BAD_REQUEST, httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN)


class Introspection:
    """Questions of one service about its tokens. Of many callers with one token, one asks."""

    def __init__(self, provider: Provider, client_id: str, client_secret: str) -> None:
        self._provider = provider
        self._client_id = client_id
        self._client_secret = client_secret
        # By the hash of the token: when it was asked, and the answer.
        self._kept: OrderedDict[bytes, tuple[float, Mapping[str, Any]]] = OrderedDict()

    def ask(self, token: str) -> Steps[Mapping[str, Any]]:
        """Return what holds for the token now; raise `TokenRefused` for one that is over or of another service."""
        mark = hashlib.sha256(token.encode()).digest()
        answer = yield from self._find(mark)
        if answer is None:
            answer = yield from locked(f"introspection {mark.hex()}", self._ask(token, mark))
        if answer.get("active") is not True:
            raise TokenRefused("the token holds no longer")
        return answer

    def _find(self, mark: bytes) -> Steps[Mapping[str, Any] | None]:
        at = yield from now()
        asked_at, answer = self._kept.get(mark, (None, None))
        return answer if asked_at is not None and 0 <= at - asked_at < KEPT_SECONDS else None

    def _ask(self, token: str, mark: bytes) -> Steps[Mapping[str, Any]]:
        found = yield from self._find(mark)
        if found is not None:
            return found
        at = yield from now()
        address = yield from self._provider.endpoint("introspection_endpoint")
        request = httpx.Request("POST", address, data={"token": token, "token_type_hint": "access_token"})
        response = yield from send(authenticated(request, self._client_id, self._client_secret))
        if response.status_code in _REFUSED:
            raise Refused(
                status=response.status_code,
                error_code="OAUTH_ERROR",
                message="Gatehouse refused the client id or the secret for introspection",
                request_id=response.headers.get("X-Request-Id"),
            )
        answer = object_of(response, address)
        self._kept[mark] = (at, answer)
        while len(self._kept) > KEPT_MAX:
            self._kept.popitem(last=False)
        return answer
