"""What signs tokens."""

from enum import StrEnum


class SignatureAlgorithm(StrEnum):
    """With which algorithm a key signs (RFC 7518, 3.1); a key signs with that one alone."""

    RS256 = "RS256"
    ES256 = "ES256"
