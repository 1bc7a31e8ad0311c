"""The pages of the platform's audit log: finding entries, one entry, and following the log."""

from typing import Final
from uuid import UUID

from core.audit import browser
from core.audit.browser import PLATFORM_LOG, AuditEntryUnknown, BrowsedEntries, NewEntries, TailsTaken
from core.errors import BadRequest, Refusal
from entrypoints.pages.audit.browser import COLUMNS, NEW_MAX, AuditQuery, Browser, file_rows, follow, for_programs
from entrypoints.pages.console.audit_entries import row_of, written
from entrypoints.pages.console.csv_files import ROWS_AT_ONCE, CsvFile, csv_file
from entrypoints.pages.console.frame import PLATFORM, ROWS_SHOWN, Program, console_page, opened_for_platform
from entrypoints.pages.events.actions import PLATFORM_ACTIONS
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import platform_pages, shows_itself_again
from entrypoints.web.serving.admission.credentials import platform_owner_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()

AUDIT: Final = f"{PLATFORM}/audit"
ACTION_CHOICES: Final = tuple((action.value, text) for action, text in PLATFORM_ACTIONS.items())
_BROWSER: Final = Browser(page=AUDIT, is_platform=True)


@routes.get(AUDIT, refuses=(BadRequest,))
@platform_owner_in_console
@shows_itself_again(BadRequest)
async def show_platform_audit_log(call: Call, *, query: AuditQuery, refusal: Refusal | None = None) -> Page:
    """Show the audit log of the platform, the newest entries first, by who did what, where and when."""
    found: BrowsedEntries | None = None
    if refusal is None:
        standing, found = await opened_for_platform(
            call, browser.find, None, query.asked, before_id=query.before_id, limit=ROWS_SHOWN
        )
    else:
        standing, _ = await opened_for_platform(call, browser.position_of_platform)
    return console_page(
        call,
        "platform/audit_log.html",
        standing,
        program=Program("platform_audit_log_read_platform_audit_log", query=for_programs(query)),
        refusal=refusal,
        **_BROWSER.values(
            query,
            found,
            position=await call.read(browser.position_of_platform),
            actions=ACTION_CHOICES,
            refusal=refusal,
        ),
    )


@routes.get(f"{AUDIT}/feed", refuses=(TailsTaken, BadRequest))
@platform_owner_in_console
async def follow_platform_audit_log(call: Call, query: AuditQuery) -> Page:
    """Return the entries since a moment before a position as rows of the page; wait for one, at most 20 seconds."""

    async def read() -> NewEntries:
        return await call.read(browser.newest_of_platform, query.asked, after=query.number, limit=NEW_MAX)

    await call.read(browser.position_of_platform)
    new = await follow(call, PLATFORM_LOG, read, is_news=lambda new: new.position != query.number, waits=query.waits)
    return _BROWSER.feed(call, query, new)


@routes.get(f"{AUDIT}/entries.csv", refuses=(BadRequest,))
@platform_owner_in_console
async def download_platform_entries(call: Call, query: AuditQuery) -> CsvFile:
    """Download the entries that a search finds, at most 100,000, for a spreadsheet."""

    async def read(before_id: UUID) -> BrowsedEntries:
        return await call.read(browser.listed, None, query.asked, before_id=before_id, limit=ROWS_AT_ONCE)

    first = await read(query.before_id)
    return csv_file("platform-audit-log", COLUMNS, file_rows(read, first, is_platform=True))


@routes.get(f"{AUDIT}/:entry_id", refuses=(AuditEntryUnknown,))
@platform_owner_in_console
async def show_platform_entry(call: Call, entry_id: UUID) -> Page:
    """Show an entry of the platform's audit log with its details."""
    standing, shown = await opened_for_platform(call, browser.show, None, entry_id)
    entry = shown.entry
    return console_page(
        call,
        "platform/audit_log_entry.html",
        standing,
        program=Program(
            "platform_audit_log_read_platform_audit_log",
            query={"target_type": entry.target_type, "target_id": entry.target_id},
        ),
        browser_page=AUDIT,
        is_platform=True,
        row=row_of(entry, shown.names, is_platform=True),
        fits_seal=shown.fits_seal,
        source=written(entry),
    )
