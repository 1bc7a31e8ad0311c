"""The style sheet and the mark of the house, at addresses that change with their content and may be kept forever."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, TypeAlias

from quart import Response

from core.errors import NotFound
from entrypoints.web.answers import Media
from entrypoints.web.calls import Call
from entrypoints.web.credentials import public
from entrypoints.web.documents import content_mark
from entrypoints.web.routes import Routes

routes = Routes("assets", "What the pages of the house load.")

FOLDER: Final = Path(__file__).parent / "assets"
CACHE_CONTROL: Final = "public, max-age=31536000, immutable"
_PATH: Final = "/assets/"
_MEDIA_TYPES: Final = {".css": "text/css", ".svg": "image/svg+xml"}

StyleSheet: TypeAlias = Annotated[Response, Media("text/css")]
Picture: TypeAlias = Annotated[Response, Media("image/svg+xml")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """A file of the package, and the name under which browsers ask for it."""

    marked_name: str
    content: bytes
    media_type: str


def _read(file: Path) -> Asset:
    content = file.read_bytes()
    return Asset(
        marked_name=f"{file.stem}.{content_mark(content)}{file.suffix}",
        content=content,
        media_type=_MEDIA_TYPES[file.suffix],
    )


# Read once: what is asked for is looked up here and never becomes a path of the file system.
_BY_NAME: Final = {file.name: _read(file) for file in sorted(FOLDER.iterdir())}
_BY_MARKED_NAME: Final = {asset.marked_name: asset for asset in _BY_NAME.values()}


def asset_address(name: str) -> str:
    """Give the path under which a file of the folder is served."""
    return _PATH + _BY_NAME[name].marked_name


@routes.get("/assets/:name")
@public
async def asset(call: Call, name: str) -> StyleSheet | Picture:
    """Give a file that a page of the house refers to."""
    found = _BY_MARKED_NAME.get(name)
    if found is None:
        raise NotFound
    call.headers["Cache-Control"] = CACHE_CONTROL
    return Response(found.content, content_type=f"{found.media_type}; charset=utf-8")
