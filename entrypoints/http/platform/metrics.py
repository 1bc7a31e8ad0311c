"""The metrics for Prometheus; `ports/metrics.py` declares them."""

from typing import Annotated, Final

import trio
from quart import Response

from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.answering.answers import Media
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes
from ports.metrics import EXPOSITION_CONTENT_TYPE

# Of its own, so that a scrape waits for no other work.
THREADS: Final = trio.CapacityLimiter(2)

routes = Routes("metrics", "Figures for monitoring. Not rate limited.")


@routes.get("/metrics", is_operational=True)
@public
async def metrics(call: Call) -> Annotated[Response, Media(EXPOSITION_CONTENT_TYPE)]:
    """Return all metrics in the text format of Prometheus."""
    exposition = await trio.to_thread.run_sync(call.installation.metrics.exposition, limiter=THREADS)
    return Response(exposition, content_type=EXPOSITION_CONTENT_TYPE)
