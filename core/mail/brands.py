"""The brand of a mail in the context of an organization with a branding of its own.

The branding is set in `core/organizations/settings/branding.py`. A mail with an account's secret shows its name, logo
and colour only: no link and no address that the organization chose.
"""

from __future__ import annotations

from dataclasses import replace

from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MailBrand:
    """What a mail shows of an organization; `logo` is the path of a picture on our own origin.

    In a preview it may be a `data:` URL.
    """

    name: str
    logo: str | None
    primary_color: str | None
    on_primary_color: str | None
    support_email: str | None
    terms_url: str | None
    privacy_url: str | None

    def without_links(self) -> MailBrand:
        """Return the brand of a mail with an account's secret."""
        return replace(self, support_email=None, terms_url=None, privacy_url=None)
