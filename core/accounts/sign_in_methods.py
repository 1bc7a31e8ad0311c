"""The sign-in methods, as login events and analytics count them."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from core.tables import PartialTable

ADDED_NAME: Final = re.compile("[a-z0-9]{2,30}")
# Stands in place of a method for the session of an impersonation.
IMPERSONATION: Final = "impersonation"


class Provider(StrEnum):
    """A sign-in method, as login events and analytics count it.

    The name of a provider that an operator has added counts too, although no member is listed for it: compare it by
    `==`. Stored data name it even after the operator has removed it.
    """

    PASSWORD = "password"  # noqa: S105 - the name of a method, not a secret
    PASSKEY = "passkey"
    MAGIC_LINK = "magic_link"
    SAML = "saml"
    CODEHOST = "codehost"
    WEBSUITE = "websuite"
    OFFICESUITE = "officesuite"
    # A connection of an organization to an identity provider of its own.
    UPSTREAM = "upstream"

    @classmethod
    def _missing_(cls, value: object) -> Provider | None:
        if not isinstance(value, str) or not ADDED_NAME.fullmatch(value):
            return None
        added = str.__new__(cls, value)
        added._name_ = value
        added._value_ = value
        return added


# What people call the documented providers; paths and answers keep their names.
TITLES: Final = PartialTable(
    {Provider.CODEHOST: "GitHub", Provider.WEBSUITE: "Google", Provider.OFFICESUITE: "Microsoft"}
)


def title_of(name: str) -> str:
    """Return what people call a documented provider; another one by its name."""
    return next((title for provider, title in TITLES.items() if provider == name), name)
