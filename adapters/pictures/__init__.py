"""Pictures that organizations upload, rebuilt from their harmless parts on a thread."""

from __future__ import annotations

from typing import final

import trio

from adapters.pictures.png import cleaned_png
from core.organizations.settings.pictures import PICTURE_BYTES_MAX, Picture, PictureInvalid, PictureType

# Each takes up to some megabytes while it is read.
THREADS_MAX = 2


def _cleaned_svg(content: bytes) -> bytes:
    # Loaded when it is first used: lxml takes 7 MB, and few installations ever clean a picture.
    from adapters.pictures.svg import cleaned_svg  # noqa: PLC0415

    return cleaned_svg(content)


def cleaned(picture: Picture) -> Picture:
    """Return the picture without anything active, hidden or appended; raise `PictureInvalid`."""
    clean = cleaned_png if picture.type is PictureType.PNG else _cleaned_svg
    content = clean(picture.content)
    if len(content) > PICTURE_BYTES_MAX:
        raise PictureInvalid("The picture is too large after it was rebuilt. Make it simpler.")
    return Picture(type=picture.type, content=content)


@final
class RebuildingCleaner:
    """The port `PictureCleaner`."""

    def __init__(self) -> None:
        self._threads = trio.CapacityLimiter(THREADS_MAX)

    async def clean(self, picture: Picture) -> Picture:
        """Return the picture without anything active, hidden or appended; raise `PictureInvalid`."""
        return await trio.to_thread.run_sync(cleaned, picture, limiter=self._threads)
