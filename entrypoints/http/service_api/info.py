"""The service itself, for its backend."""

import msgspec

from core.service_api import info
from core.service_api.info import OwnPowers
from core.services.admission import AssignedService
from core.services.api_keys import Permission
from core.services.management import AudienceTaken
from entrypoints.http.services.services import ServiceChange, ServiceRecord
from entrypoints.shared.services.outside import outside
from entrypoints.web.serving.admission.credentials import service_key
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("service info", "The service itself, as its backend reads and changes it with an API key.")


@routes.get("/api/service/info")
@service_key(Permission.READ_SERVICE)
async def read_info(call: Call) -> ServiceRecord:
    """Show your service."""
    return ServiceRecord.of(AssignedService(service=await call.read(info.read)))


@routes.patch("/api/service/info", refuses=(AudienceTaken, OwnPowers))
@service_key(Permission.WRITE_SERVICE)
async def change_info(call: Call, body: ServiceChange) -> ServiceRecord:
    """Change your service. Lists are replaced, not merged.

    Its scopes, its claims and who may sign in are for members of the organization to change: a key of the service
    cannot.
    """
    given = body.given() | ({} if body.assignments is msgspec.UNSET else {"assignments": body.assignments})
    return ServiceRecord.of(AssignedService(service=await call.transact(info.change, given, outside=outside(call))))
