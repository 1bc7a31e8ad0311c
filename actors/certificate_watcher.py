"""Warns of SAML certificates that end soon: a mail for each, once, and a gauge for operators.

`core/saml/certificates.py` defines what is soon and whom to tell. Every replica has a watcher; they share the work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from actors.periods import repeat
from core.saml import certificates

if TYPE_CHECKING:
    from ports.database import Database
    from ports.metrics import Metrics

PERIOD_SECONDS = 3600.0
# Each one locks its row until the batch commits.
BATCH_ROWS_MAX = 20

JOB_TYPE = "saml_certificates"

log = structlog.get_logger(__name__)


class CertificateWatcher:
    """An actor; a certificate that it has not warned of remains for the next period, so it needs no draining."""

    def __init__(self, *, database: Database, metrics: Metrics) -> None:
        self._database = database
        self._metrics = metrics

    async def run(self) -> None:
        """Watch every period, until cancelled."""
        await repeat(self._watch, period_seconds=PERIOD_SECONDS, job_type=JOB_TYPE, metrics=self._metrics)

    async def _watch(self) -> None:
        warned = 0
        batch = BATCH_ROWS_MAX
        while batch == BATCH_ROWS_MAX:
            batch = await self._database.transact(certificates.warn, BATCH_ROWS_MAX)
            warned += batch
        if warned:
            log.info("saml.certificates_ending", certificates=warned)
        self._metrics.saml_certificates_ending(await self._database.read(certificates.count_ending))
