"""The kinds of signed tokens, and the refusal after which the keys may be reloaded.

The capability that issues a token defines its claims; the port `TokenSigner` signs and verifies.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from core.errors import TokenInvalid


class TokenKind(StrEnum):
    """A kind of token, the header's `typ`; a token of one kind is refused where another is expected."""

    ACCESS = "at+jwt"
    PRE_AUTH = "pre-auth+jwt"
    ID = "JWT"
    LOGOUT = "logout+jwt"
    # No credential: it says what an audit log contained (`core/audit/chain.py`).
    AUDIT_HEAD = "audit-head+jwt"


class IssuedElsewhere(TokenInvalid):
    """The token is valid apart from its issuer, which is another host of this installation."""

    def __init__(self, claims: Mapping[str, Any]) -> None:
        super().__init__()
        self.claims = claims


class SigningKeyUnknown(TokenInvalid):
    """The token names an unknown key: it is forged, or another replica signed it with a very recent key."""
