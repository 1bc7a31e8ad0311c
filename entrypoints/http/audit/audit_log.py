"""Reading an organization's audit log, its export with a proof, and the vocabulary of its actions."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec
from quart import Response

from core.audit import audit_log, chain
from core.audit.audit_log import AuditLogEntry, AuditLogFilter, AuditLogPage
from core.audit.chain import AuditLogProof
from core.events.events import EventTypeItem
from core.organizations.access import Operation
from entrypoints.shared.audit.exports import JSON_LINES, ExportedAuditEntry, export_lines, proof_of
from entrypoints.web.input.decoding import Paged
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.answering.answers import Media
from entrypoints.web.serving.answering.bodies import Input, Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "audit log",
    "What was changed in an organization, who did it and from where. An entry is written in the transaction of the"
    " change, so neither exists without the other, and entries are never deleted. A few seconds later each entry is"
    " sealed into a chain of hashes, which shows every later change.",
)


class AuditLogEntryRecord(Record, of=AuditLogEntry):
    """An entry of the audit log."""


class AuditLogPageRecord(Record, of=AuditLogPage):
    """A page of entries, newest first.

    `looked_back_to` and `looked_back_to_id` are there only where a search did not look at all entries.
    """

    logs: list[AuditLogEntryRecord]
    looked_back_to: datetime | msgspec.UnsetType = msgspec.UNSET
    looked_back_to_id: UUID | msgspec.UnsetType = msgspec.UNSET


class Entries(Paged, Input, of=AuditLogFilter):
    """Filters: an action, a type of target, or one target; `target_id` requires `target_type`.

    `actor`, `since`, `until`, `q` and `before_id` can be added to them.
    """

    since: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    until: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


@routes.get("/api/organizations/:org_slug/audit-log")
@in_organization(Operation.AUDIT_LOG_READ)
async def read_audit_log(call: Call, org_slug: str, query: Entries) -> AuditLogPageRecord:
    """List the entries, newest first.

    The actor `system` is Gatehouse itself, `setup_link:` with an id the holder of that setup link. An actor whose
    account was deleted is shown by id only. With `actor`, `since`, `until`, `q` or `before_id`, a page searches 10,000
    entries at most, with several filters 3,000: if there are more, `looked_back_to` says how far it came, and
    `before_id` with `looked_back_to_id` continues there.
    """
    wanted = query.to(AuditLogFilter)
    page = await call.read(audit_log.read_page, org_slug, wanted, page=query.page, limit=query.limit)
    return AuditLogPageRecord.of(
        page,
        logs=[AuditLogEntryRecord.of(entry) for entry in page.logs],
        looked_back_to=page.looked_back_to or msgspec.UNSET,
        looked_back_to_id=page.looked_back_to_id or msgspec.UNSET,
    )


@routes.get("/api/organizations/:org_slug/audit-log/proof")
@in_organization(Operation.AUDIT_LOG_READ)
async def prove_audit_log(call: Call, org_slug: str) -> AuditLogProof:
    """Prove what the log contains now: `head` is a JWS that names the last sealed position and its hash.

    Keep proofs outside Gatehouse. `gatehouse audit verify --proof` shows later whether the log was rewritten since.
    """
    return proof_of(call, await call.read(chain.state, org_slug))


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
    return Response(export_lines(call, org_slug, state), content_type=JSON_LINES)


@routes.get("/api/organizations/:org_slug/audit-log/event-types")
@in_organization(Operation.AUDIT_LOG_READ)
async def list_event_types(call: Call, org_slug: str) -> list[EventTypeItem]:
    """List every action that the log can contain, with a description for people."""
    return await call.read(audit_log.event_types, org_slug)
