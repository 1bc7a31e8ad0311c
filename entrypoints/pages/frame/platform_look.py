"""The look of the platform on pages: its name, logo and icon, and its colour as a style sheet (`GATEHOUSE_NAME`, …).

A template gets it as the value `platform`. The security policy of pages allows no inline styles, so colours are a style
sheet. Whatever a colour is, text stays readable: on the accent, in the accent, in both schemes. A file is at an address
that changes with its content, so that it may be cached for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from core.accounts.sign_in_methods import title_of
from core.colors import BLACK, DARK_SURFACE, GROUND, WHITE, mixed, readable_on, text_color_on, tint_of
from core.lazy_dataclasses import dataclass
from core.organizations.settings.pictures import Picture, PictureType
from core.platform_brand import PlatformBrand
from entrypoints.web.serving.answering.documents import content_hash

# An installation has one; a test has several.
_REMEMBERED_MAX: Final = 16
_SUFFIXES: Final = {PictureType.PNG: "png", PictureType.SVG: "svg"}
# The colour of the ground in the icon.
_ICON_COLOR: Final = "#14544a"
FOLDER: Final = Path(__file__).parents[1] / "assets"
CACHE_CONTROL: Final = "public, max-age=31536000, immutable"
_PATH: Final = "/assets/"
_MEDIA_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml; charset=utf-8",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
# How much of the colour a button keeps under the pointer.
_HOVER_SHARE: Final = 0.85
# How much of the colour is in the header of a page, where the rest is dark.
_WALL_SHARE: Final = 0.85
_DARK_WALL_SHARE: Final = 0.3


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """A file that browsers load, and the name under which they request it."""

    marked_name: str
    content: bytes
    content_type: str

    @property
    def address(self) -> str:
        """The path under which it is served."""
        return _PATH + self.marked_name


def asset_of(name: str, content: bytes) -> Asset:
    """Return a file with the mark of its content in its name."""
    file = Path(name)
    return Asset(
        marked_name=f"{file.stem}.{content_hash(content)}{file.suffix}",
        content=content,
        content_type=_MEDIA_TYPES[file.suffix],
    )


def accent(color: str) -> dict[str, str]:
    """Return the values of a brand's main colour in a light scheme."""
    return _accent(color, readable_on(color, GROUND), WHITE)


def dark_accent(color: str) -> dict[str, str]:
    """Return those in a dark scheme, where a dark colour is lightened until it is readable."""
    lightened = readable_on(color, DARK_SURFACE)
    return _accent(lightened, lightened, DARK_SURFACE)


def walls(color: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the values of the headers of pages, in a light scheme and in a dark one."""
    return _wall(mixed(color, BLACK, _WALL_SHARE)), _wall(mixed(color, DARK_SURFACE, _DARK_WALL_SHARE))


def scheme(name: str, values: Mapping[str, str]) -> str:
    """Return the part of a style sheet that sets the values in a scheme; empty without any."""
    if not values:
        return ""
    declared = " ".join(f"{variable}: {value};" for variable, value in values.items())
    return f"@media (prefers-color-scheme: {name}) {{ :root {{ {declared} }} }}\n"


def only_scheme(text: str, name: str) -> str:
    """Return a style sheet, or a page with one, as it is in this scheme whatever the browser of its reader prefers."""
    for one in ("light", "dark"):
        text = text.replace(f"(prefers-color-scheme: {one})", "all" if one == name else "not all")
    return text.replace("color-scheme: light dark;", f"color-scheme: {name};")


def _accent(color: str, text: str, surface: str) -> dict[str, str]:
    on_accent = text_color_on(color)
    return {
        "--accent": color,
        # Away from the text on it.
        "--accent-hover": mixed(color, BLACK if on_accent == WHITE else WHITE, _HOVER_SHARE),
        "--on-accent": on_accent,
        "--accent-text": text,
        "--accent-text-hover": text,
        "--tint": tint_of(text, surface),
    }


def _wall(color: str) -> dict[str, str]:
    return {"--wall": color, "--on-wall": text_color_on(color)}
