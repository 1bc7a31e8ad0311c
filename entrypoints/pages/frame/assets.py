"""The style sheet, the scripts and the icon of the pages, at addresses that change with their content: cached forever.

The style sheet is one file for browsers, `gatehouse.css`, and several here, joined in the order of `STYLES`.
"""

from typing import Annotated, Final, TypeAlias

from quart import Response

from core.errors import NotFound
from entrypoints.pages.frame.asset_files import CACHE_CONTROL, FOLDER, asset_of
from entrypoints.pages.frame.brand_colors import only_scheme
from entrypoints.pages.frame.platform_look import look_of
from entrypoints.web.serving.answers import Media
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public
from entrypoints.web.serving.hosts import on_custom_hosts
from entrypoints.web.serving.routes import Routes

routes = Routes("assets", "The style sheet, the scripts and the icon of the pages.")

# In the order of the cascade: what is more specific comes later.
STYLES: Final = (
    "base.css",
    "layout.css",
    "components.css",
    "account.css",
    "icons.css",
    "console.css",
    "acting.css",
    "jobs.css",
    "branding.css",
    "plots.css",
    "settings.css",
    "plots.css",
    "services.css",
    "plots.css",
    "reference.css",
    "mailbox.css",
    "print.css",
)
# A picture that is opened by itself runs and loads nothing, whatever it contains.
PICTURE_POLICY: Final = "default-src 'none'; sandbox"

StyleSheet: TypeAlias = Annotated[Response, Media("text/css")]
Script: TypeAlias = Annotated[Response, Media("text/javascript")]
Picture: TypeAlias = Annotated[Response, Media("image/svg+xml")]
Png: TypeAlias = Annotated[Response, Media("image/png")]


def _style_sheet() -> bytes:
    return b"\n".join((FOLDER / "styles" / name).read_bytes() for name in STYLES)


# Read once. A requested name is looked up here and never becomes a path of the file system.
_BY_NAME: Final = {
    "gatehouse.css": asset_of("gatehouse.css", _style_sheet()),
    # For pages that are shown in one scheme (`organizations/settings/branding_preview.py`).
    "gatehouse-light.css": asset_of("gatehouse-light.css", only_scheme(_style_sheet().decode(), "light").encode()),
    "gatehouse-dark.css": asset_of("gatehouse-dark.css", only_scheme(_style_sheet().decode(), "dark").encode()),
    "branding.js": asset_of("branding.js", (FOLDER / "scripts" / "branding.js").read_bytes()),
    "carried_form.js": asset_of("carried_form.js", (FOLDER / "scripts" / "carried_form.js").read_bytes()),
    "copying.js": asset_of("copying.js", (FOLDER / "scripts" / "copying.js").read_bytes()),
    "first_sign_in.js": asset_of("first_sign_in.js", (FOLDER / "scripts" / "first_sign_in.js").read_bytes()),
    "keys.js": asset_of("keys.js", (FOLDER / "scripts" / "keys.js").read_bytes()),
    "live_log.js": asset_of("live_log.js", (FOLDER / "scripts" / "live_log.js").read_bytes()),
    "new_passkey.js": asset_of("new_passkey.js", (FOLDER / "scripts" / "new_passkey.js").read_bytes()),
    "page.js": asset_of("page.js", (FOLDER / "scripts" / "page.js").read_bytes()),
    "passkeys.js": asset_of("passkeys.js", (FOLDER / "scripts" / "passkeys.js").read_bytes()),
    "reference.js": asset_of("reference.js", (FOLDER / "scripts" / "reference.js").read_bytes()),
    "registration.js": asset_of("registration.js", (FOLDER / "scripts" / "registration.js").read_bytes()),
    "signal_passkeys.js": asset_of("signal_passkeys.js", (FOLDER / "scripts" / "signal_passkeys.js").read_bytes()),
    "favicon.svg": asset_of("favicon.svg", (FOLDER / "favicon.svg").read_bytes()),
}
_BY_MARKED_NAME: Final = {asset.marked_name: asset for asset in _BY_NAME.values()}


def asset_address(name: str) -> str:
    """Return the path under which an asset is served."""
    return _BY_NAME[name].address


@routes.get("/assets/:name")
@on_custom_hosts
@public
async def asset(call: Call, name: str) -> StyleSheet | Script | Picture | Png:
    """Return a file that a page loads."""
    own = look_of(call.installation.platform).files.get(name)
    found = own or _BY_MARKED_NAME.get(name)
    if found is None:
        raise NotFound
    call.headers["Cache-Control"] = CACHE_CONTROL
    response = Response(found.content, content_type=found.content_type)
    if own is not None:
        # The operator's: mails show the logo on pages of other origins.
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        response.headers["Content-Security-Policy"] = PICTURE_POLICY
    return response
