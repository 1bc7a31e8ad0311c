"""The brand of the platform from its settings; its logo is read from a file, and rebuilt as those of organizations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from core.organizations.settings.pictures import PICTURE_BYTES_MAX, PNG_BEGIN, Picture, PictureInvalid, PictureType
from core.platform_brand import PlatformBrand
from entrypoints.refusals import CannotStart
from entrypoints.setting_kinds import PREFIX
from entrypoints.settings import Settings

_TAKES: Final = f"the path of a PNG or SVG file of at most {PICTURE_BYTES_MAX // 1024} KiB"


def platform_brand(settings: Settings, cleaned: Callable[[Picture], Picture]) -> PlatformBrand:
    """Return the brand, with the logo as `cleaned` has rebuilt it; raise `CannotStart` when it is not usable."""
    logo = _logo(settings.logo, cleaned) if settings.logo is not None else None
    return PlatformBrand(name=settings.name, color=settings.color, logo=logo)


def _logo(file: Path, cleaned: Callable[[Picture], Picture]) -> Picture:
    if file.is_fifo():
        # Opening it would wait for a program that writes to it.
        raise _wrong(f"{file} is a named pipe.")
    try:
        with file.open("rb") as opened:
            content = opened.read(PICTURE_BYTES_MAX + 1)
    except OSError as error:
        raise _wrong(f"{file} cannot be read: {error.strerror}.") from None
    if not content or len(content) > PICTURE_BYTES_MAX:
        raise _wrong(f"{file} is {'too large' if content else 'empty'}.")
    # By the content: the name of a file says nothing about it.
    kind = PictureType.PNG if content.startswith(PNG_BEGIN) else PictureType.SVG
    try:
        return cleaned(Picture(type=kind, content=content))
    except PictureInvalid as invalid:
        raise _wrong(f"{file} cannot be used: {invalid}") from None


def _wrong(problem: str) -> CannotStart:
    return CannotStart(f"{PREFIX}LOGO takes {_TAKES}. {problem}")
