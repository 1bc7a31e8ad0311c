"""The pages of an organization's audit log: finding entries, one entry, following the log, its proof and its export."""

from functools import partial
from typing import Annotated, Final, TypeAlias
from uuid import UUID

from quart import Response

from core.audit import browser, chain
from core.audit.browser import AuditEntryUnknown, TailsTaken
from core.audit.chain import AuditLogProof
from core.errors import BadRequest, Refusal
from core.organizations.access import Operation
from entrypoints.pages.audit.browser import COLUMNS, NEW_MAX, AuditQuery, Browser, file_rows, follow, for_programs
from entrypoints.pages.console.audit_entries import row_of, written
from entrypoints.pages.console.csv_files import ROWS_AT_ONCE, CsvFile, as_file, csv_file
from entrypoints.pages.console.frame import ROWS_SHOWN, Program, console_page, opened, page_of
from entrypoints.pages.events.actions import ACTIONS
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import console_pages, shows_itself_again
from entrypoints.shared.audit.exports import JSON_LINES, ExportedAuditEntry, export_lines, proof_of
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.answering.answers import Media
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

AUDIT: Final = "/app/organizations/:org_slug/audit"
ACTION_CHOICES: Final = tuple((action.value, text) for action, text in ACTIONS.items())
JsonLines: TypeAlias = Annotated[Response, Media(JSON_LINES, lines=(ExportedAuditEntry, AuditLogProof))]


@routes.get(AUDIT, refuses=(BadRequest,))
@in_console(Operation.AUDIT_LOG_READ)
@shows_itself_again(BadRequest)
async def show_audit_log(call: Call, org_slug: str, *, query: AuditQuery, refusal: Refusal | None = None) -> Page:
    """Show the audit log of an organization, the newest entries first, by who did what, where and when."""
    read = partial(browser.find, before_id=query.before_id, limit=ROWS_SHOWN)
    if refusal is None:
        standing, found = await opened(call, org_slug, Operation.AUDIT_LOG_READ, read, query.asked)
    else:
        standing, _ = await opened(call, org_slug, Operation.AUDIT_LOG_READ, browser.log_of)
        found = None
    return console_page(
        call,
        "audit/audit_log.html",
        standing,
        program=Program("audit_log_read_audit_log", org_slug, query=for_programs(query)),
        refusal=refusal,
        **_browser(org_slug).values(
            query,
            found,
            position=found.chain.end.sealed_through if found is not None and found.chain is not None else 0,
            actions=ACTION_CHOICES,
            refusal=refusal,
        ),
    )


@routes.get(f"{AUDIT}/feed", refuses=(TailsTaken, BadRequest))
@in_console(Operation.AUDIT_LOG_READ)
async def follow_audit_log(call: Call, org_slug: str, query: AuditQuery) -> Page:
    """Return the entries after a position as rows of the page; wait for the first of them, at most 20 seconds.

    20 people can wait for an organization at a time.
    """
    after = query.number

    async def read() -> browser.NewEntries:
        nonlocal after
        new = await call.read(browser.newest, org_slug, query.asked, after=after, limit=NEW_MAX)
        after = new.position
        return new

    log = await call.read(browser.log_of, org_slug)
    new = await follow(call, log, read, is_news=lambda new: bool(new.entries), waits=query.waits)
    return _browser(org_slug).feed(call, query, new)


@routes.get(f"{AUDIT}/entries.csv", refuses=(BadRequest,))
@in_console(Operation.AUDIT_LOG_READ)
async def download_entries(call: Call, org_slug: str, query: AuditQuery) -> CsvFile:
    """Download the entries that a search finds, at most 100,000, for a spreadsheet; the download is recorded."""

    async def read(before_id: UUID) -> browser.BrowsedEntries:
        return await call.read(browser.listed, org_slug, query.asked, before_id=before_id, limit=ROWS_AT_ONCE)

    await call.transact(browser.begin_file, org_slug)
    first = await read(query.before_id)
    return csv_file(f"{org_slug}-audit-log", COLUMNS, file_rows(read, first, is_platform=False))


@routes.get(f"{AUDIT}/export.jsonl")
@in_console(Operation.AUDIT_LOG_READ)
async def download_export(call: Call, org_slug: str) -> JsonLines:
    """Download the sealed entries with their hashes and the proof; programs use `GET …/audit-log/export`."""
    state = await call.transact(chain.begin_export, org_slug)
    call.headers |= as_file(f"{org_slug}-audit-log.jsonl")
    return Response(export_lines(call, org_slug, state), content_type=JSON_LINES)


@routes.get(f"{AUDIT}/proof.json")
@in_console(Operation.AUDIT_LOG_READ)
async def download_proof(call: Call, org_slug: str) -> AuditLogProof:
    """Download the proof of the log, to be kept elsewhere; programs use `GET …/audit-log/proof`."""
    proof = proof_of(call, await call.read(chain.state, org_slug))
    call.headers |= as_file(f"{org_slug}-audit-log-proof.json")
    return proof


@routes.get(f"{AUDIT}/:entry_id", refuses=(AuditEntryUnknown,))
@in_console(Operation.AUDIT_LOG_READ)
async def show_entry(call: Call, org_slug: str, entry_id: UUID) -> Page:
    """Show an entry of the audit log: what was changed, and whether it fits its seal."""
    standing, shown = await opened(call, org_slug, Operation.AUDIT_LOG_READ, browser.show, entry_id)
    entry = shown.entry
    return console_page(
        call,
        "audit/audit_log_entry.html",
        standing,
        program=Program(
            "audit_log_read_audit_log",
            org_slug,
            query={"target_type": entry.target_type, "target_id": entry.target_id, "action": entry.action},
        ),
        browser_page=_browser(org_slug).page,
        is_platform=False,
        row=row_of(entry, shown.names, is_platform=False),
        fits_seal=shown.fits_seal,
        source=written(entry),
    )


def _browser(slug: str) -> Browser:
    return Browser(page=f"{page_of(slug)}/audit", is_platform=False)
