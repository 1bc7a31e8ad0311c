"""Signed tokens, and how the keys that sign and check them reach the memory of a process."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from core.sessions.signing_keys import SigningKey
from core.sessions.tokens import TokenKind


class TokenSigner(Protocol):
    """Signs and checks tokens of this installation; quick, and without the database."""

    def sign(self, claims: Mapping[str, Any], *, kind: TokenKind, lifetime: timedelta, now: datetime) -> str:
        """Sign claims, `sub` and `aud` among them, to which `iss`, `iat`, `exp` and `jti` are added.

        Raise `ServiceUnavailable` while there is no key that may sign.
        """
        ...

    def verify(self, token: str, *, kind: TokenKind, now: datetime) -> Mapping[str, Any]:
        """Give the claims of a token that we signed, of this kind and still valid.

        Raise `TokenExpired`, `TokenInvalid`, or as one of the latter `SigningKeyUnknown`, after which `KeyRefresh` may
        help. Whom the token is for is left to the caller: `aud`, like `sub` and `jti`, is a text that is not empty.
        """
        ...

    def jwks(self) -> list[dict[str, str]]:
        """List the public keys as JSON Web Keys: the one that signs, the next one, and those retired (RFC 7517)."""
        ...


class KeyRing(Protocol):
    """The published keys as one process knows them."""

    def load(self, keys: Sequence[SigningKey]) -> None:
        """Forget the keys of before and know these, at once for everybody who signs or checks."""
        ...


class KeyRefresh(Protocol):
    """A second look at the stored keys."""

    async def catch_up(self) -> None:
        """Wait until the stored keys have been read anew; many callers share one look, and each gives up in time."""
        ...
