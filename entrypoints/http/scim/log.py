"""The provisioning log of an organization, for its IT staff."""

import msgspec

from core.organizations.access import Operation
from core.scim import log
from core.scim.log import ProvisioningLogEntry
from entrypoints.web.input.decoding import Paged
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "provisioning log",
    "What the directory of an organization changed by SCIM, and what was refused, with the error as it was answered."
    " Entries are kept for 30 days.",
)


class ProvisioningLog(msgspec.Struct, kw_only=True):
    """A page of the log, and the number of all entries."""

    entries: list[ProvisioningLogEntry]
    total: int


@routes.get("/api/organizations/:slug/scim-log")
@in_organization(Operation.SCIM_LOG_READ)
async def read_log(call: Call, slug: str, query: Paged) -> ProvisioningLog:
    """List what the directory did, the newest first."""
    page = await call.read(log.list_page, slug, page=query.page, limit=query.limit)
    return ProvisioningLog(entries=list(page.entries), total=page.total)
