"""The brand of a page: what a page shows of the organization that is its context, under our own origin.

A page gets it as the value `brand`; `base.html` and `card.html` use it. The colours are a style sheet of their own,
because the security policy of pages allows no inline styles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from core.colors import contrast, text_color_on
from core.organizations.settings import branding
from core.organizations.settings.branding import TEXT_CONTRAST_MIN
from core.organizations.settings.pictures import picture_path
from entrypoints.pages.languages import marked
from entrypoints.web.serving.documents import content_hash

if TYPE_CHECKING:
    from uuid import UUID

    from core.organizations.settings.branding import BrandedOrganization
    from entrypoints.web.serving.calls import Call

# The ground of cards in dark mode, in `assets/styles/base.css`.
DARK_SURFACE: Final = "#191f1d"


@dataclass(frozen=True)
class Brand:
    """What a page shows of an organization."""

    organization: BrandedOrganization

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
            accent = _accent(stored.primary_color)
            light |= accent
            # A dark page stays readable with any primary colour.
            if contrast(stored.primary_color, DARK_SURFACE) >= TEXT_CONTRAST_MIN:
                dark |= accent
        return _scheme("light", light) + _scheme("dark", dark)

    def _path(self, name: str | None) -> str | None:
        return picture_path(self.organization.organization_id, name) if name is not None else None


async def brand_of(call: Call, organization_id: UUID | None) -> Brand | None:
    """Return the brand of an organization for a page; None when it has set none, or when there is no organization."""
    if organization_id is None:
        return None
    found = await call.read(branding.brand_of, organization_id)
    return Brand(found) if found is not None else None


def _accent(color: str) -> dict[str, str]:
    return {"--accent": color, "--accent-hover": color, "--on-accent": text_color_on(color)}


def _scheme(name: str, values: dict[str, str]) -> str:
    if not values:
        return ""
    declared = " ".join(f"{variable}: {value};" for variable, value in values.items())
    return f"@media (prefers-color-scheme: {name}) {{ :root {{ {declared} }} }}\n"
