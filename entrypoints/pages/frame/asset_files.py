"""A file that pages load, at an address that changes with its content, so that it may be cached for ever."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from core.lazy_dataclasses import dataclass
from entrypoints.web.serving.documents import content_hash

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
