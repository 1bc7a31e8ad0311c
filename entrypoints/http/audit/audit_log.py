"""Reading an organization's audit log, and the vocabulary of its actions."""

from core.audit import audit_log
from core.audit.audit_log import AuditLogFilter, AuditLogPage
from core.events.actions import AuditAction, TargetType
from core.events.events import EventTypeItem
from core.organizations.access import Operation
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_organization
from entrypoints.web.decoding import Paged
from entrypoints.web.routes import Routes

routes = Routes(
    "audit log",
    "What was changed in an organization, by whom and from where. An entry is written in the transaction of the change,"
    " so neither exists without the other, and entries are never deleted.",
)


class Entries(Paged, kw_only=True):
    """Filters: an action, a type of target, or one target; `target_id` requires `target_type`."""

    action: AuditAction | None = None
    target_type: TargetType | None = None
    target_id: str | None = None


@routes.get("/api/organizations/:org_slug/audit-log")
@in_organization(Operation.AUDIT_LOG_READ)
async def read_audit_log(call: Call, org_slug: str, query: Entries) -> AuditLogPage:
    """List the entries, newest first.

    The actor `system` is Gatehouse itself. An actor whose account was deleted is shown by id only.
    """
    wanted = AuditLogFilter(action=query.action, target_type=query.target_type, target_id=query.target_id)
    return await call.read(audit_log.read_page, org_slug, wanted, page=query.page, limit=query.limit)


@routes.get("/api/organizations/:org_slug/audit-log/event-types")
@in_organization(Operation.AUDIT_LOG_READ)
async def list_event_types(call: Call, org_slug: str) -> list[EventTypeItem]:
    """List every action that the log can contain, with a description for people."""
    return await call.read(audit_log.event_types, org_slug)
