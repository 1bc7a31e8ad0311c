"""The brand of a page: what a page shows of the organization that is its context, under our own origin.

A page gets it as the value `brand`; `frame/base.html` and `frame/card.html` use it. During a sign-in to a service the
return names the organization, and `kept_return` reads its brand with it; every other page passes its organization to
`brand_of`. Under the base URL a page with a brand names the platform as well, so that no organization passes for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from core.colors import text_color_on
from core.organizations.settings.branding import BrandedOrganization
from core.organizations.settings.pictures import picture_path
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.platform_look import accent, dark_accent, scheme
from entrypoints.web.serving.admission.branding import brand_pages
from entrypoints.web.serving.answering.documents import content_hash
from entrypoints.web.serving.calls import Call


@dataclass(frozen=True)
class Brand:
    """What a page shows of an organization; `platform` is the name of the platform where the page is its own.

    It is None under the domain of the organization.
    """

    organization: BrandedOrganization
    platform: str | None

    @property
    def name(self) -> str:
        """The name of the organization."""
        return self.organization.name

    @property
    def logo(self) -> str | None:
        """The path of the logo."""
        return self._path(self.organization.branding.logo)

    @property
    def icon(self) -> str | None:
        """The path of the icon."""
        return self._path(self.organization.branding.icon)

    @property
    def support_email(self) -> str | None:
        """The address for questions."""
        return self.organization.branding.support_email

    @property
    def links(self) -> list[tuple[str, str]]:
        """The links below the page, with their English names."""
        stored = self.organization.branding
        named = ((marked("Terms of use"), stored.terms_url), (marked("Privacy policy"), stored.privacy_url))
        return [(name, url) for name, url in named if url is not None]

    @property
    def style_sheet(self) -> str | None:
        """The path of the style sheet with the colours; None without colours."""
        if not self.colors:
            return None
        return self._path(f"{content_hash(self.colors.encode())}.css")

    @cached_property
    def colors(self) -> str:
        """The style sheet with the colours; empty without colours."""
        stored = self.organization.branding
        light: dict[str, str] = {}
        dark: dict[str, str] = {}
        if stored.background_color is not None:
            light |= {"--ground": stored.background_color, "--on-ground": text_color_on(stored.background_color)}
        if stored.primary_color is not None:
            light |= accent(stored.primary_color)
            dark |= dark_accent(stored.primary_color)
        return scheme("light", light) + scheme("dark", dark)

    def _path(self, name: str | None) -> str | None:
        return picture_path(self.organization.organization_id, name) if name is not None else None


async def brand_of(call: Call, organization_id: UUID | None) -> Brand | None:
    """Return the brand of an organization for a page; None when it has set none, or when there is no organization.

    A refusal of the same request shows it as well.
    """
    # Under a custom domain, the brand of its organization has been read already.
    if call.brand is None and call.custom_host is None and organization_id is not None:
        await brand_pages(call, organization_id)
    return present_brand(call)


def present_brand(call: Call) -> Brand | None:
    """Return the brand that the pages of this request show; None without one."""
    if call.brand is None:
        return None
    return Brand(call.brand, None if call.custom_host is not None else call.installation.platform.name)
