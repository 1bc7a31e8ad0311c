"""Reading the platform's audit log."""

from core.audit import platform_audit_log
from core.audit.platform_audit_log import PlatformAuditLogFilter, PlatformAuditLogPage
from core.events.actions import TargetType
from core.events.platform_actions import PlatformAction
from entrypoints.web.calls import Call
from entrypoints.web.credentials import platform_owner
from entrypoints.web.decoding import Paged
from entrypoints.web.routes import Routes

routes = Routes(
    "platform audit log",
    "What platform owners did. It also covers deleted organizations, whose own logs were deleted with them.",
)


class PlatformEntries(Paged, kw_only=True):
    """Filters: an action, a type of target, or one target; `target_id` requires `target_type`."""

    action: PlatformAction | None = None
    target_type: TargetType | None = None
    target_id: str | None = None


@routes.get("/api/platform/audit-log")
@platform_owner
async def read_platform_audit_log(call: Call, query: PlatformEntries) -> PlatformAuditLogPage:
    """List the entries, newest first; an actor whose account was deleted is shown by id only."""
    wanted = PlatformAuditLogFilter(action=query.action, target_type=query.target_type, target_id=query.target_id)
    return await call.read(platform_audit_log.read_page, wanted, page=query.page, limit=query.limit)
