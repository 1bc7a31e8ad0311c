"""The pictures and colours of brandings, on our own origin under names that change with their content."""

from typing import Annotated, TypeAlias
from uuid import UUID

from quart import Response

from core.errors import NotFound
from core.organizations.settings import branding
from core.organizations.settings.branding import BrandingUnknown
from core.organizations.settings.pictures import PATH, picture_path
from entrypoints.pages.asset_files import CACHE_CONTROL
from entrypoints.pages.assets import PICTURE_POLICY, Png, StyleSheet
from entrypoints.pages.brands import Brand
from entrypoints.web.serving.answers import Media
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public
from entrypoints.web.serving.hosts import on_custom_hosts
from entrypoints.web.serving.routes import Routes

routes = Routes("branding", "How pages and mails of an organization look.")

Svg: TypeAlias = Annotated[Response, Media("image/svg+xml")]


@routes.get(f"{PATH}/:organization_id/:name", refuses=(BrandingUnknown,))
@on_custom_hosts
@public
async def show_file(call: Call, organization_id: UUID, name: str) -> Png | Svg | StyleSheet:
    """Return a picture or the style sheet of an organization's branding, which may be cached for ever."""
    response = await (_style_sheet if name.endswith(".css") else _picture)(call, organization_id, name)
    response.headers["Cache-Control"] = CACHE_CONTROL
    # Mails and the applications of the organization show it on pages of other origins.
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


async def _style_sheet(call: Call, organization_id: UUID, name: str) -> Response:
    found = await call.read(branding.brand_of, organization_id)
    brand = Brand(found, None) if found is not None else None
    if brand is None or brand.style_sheet != picture_path(organization_id, name):
        raise NotFound
    return Response(brand.colors, content_type="text/css; charset=utf-8")


async def _picture(call: Call, organization_id: UUID, name: str) -> Response:
    picture = await call.read(branding.picture, organization_id, name)
    response = Response(picture.content, content_type=picture.type.value)
    response.headers["Content-Security-Policy"] = PICTURE_POLICY
    return response
