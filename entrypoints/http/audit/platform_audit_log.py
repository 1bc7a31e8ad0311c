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
    "What platform owners did. It still names organizations that are deleted, whose own logs are gone with them.",
)


class PlatformEntries(Paged, kw_only=True):
    """Which entries: of an action, of a type of target, of one target; a `target_id` needs its `target_type`."""

    action: PlatformAction | None = None
    target_type: TargetType | None = None
    target_id: str | None = None


@routes.get("/api/platform/audit-log")
@platform_owner
async def read_platform_audit_log(call: Call, query: PlatformEntries) -> PlatformAuditLogPage:
    """List the entries, newest first; of an actor whose account was deleted only the id is left."""
    wanted = PlatformAuditLogFilter(action=query.action, target_type=query.target_type, target_id=query.target_id)
    return await call.read(platform_audit_log.read_page, wanted, page=query.page, limit=query.limit)
