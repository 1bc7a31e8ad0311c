"""The sign-in methods, as login events and analytics count them."""

from enum import StrEnum


class Provider(StrEnum):
    """A sign-in method, as login events and analytics count it."""

    PASSWORD = "password"  # noqa: S105 - the name of a method, not a secret
    PASSKEY = "passkey"
    MAGIC_LINK = "magic_link"
    SAML = "saml"
    CODEHOST = "codehost"
    WEBSUITE = "websuite"
    OFFICESUITE = "officesuite"
    # A connection of an organization to an identity provider of its own.
    UPSTREAM = "upstream"
