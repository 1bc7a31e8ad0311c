"""Cookies: how they are set, and values in them that the browser cannot change."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from gatehouse_client.errors import TokenRefused
from gatehouse_client.signatures import decoded, encoded

SECRET_CHARACTERS_MIN: Final = 32
COOKIE_CHARACTERS_MAX: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Cookie:
    """A cookie to set: for the whole site, HttpOnly, SameSite=Lax. An age of 0 removes it."""

    name: str
    value: str = field(repr=False)
    max_age_seconds: int
    is_secure: bool

    @property
    def header(self) -> str:
        """The value of the header `Set-Cookie`."""
        secure = "; Secure" if self.is_secure else ""
        return f"{self.name}={self.value}; Path=/; Max-Age={self.max_age_seconds}; HttpOnly; SameSite=Lax{secure}"


class CookieSigner:
    """Signs what a cookie says, for one purpose, with a secret of the product."""

    def __init__(self, secret: str, purpose: str) -> None:
        if len(secret) < SECRET_CHARACTERS_MIN:
            raise ValueError(f"the cookie secret has at least {SECRET_CHARACTERS_MIN} random characters")
        # A value that was signed for one purpose is invalid for another.
        self._key = hmac.digest(secret.encode(), f"gatehouse-client {purpose}".encode(), hashlib.sha256)

    def sign(self, values: Mapping[str, str], *, until: float) -> str:
        """Return a text with these values, which `read` takes until then."""
        text = encoded(json.dumps({**values, "until": until}).encode())
        return f"{text}.{self._mark(text)}"

    def read(self, cookie: str | None, *, at: float) -> Mapping[str, str] | None:
        """Return the values of a text; None for one that was not signed here, or is over."""
        text, _, mark = (cookie or "").partition(".")
        if len(text) > COOKIE_CHARACTERS_MAX or not hmac.compare_digest(mark.encode(), self._mark(text).encode()):
            return None
        try:
            values = cast("dict[str, str]", json.loads(decoded(text)))
        except (TokenRefused, ValueError):
            return None
        return values if float(values.pop("until")) > at else None

    def mark(self, text: str) -> str:
        """Return a keyed hash of a text, which cannot be made without the secret."""
        return hmac.digest(self._key, text.encode(), hashlib.sha256).hex()

    def _mark(self, text: str) -> str:
        return encoded(hmac.digest(self._key, text.encode(), hashlib.sha256))
