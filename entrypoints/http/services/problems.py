"""The problems of a client: recent requests in the name of a service that were refused."""

import msgspec

from core.organizations.access import Operation
from core.services import problems
from core.services.problems import ClientProblem
from core.services.services import ServiceUnknown
from entrypoints.web.serving.admission.credentials import on_service
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("services", "Why requests in the name of a service were refused.")


class ClientProblemList(msgspec.Struct, kw_only=True):
    """The requests that were refused, the newest first, and their number."""

    problems: list[ClientProblem]
    total: int


@routes.get("/api/organizations/:org_slug/services/:service_slug/problems", refuses=(ServiceUnknown,))
@on_service(Operation.SERVICE_PROBLEMS_READ, or_support=True)
async def list_problems(call: Call, org_slug: str, service_slug: str) -> ClientProblemList:
    """List the requests in the name of a service that were refused in the last 30 days, the newest first.

    There is one for each kind, network and minute, and the last 20 of each kind are kept, of each network the newest
    longest. Of what a request has sent, all that could be a secret or name a person is left out and shown as `…`.
    """
    found = list(await call.read(problems.show, org_slug, service_slug))
    return ClientProblemList(problems=found, total=len(found))
