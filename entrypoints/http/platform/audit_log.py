"""Reading the platform's audit log."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from core.audit.audit_log import AuditLogPage
from core.platform import audit_log
from core.platform.audit_log import PlatformAuditLogEntry, PlatformAuditLogFilter
from entrypoints.web.input.decoding import Paged
from entrypoints.web.serving.admission.credentials import platform_owner
from entrypoints.web.serving.answering.bodies import Input, Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "platform audit log",
    "What platform owners did. It also covers deleted organizations, whose own logs were deleted with them.",
)


class PlatformAuditLogEntryRecord(Record, of=PlatformAuditLogEntry):
    """An entry of the platform's audit log; `org_id` is the organization concerned, if there is one."""


class PlatformAuditLogPageRecord(Record, of=AuditLogPage):
    """A page of entries, newest first.

    `looked_back_to` and `looked_back_to_id` are there only where a search did not look at all entries.
    """

    logs: list[PlatformAuditLogEntryRecord]
    looked_back_to: datetime | msgspec.UnsetType = msgspec.UNSET
    looked_back_to_id: UUID | msgspec.UnsetType = msgspec.UNSET


class PlatformEntries(Paged, Input, of=PlatformAuditLogFilter):
    """Filters: an action, a type of target, or one target; `target_id` requires `target_type`.

    `actor`, `since`, `until`, `q` and `before_id` can be added to them.
    """

    since: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    until: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


@routes.get("/api/platform/audit-log")
@platform_owner
async def read_platform_audit_log(call: Call, query: PlatformEntries) -> PlatformAuditLogPageRecord:
    """List the entries, newest first; an actor whose account was deleted is shown by id only.

    With `actor`, `since`, `until`, `q` or `before_id`, a page searches 10,000 entries at most, with several filters
    3,000: if there are more, `looked_back_to` says how far it came, and `before_id` with `looked_back_to_id` continues
    there.
    """
    wanted = query.to(PlatformAuditLogFilter)
    page = await call.read(audit_log.read_page, wanted, page=query.page, limit=query.limit)
    return PlatformAuditLogPageRecord.of(
        page,
        logs=[PlatformAuditLogEntryRecord.of(entry) for entry in page.logs],
        looked_back_to=page.looked_back_to or msgspec.UNSET,
        looked_back_to_id=page.looked_back_to_id or msgspec.UNSET,
    )
