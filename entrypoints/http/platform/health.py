"""Health checks for people, process supervisors and load balancers."""

from typing import Annotated, Final, Literal

import msgspec

from core.errors import DatabaseFailed, ServiceUnavailable
from core.platform import health_figures
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.answering.answers import AnswerStatus
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes
from ports.actors import BackgroundTaskState

# Everyone may read these, so the reason itself, which may name hosts and users, is only in the log.
DATABASE_PROBLEM: Final = (
    "The database cannot be reached, or takes no writes. The log has the reason, in events that begin with `database.`."
)
STOPPING_PROBLEM: Final = "The server is stopping. Send requests to another one."

routes = Routes("health", "Whether the service runs and can process requests. Not rate limited.")


class Health(msgspec.Struct, kw_only=True, frozen=True):
    """The service runs."""

    status: Literal["healthy"]
    version: str


class Readiness(msgspec.Struct, kw_only=True, frozen=True):
    """Whether the service can process requests, the problem if it cannot, and the state of its background tasks."""

    status: Literal["ready", "unhealthy"]
    version: str
    database: Literal["connected", "disconnected"]
    problem: str | None
    actors: dict[str, BackgroundTaskState]


@routes.get("/health", is_operational=True)
@public
async def health(call: Call) -> Health:
    """Show that the service runs, and its version."""
    return Health(status="healthy", version=call.installation.version)


@routes.get("/health/live", is_operational=True)
@public
async def live(call: Call) -> None:
    """Show that the process responds; restart a process that does not."""


@routes.get("/health/ready", is_operational=True)
@public
async def ready(call: Call) -> Readiness | Annotated[Readiness, AnswerStatus(503)]:
    """Show whether requests can be sent here: the database takes writes, and the service is not stopping."""
    is_ending = call.installation.stopping.is_set() and not call.installation.succeeded.is_set()
    problem = STOPPING_PROBLEM if is_ending else None
    is_connected = True
    try:
        await call.read(health_figures.probe)
    except (health_figures.SchemaTooNew, health_figures.WritesFailing) as refusal:
        problem = str(refusal)
    except (ServiceUnavailable, DatabaseFailed):
        # The reason is logged already; the refusal itself is the result of this check.
        is_connected = False
        problem = DATABASE_PROBLEM
    if problem is not None:
        call.status = 503
    return Readiness(
        status="ready" if problem is None else "unhealthy",
        version=call.installation.version,
        database="connected" if is_connected else "disconnected",
        problem=problem,
        actors={report.name: report.state for report in call.installation.actors.reports()},
    )
