"""The ways to sign in, as login events and analytics count them."""

from enum import StrEnum


class Provider(StrEnum):
    """A way to sign in, as login events and analytics count it."""

    PASSWORD = "password"  # noqa: S105 - the name of a way, not a secret
    PASSKEY = "passkey"
    MAGIC_LINK = "magic_link"
    SAML = "saml"
    CODEHOST = "codehost"
    WEBSUITE = "websuite"
    OFFICESUITE = "officesuite"
