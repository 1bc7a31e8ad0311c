"""The page of one's own data: downloading them, and the way to closing the account."""

from typing import Annotated, Final

from core.errors import Forbidden
from core.privacy import export as privacy_export
from entrypoints.pages.console.account import ACCOUNT, account_page
from entrypoints.pages.console.csv_files import JsonFile, json_file
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import account_pages
from entrypoints.web.serving.admission.browsers import recent
from entrypoints.web.serving.admission.credentials import in_browser
from entrypoints.web.serving.answering.answers import AnswerStatus
from entrypoints.web.serving.calls import Call

routes = account_pages()

DATA: Final = f"{ACCOUNT}/data"


@routes.get(DATA)
@in_browser
async def show_data(call: Call, query: DoneQuery) -> Page:
    """Show what can be done with your data."""
    return account_page(call, "privacy/export.html", done=query.done)


@routes.post(f"{DATA}/download", refuses=(Forbidden,))
@in_browser
async def download_data(call: Call) -> JsonFile | Annotated[None, AnswerStatus(303)]:
    """Download your data as a JSON file; programs use `GET /api/privacy/export/:user_id`."""
    await recent(call, page=DATA)
    package = await call.transact(privacy_export.export, call.in_browser.user_id)
    return json_file("gatehouse-data.json", package)
