"""The page of a setup link for SCIM: the address, a token for the directory, and what the directory failed to do."""

from typing import Final

from quart import Response

from core.organizations.setup_links import SetupLinkDead
from core.scim import setup
from core.scim.tokens import TooManyTokens
from core.secrets import Secret
from entrypoints.pages.declaring import setup_pages
from entrypoints.pages.organizations.setup import LIMITS, SetupForm, part_page, protected_cookie, setup_cookie
from entrypoints.pages.rendering import Page
from entrypoints.web.serving.browsers import FormRefused
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public

routes = setup_pages()

SCIM: Final = "/app/setup/parts/scim"


@routes.get(SCIM, refuses=(SetupLinkDead,))
@public
async def show_scim(call: Call) -> Page:
    """Show how the directory is connected, when it last called, and what failed."""
    return await _page(call)


@routes.post(SCIM, limits=LIMITS, refuses=(SetupLinkDead, FormRefused, TooManyTokens))
@public
async def create_token(call: Call, form: SetupForm) -> Page:
    """Create a token and show it once; members use `POST /api/organizations/:org_slug/scim-tokens`."""
    return await _page(call, await call.transact(setup.create_token, protected_cookie(call, form)))


async def _page(call: Call, token: Secret | None = None) -> Response:
    shown = await call.read(setup.show, setup_cookie(call))
    return await part_page(
        call,
        "setup_scim.html",
        shown.setup,
        shown=shown,
        token=token,
        scim_url=f"{call.installation.settings.base_url}/scim/v2",
    )
