"""The brand of the platform from its settings; pictures are read from files, and rebuilt as those of organizations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from core.organizations.settings.pictures import PICTURE_BYTES_MAX, PNG_BEGIN, Picture, PictureInvalid, PictureType
from core.platform_brand import PlatformBrand, ProviderBrand
from entrypoints.added_providers import SETTING
from entrypoints.refusals import CannotStart
from entrypoints.setting_kinds import PREFIX
from entrypoints.settings import Settings

_TAKES: Final = f"the path of a PNG or SVG file of at most {PICTURE_BYTES_MAX // 1024} KiB"


def platform_brand(settings: Settings, cleaned: Callable[[Picture], Picture]) -> PlatformBrand:
    """Return the brand, with the logo as `cleaned` has rebuilt it; raise `CannotStart` when it is not usable."""
    logo = _picture(settings.logo, cleaned, f"{PREFIX}LOGO") if settings.logo is not None else None
    return PlatformBrand(
        name=settings.name, color=settings.color, logo=logo, providers=tuple(_provider_brands(settings, cleaned))
    )


def _provider_brands(settings: Settings, cleaned: Callable[[Picture], Picture]) -> Iterator[ProviderBrand]:
    """Yield the titles and pictures of the providers that the operator has added."""
    added = settings.providers_file
    if added is None:
        return
    for one in added.providers:
        file = added.icons.get(one.provider)
        setting = f"{SETTING} names {added.file}, whose icon in [{one.provider}]"
        icon = _picture(file, cleaned, setting) if file is not None else None
        yield ProviderBrand(name=one.provider.value, title=one.title, icon=icon)


def _picture(file: Path, cleaned: Callable[[Picture], Picture], setting: str) -> Picture:
    """Return the picture in a file; raise `CannotStart`, which says what the setting takes."""
    if file.is_fifo():
        # Opening it would wait for a program that writes to it.
        raise _wrong(setting, f"{file} is a named pipe.")
    try:
        with file.open("rb") as opened:
            content = opened.read(PICTURE_BYTES_MAX + 1)
    except OSError as error:
        raise _wrong(setting, f"{file} cannot be read: {error.strerror}.") from None
    if not content or len(content) > PICTURE_BYTES_MAX:
        raise _wrong(setting, f"{file} is {'too large' if content else 'empty'}.")
    # By the content: the name of a file says nothing about it.
    kind = PictureType.PNG if content.startswith(PNG_BEGIN) else PictureType.SVG
    try:
        return cleaned(Picture(type=kind, content=content))
    except PictureInvalid as invalid:
        raise _wrong(setting, f"{file} cannot be used: {invalid}") from None


def _wrong(setting: str, problem: str) -> CannotStart:
    return CannotStart(f"{setting} takes {_TAKES}. {problem}")
