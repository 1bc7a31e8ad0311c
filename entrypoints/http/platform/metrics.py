"""The metrics for Prometheus; `ports/metrics.py` declares them."""

from typing import Annotated

import trio
from quart import Response

from entrypoints.web.answers import Media
from entrypoints.web.calls import Call
from entrypoints.web.credentials import public
from entrypoints.web.routes import Routes
from ports.metrics import EXPOSITION_CONTENT_TYPE

routes = Routes("metrics", "Figures for monitoring. Not rate limited.")


@routes.get("/metrics", is_operational=True)
@public
async def metrics(call: Call) -> Annotated[Response, Media(EXPOSITION_CONTENT_TYPE)]:
    """Return all metrics in the text format of Prometheus."""
    exposition = await trio.to_thread.run_sync(call.installation.metrics.exposition)
    return Response(exposition, content_type=EXPOSITION_CONTENT_TYPE)
