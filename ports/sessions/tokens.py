"""Signed tokens, and how their keys are loaded into a process."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from core.sessions.security_profiles import SignatureAlgorithm
from core.sessions.signing_keys import SigningKey
from core.sessions.tokens import TokenKind


class TokenSigner(Protocol):
    """Signs and verifies tokens of this installation; fast, and without the database."""

    def sign(
        self,
        claims: Mapping[str, Any],
        *,
        kind: TokenKind,
        lifetime: timedelta,
        now: datetime,
        host: str | None = None,
        algorithm: SignatureAlgorithm = SignatureAlgorithm.RS256,
    ) -> str:
        """Return a token with these claims, which include `sub` and `aud`, and with `iss`, `iat`, `exp` and `jti`.

        The active key of the algorithm signs. The issuer is the installation under a custom host, or under its base URL
        without one. Raise `ServiceUnavailable` while there is no key that may sign.
        """
        ...

    def verify(self, token: str, *, kind: TokenKind, now: datetime, host: str | None = None) -> Mapping[str, Any]:
        """Return the claims of a token that this installation signed, that has this kind and has not expired.

        The key that the token names determines the algorithm, and the header must name the same one. The text must be
        the issued one, character by character: another encoding of the same bytes is refused.

        Raise `TokenExpired` or `TokenInvalid`; its subclass `SigningKeyUnknown` may be resolved by `KeyRefresh`, and
        `IssuedElsewhere` is for a valid token of another host. The caller checks the audience: here `aud`, like `sub`
        and `jti`, is only required to be a text that is not empty.
        """
        ...

    def jwks(self) -> list[dict[str, str]]:
        """List the public keys as JSON Web Keys (RFC 7517): those of each kind together, the active one, the next
        one, and the retired ones.
        """
        ...


class SignatureVerifier(Protocol):
    """Verifies signatures by keys that were ever published, without access to the installation."""

    def verify_signature(self, token: str, *, kind: TokenKind) -> None:
        """Raise `TokenInvalid` unless one of the keys signed this token of this kind, and it is written as issued."""
        ...


class KeyRing(Protocol):
    """The published keys in the memory of one process."""

    def load(self, keys: Sequence[SigningKey]) -> None:
        """Replace the keys by these, in one step for everything that signs or verifies."""
        ...


class KeyRefresh(Protocol):
    """Reloading the stored keys."""

    async def catch_up(self) -> None:
        """Wait until the stored keys have been read again; concurrent callers share one read, each with a deadline."""
        ...
