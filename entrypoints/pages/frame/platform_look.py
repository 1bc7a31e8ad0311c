"""The look of the platform on pages: its name, logo and icon, and its colour as a style sheet (`GATEHOUSE_NAME`, …).

A template gets it as the value `platform`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from core.accounts.providers import title_of
from core.lazy_dataclasses import dataclass
from core.organizations.settings.pictures import Picture, PictureType
from core.platform_brand import PlatformBrand
from entrypoints.pages.frame.asset_files import FOLDER, Asset, asset_of
from entrypoints.pages.frame.brand_colors import accent, dark_accent, scheme, walls

# An installation has one; a test has several.
_REMEMBERED_MAX: Final = 16
_SUFFIXES: Final = {PictureType.PNG: "png", PictureType.SVG: "svg"}
# The colour of the ground in the icon.
_ICON_COLOR: Final = "#14544a"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformLook:
    """What pages show of the platform; addresses are None where the product's own are shown.

    `titles` and `marks` belong to providers that the operator has added, by their names. `files` are the files at the
    addresses, by their names.
    """

    name: str
    logo: str | None
    mail_logo: str | None
    icon: str | None
    style_sheet: str | None
    titles: Mapping[str, str]
    marks: Mapping[str, str]
    files: Mapping[str, Asset]

    def title_of(self, provider: str) -> str:
        """Return what people call a provider; one that was removed by its name."""
        return self.titles.get(provider) or title_of(provider)


@lru_cache(maxsize=_REMEMBERED_MAX)
def look_of(brand: PlatformBrand) -> PlatformLook:
    """Return the look of a platform."""
    logo = _logo(brand.logo) if brand.logo is not None else None
    is_in_mails = brand.logo is not None and brand.logo.type is PictureType.PNG
    icon = logo if brand.color is None or logo is not None else _icon(brand.color)
    style_sheet = _style_sheet(brand.color) if brand.color is not None else None
    marks = {one.name: _mark(one.icon) for one in brand.providers if one.icon is not None}
    files = [file for file in (logo, icon, style_sheet, *marks.values()) if file is not None]
    return PlatformLook(
        name=brand.name,
        logo=logo.address if logo is not None else None,
        # Few mail programs show another type of picture.
        mail_logo=logo.address if logo is not None and is_in_mails else None,
        icon=icon.address if icon is not None else None,
        style_sheet=style_sheet.address if style_sheet is not None else None,
        titles={one.name: one.title for one in brand.providers},
        marks={name: file.address for name, file in marks.items()},
        files={file.marked_name: file for file in files},
    )


def _logo(picture: Picture) -> Asset:
    return asset_of(f"logo.{_SUFFIXES[picture.type]}", picture.content)


def _mark(picture: Picture) -> Asset:
    return asset_of(f"provider.{_SUFFIXES[picture.type]}", picture.content)


def _icon(color: str) -> Asset:
    own = (FOLDER / "favicon.svg").read_text(encoding="utf-8")
    return asset_of("icon.svg", own.replace(_ICON_COLOR, color).encode())


def _style_sheet(color: str) -> Asset:
    light, dark = walls(color)
    text = scheme("light", accent(color) | light) + scheme("dark", dark_accent(color) | dark)
    return asset_of("platform.css", text.encode())


DEFAULT_LOOK: Final = look_of(PlatformBrand())
