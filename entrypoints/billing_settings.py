"""The rules for the settings of the payment provider that concern more than one of them."""

from __future__ import annotations

import ipaddress
from typing import Final, Protocol
from urllib.parse import urlsplit

SANDBOX_ADVICE: Final = "Members can buy plans without paying. To charge for plans, set GATEHOUSE_BILLING_SECRET_KEY."
NOTHING_FOR_SALE_ADVICE: Final = (
    "Nothing can be bought. Set GATEHOUSE_BILLING_SECRET_KEY to charge for plans, or GATEHOUSE_BILLING_SANDBOX=on to"
    " try them out without money."
)


class BillingSettings(Protocol):
    """The settings that the rules need."""

    @property
    def billing_url(self) -> str: ...

    @property
    def billing_secret_key(self) -> object | None: ...

    @property
    def billing_webhook_secret(self) -> object | None: ...

    @property
    def dev(self) -> bool: ...


def problem(settings: BillingSettings) -> str | None:
    """Return the line that says what is wrong with these settings; None when they are usable."""
    if (settings.billing_secret_key is None) != (settings.billing_webhook_secret is None):
        return "GATEHOUSE_BILLING_SECRET_KEY and GATEHOUSE_BILLING_WEBHOOK_SECRET go together. Set both, or neither."
    parts = urlsplit(settings.billing_url)
    if parts.scheme != "https" and not settings.dev and not is_this_machine(parts.hostname or ""):
        # The key of the provider could be read on the way.
        return "GATEHOUSE_BILLING_URL takes an https address; http only on this machine or with GATEHOUSE_DEV=on."
    return None


def is_this_machine(host: str) -> bool:
    """Return whether a host names the machine itself."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
