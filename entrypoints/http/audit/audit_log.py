"""Reading an organization's audit log, its export with a proof, and the vocabulary of its actions."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated

import msgspec
from quart import Response

from core.audit import audit_log, chain
from core.audit.audit_log import AuditLogEntry, AuditLogFilter, AuditLogPage
from core.audit.chain import PROOF_LIFETIME, AuditLogProof, ChainEntry, ChainState
from core.events.events import EventTypeItem
from core.organizations.access import Operation
from core.sessions.tokens import TokenKind
from entrypoints.web.input.decoding import Paged
from entrypoints.web.serving.answers import Media, encode
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_organization
from entrypoints.web.serving.entities import Input, Record
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "audit log",
    "What was changed in an organization, by whom and from where. An entry is written in the transaction of the change,"
    " so neither exists without the other, and entries are never deleted. A few seconds later each entry is sealed into"
    " a chain of hashes, which shows every later change.",
)

JSON_LINES = "application/x-ndjson"


class AuditLogEntryRecord(Record, of=AuditLogEntry):
    """An entry of the audit log (operations 2.8)."""


class AuditLogPageRecord(Record, of=AuditLogPage):
    """A page of entries, newest first; `looked_back_to` is there only where a search did not look at all entries."""

    logs: list[AuditLogEntryRecord]
    looked_back_to: datetime | msgspec.UnsetType = msgspec.UNSET


class ExportedAuditEntry(Record, of=ChainEntry):
    """A sealed entry of the audit log, as a line of the export."""

    position: int
    digests: dict[str, str]
    salts: dict[str, str]
    previous_hash: str
    hash: str


class Entries(Paged, Input, of=AuditLogFilter):
    """Filters: an action, a type of target, or one target; `target_id` requires `target_type`.

    `actor`, `since`, `until` and `q` can be added to them.
    """

    since: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    until: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


@routes.get("/api/organizations/:org_slug/audit-log")
@in_organization(Operation.AUDIT_LOG_READ)
async def read_audit_log(call: Call, org_slug: str, query: Entries) -> AuditLogPageRecord:
    """List the entries, newest first.

    The actor `system` is Gatehouse itself, `setup_link:` with an id the holder of that setup link. An actor whose
    account was deleted is shown by id only. With `actor`, `since`, `until` or `q`, a page looks at 10,000 entries at
    most: if there are others, `looked_back_to` says from when on, and `until` with this time goes on there.
    """
    wanted = query.to(AuditLogFilter)
    page = await call.read(audit_log.read_page, org_slug, wanted, page=query.page, limit=query.limit)
    return AuditLogPageRecord.of(
        page,
        logs=[AuditLogEntryRecord.of(entry) for entry in page.logs],
        looked_back_to=page.looked_back_to or msgspec.UNSET,
    )


@routes.get("/api/organizations/:org_slug/audit-log/proof")
@in_organization(Operation.AUDIT_LOG_READ)
async def prove_audit_log(call: Call, org_slug: str) -> AuditLogProof:
    """Prove what the log contains now: `head` is a JWS that names the last sealed position and its hash.

    Keep proofs outside Gatehouse. `gatehouse audit verify --proof` shows later whether the log was rewritten since.
    """
    return _proof(call, await call.read(chain.state, org_slug))


@routes.get("/api/organizations/:org_slug/audit-log/export")
@in_organization(Operation.AUDIT_LOG_READ)
async def export_audit_log(
    call: Call, org_slug: str
) -> Annotated[Response, Media(JSON_LINES, lines=(ExportedAuditEntry, AuditLogProof))]:
    """Export the sealed entries in the order of their positions, one JSON object on each line.

    Each line has the hash of the entry and of the one before it, and the digests and salts of the personal fields. The
    last line is the proof of the log, which says how far the export reaches and how many entries are `pending`; without
    it the export is incomplete. `gatehouse audit verify --file` checks it.
    """
    state = await call.transact(chain.begin_export, org_slug)
    return Response(_lines(call, org_slug, state), content_type=JSON_LINES)


@routes.get("/api/organizations/:org_slug/audit-log/event-types")
@in_organization(Operation.AUDIT_LOG_READ)
async def list_event_types(call: Call, org_slug: str) -> list[EventTypeItem]:
    """List every action that the log can contain, with a description for people."""
    return await call.read(audit_log.event_types, org_slug)


async def _lines(call: Call, slug: str, state: ChainState) -> AsyncIterator[bytes]:
    """Yield the export, a page of entries at a time; no connection to the database is held between two pages."""
    position = 0
    # Each page is authorized anew, so an export ends with the session or the role.
    while page := await call.read(chain.export_page, slug, after=position, through=state.end.sealed_through):
        yield b"".join(chain.written(chain.line_of(sealed)) for sealed in page)
        position = page[-1].seal.position
    yield encode(_proof(call, state)) + b"\n"


def _proof(call: Call, state: ChainState) -> AuditLogProof:
    installation = call.installation
    return AuditLogProof(
        entries=state.entries,
        sealed_through=state.end.sealed_through,
        pending=state.pending,
        head=installation.tokens.sign(
            chain.head_claims(state, audience=installation.settings.base_url),
            kind=TokenKind.AUDIT_HEAD,
            lifetime=PROOF_LIFETIME,
            now=installation.clock(),
        ),
        sealed_at=state.end.sealed_at,
    )
