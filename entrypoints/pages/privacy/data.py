"""The page of one's own data: downloading them, and the way to closing the account."""

from typing import Annotated, Final, TypeAlias

from quart import Response

from core.errors import Forbidden
from core.privacy import export as privacy_export
from entrypoints.pages.account_pages import ACCOUNT, Outcome, account_page
from entrypoints.pages.refusals import refusal_page
from entrypoints.pages.rendering import Page
from entrypoints.web.answers import JSON, Media, Status, encode
from entrypoints.web.browsers import recent
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_browser
from entrypoints.web.routes import Routes

routes = Routes("account pages", "Looking after your own account in a browser.", refusal_page)

DATA: Final = f"{ACCOUNT}/data"

Download: TypeAlias = Annotated[Response, Media(JSON)]


@routes.get(DATA)
@in_browser
async def show_data(call: Call, query: Outcome) -> Page:
    """Show what can be done with your data."""
    return account_page(call, "account_data.html", done=query.done)


@routes.post(f"{DATA}/download", refuses=(Forbidden,))
@in_browser
async def download_data(call: Call) -> Download | Annotated[None, Status(303)]:
    """Download your data as a JSON file; programs use `GET /api/privacy/export/:user_id`."""
    await recent(call, page=DATA)
    package = await call.transact(privacy_export.export, call.in_browser.user_id)
    response = Response(encode(package), content_type=JSON)
    response.headers["Content-Disposition"] = 'attachment; filename="gatehouse-data.json"'
    return response
