"""The loop of periodic actors: the same work every period, even after a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import structlog
import trio

from core.errors import ServiceUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ports.metrics import Metrics

log = structlog.get_logger(__name__)


async def repeat(
    work: Callable[[], Awaitable[None]], *, period_seconds: float, job_type: str, metrics: Metrics
) -> NoReturn:
    """Run the work every period, until cancelled; work that fails without the database is retried in the next."""
    while True:
        began_at = trio.current_time()
        try:
            await work()
        except ServiceUnavailable as away:
            log.info("job.postponed", job=job_type, reason=away.message, retry_seconds=period_seconds)
        metrics.job_finished(job_type, trio.current_time() - began_at)
        await trio.sleep(period_seconds)
