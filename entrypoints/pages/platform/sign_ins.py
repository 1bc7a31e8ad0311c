"""The page of the sign-ins of the whole platform: the list behind its plots."""

from typing import Final

from core.audit import sign_in_log
from core.audit.sign_in_log import FoundSignIns
from core.positions import Position
from entrypoints.pages.console_pages import PLATFORM, ROWS_SHOWN, Program, console_page, opened_for_platform
from entrypoints.pages.csv_files import ROWS_AT_ONCE, CsvFile
from entrypoints.pages.declaring import platform_pages
from entrypoints.pages.languages import language_of
from entrypoints.pages.rendering import Page
from entrypoints.pages.sign_in_lists import FoundSignInsQuery, sign_ins_file, sign_ins_values
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import platform_support_in_console
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()

SIGN_INS: Final = f"{PLATFORM}/sign-ins"


@routes.get(SIGN_INS)
@platform_support_in_console
async def show_sign_ins_of_platform(call: Call, query: FoundSignInsQuery) -> Page:
    """Show the sign-ins of all organizations and of none, by day, outcome, reason, method and network."""
    standing, found = await opened_for_platform(
        call, sign_in_log.listed_for_platform, query.asked, after=query.position, limit=ROWS_SHOWN
    )
    return console_page(
        call,
        "platform_sign_ins.html",
        standing,
        program=Program(path="/api/platform/users/search", query={"email": "ann@"}),
        v=sign_ins_values(language_of(call), query, found, page=SIGN_INS, people=f"{PLATFORM}/users"),
    )


@routes.get(f"{SIGN_INS}/sign-ins.csv")
@platform_support_in_console
async def download_sign_ins_of_platform(call: Call, query: FoundSignInsQuery) -> CsvFile:
    """Download the sign-ins that a search finds, at most 100,000, for a spreadsheet."""

    async def find(after: Position | None) -> FoundSignIns:
        # What support reads of one person is recorded.
        return await call.transact(sign_in_log.listed_for_platform, query.asked, after=after, limit=ROWS_AT_ONCE)

    return await sign_ins_file("platform-sign-ins", query, find)
