"""The algorithms that sign tokens."""

from enum import StrEnum


class SignatureAlgorithm(StrEnum):
    """The algorithm with which a key signs (RFC 7518, 3.1); a key signs with that one alone."""

    RS256 = "RS256"
    ES256 = "ES256"
