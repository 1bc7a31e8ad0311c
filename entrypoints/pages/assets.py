"""The style sheet, the scripts and the icon of the pages, at addresses that change with their content: cached forever.

The style sheet is one file for browsers, `gatehouse.css`, and several here, joined in the order of `STYLES`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, TypeAlias

from quart import Response

from core.errors import NotFound
from entrypoints.web.serving.answers import Media
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public
from entrypoints.web.serving.documents import content_hash
from entrypoints.web.serving.hosts import on_custom_hosts
from entrypoints.web.serving.routes import Routes

routes = Routes("assets", "The style sheet, the scripts and the icon of the pages.")

FOLDER: Final = Path(__file__).parent / "assets"
CACHE_CONTROL: Final = "public, max-age=31536000, immutable"
# In the order of the cascade: what is more specific comes later.
STYLES: Final = ("base.css", "layout.css", "components.css", "account.css", "reference.css", "mailbox.css", "print.css")
_PATH: Final = "/assets/"
_MEDIA_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

StyleSheet: TypeAlias = Annotated[Response, Media("text/css")]
Script: TypeAlias = Annotated[Response, Media("text/javascript")]
Picture: TypeAlias = Annotated[Response, Media("image/svg+xml")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """A file that browsers load, and the name under which they request it."""

    marked_name: str
    content: bytes
    media_type: str


def _asset(name: str, content: bytes) -> Asset:
    file = Path(name)
    return Asset(
        marked_name=f"{file.stem}.{content_hash(content)}{file.suffix}",
        content=content,
        media_type=_MEDIA_TYPES[file.suffix],
    )


def _style_sheet() -> bytes:
    return b"\n".join((FOLDER / "styles" / name).read_bytes() for name in STYLES)


# Read once. A requested name is looked up here and never becomes a path of the file system.
_BY_NAME: Final = {
    "gatehouse.css": _asset("gatehouse.css", _style_sheet()),
    "carried_form.js": _asset("carried_form.js", (FOLDER / "scripts" / "carried_form.js").read_bytes()),
    "copying.js": _asset("copying.js", (FOLDER / "scripts" / "copying.js").read_bytes()),
    "new_passkey.js": _asset("new_passkey.js", (FOLDER / "scripts" / "new_passkey.js").read_bytes()),
    "page.js": _asset("page.js", (FOLDER / "scripts" / "page.js").read_bytes()),
    "passkeys.js": _asset("passkeys.js", (FOLDER / "scripts" / "passkeys.js").read_bytes()),
    "favicon.svg": _asset("favicon.svg", (FOLDER / "favicon.svg").read_bytes()),
}
_BY_MARKED_NAME: Final = {asset.marked_name: asset for asset in _BY_NAME.values()}


def asset_address(name: str) -> str:
    """Return the path under which an asset is served."""
    return _PATH + _BY_NAME[name].marked_name


@routes.get("/assets/:name")
@on_custom_hosts
@public
async def asset(call: Call, name: str) -> StyleSheet | Script | Picture:
    """Return a file that a page loads."""
    found = _BY_MARKED_NAME.get(name)
    if found is None:
        raise NotFound
    call.headers["Cache-Control"] = CACHE_CONTROL
    return Response(found.content, content_type=f"{found.media_type}; charset=utf-8")
