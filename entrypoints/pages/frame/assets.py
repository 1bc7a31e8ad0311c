"""The style sheet, the font, the scripts and the icon of the pages, at addresses that change with their content.

They are cached forever. The style sheet is one file for browsers, `gatehouse.css`, and several here, joined in the
order of `STYLES`; it names the font (ops/decisions/0095). Every script of the folder is served.
"""

import re
from typing import Annotated, Final, TypeAlias

from quart import Response

from core.errors import NotFound
from entrypoints.pages.frame.platform_look import CACHE_CONTROL, FOLDER, Asset, asset_of, look_of, only_scheme
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.answering.answers import Media
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("assets", "The style sheet, the font, the scripts and the icon of the pages.")

# In the order of the cascade: what is more specific comes later.
STYLES: Final = (
    "base.css",
    "layout.css",
    "components.css",
    "frame.css",
    "palette.css",
    "account.css",
    "icons.css",
    "console.css",
    "acting.css",
    "tables.css",
    "overview.css",
    "jobs.css",
    "branding.css",
    "plots.css",
    "settings.css",
    "setup.css",
    "services.css",
    "reference.css",
    "manual.css",
    "mailbox.css",
    "print.css",
)
FONT: Final = "inter.woff2"
_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_LINES: Final = re.compile(r"\s*\n\s*")
# A picture that is opened by itself runs and loads nothing, whatever it contains.
PICTURE_POLICY: Final = "default-src 'none'; sandbox"

StyleSheet: TypeAlias = Annotated[Response, Media("text/css")]
Script: TypeAlias = Annotated[Response, Media("text/javascript")]
Font: TypeAlias = Annotated[Response, Media("font/woff2")]
Picture: TypeAlias = Annotated[Response, Media("image/svg+xml")]
Png: TypeAlias = Annotated[Response, Media("image/png")]


_FONT: Final = asset_of(FONT, (FOLDER / "fonts" / FONT).read_bytes())


def style_sheet() -> str:
    """Return the whole style sheet, with the address of the font, and without what only its writers read."""
    text = "\n".join((FOLDER / "styles" / name).read_text("utf-8") for name in STYLES)
    text = _LINES.sub("\n", _COMMENT.sub("", text))
    return text.replace(f'url("{FONT}")', f'url("{_FONT.address}")')


def _style_sheets() -> dict[str, Asset]:
    """Return the style sheet, and the sheets of pages in one fixed scheme (`settings/branding_preview.py`)."""
    text = style_sheet()
    texts = {
        "gatehouse.css": text,
        "gatehouse-light.css": only_scheme(text, "light"),
        "gatehouse-dark.css": only_scheme(text, "dark"),
    }
    return {name: asset_of(name, sheet.encode()) for name, sheet in texts.items()}


# Read once. A requested name is looked up here and never becomes a path of the file system.
_BY_NAME: Final = {
    **_style_sheets(),
    **{file.name: asset_of(file.name, file.read_bytes()) for file in sorted((FOLDER / "scripts").glob("*.js"))},
    "favicon.svg": asset_of("favicon.svg", (FOLDER / "favicon.svg").read_bytes()),
    FONT: _FONT,
}
_BY_MARKED_NAME: Final = {asset.marked_name: asset for asset in _BY_NAME.values()}


def asset_address(name: str) -> str:
    """Return the path under which an asset is served."""
    return _BY_NAME[name].address


@routes.get("/assets/:name")
@on_custom_hosts
@public
async def asset(call: Call, name: str) -> StyleSheet | Script | Font | Picture | Png:
    """Return a file that a page loads."""
    own = look_of(call.installation.platform).files.get(name)
    found = own or _BY_MARKED_NAME.get(name)
    if found is None:
        raise NotFound
    call.headers["Cache-Control"] = CACHE_CONTROL
    response = Response(found.content, content_type=found.content_type)
    if found is _FONT:
        # To the sandbox in which a page is shown, such as the preview of a brand, it comes from another origin.
        response.headers["Access-Control-Allow-Origin"] = "*"
    if own is not None:
        # The operator's: mails show the logo on pages of other origins.
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        response.headers["Content-Security-Policy"] = PICTURE_POLICY
    return response
