"""The tokens that we sign: their kinds, and the one refusal that may be worth a second look.

What is in them is the business of the capability that asks for one; signing and checking is the port `TokenSigner`.
"""

from enum import StrEnum

from core.errors import TokenInvalid


class TokenKind(StrEnum):
    """A kind of token, as its header's `typ` says it: one kind is refused where another is expected (decisions 2.1)."""

    ACCESS = "at+jwt"
    PRE_AUTH = "pre-auth+jwt"


class SigningKeyUnknown(TokenInvalid):
    """The token names a key that we do not know: a forgery, or signed by a replica with a key that is very young."""
