"""Warns of SAML certificates and metadata that end soon: a mail for each, once.

`core/saml/certificates.py`, `core/sign_in/upstream/connections/connection_keys.py` and `metadata_validity.py` beside it
define how soon, and who gets the mail. The process that polls does it.
"""

from __future__ import annotations

import structlog

from actors.periods import PeriodicActor
from core.saml import certificates
from core.sign_in.upstream.connections import connection_keys, metadata_validity

# Each one locks its row until the batch commits.
BATCH_ROWS_MAX = 20

log = structlog.get_logger(__name__)


class CertificateWatcher(PeriodicActor):
    """An actor; a certificate that it has not warned of remains for the next period, so it needs no draining."""

    job_type = "saml_certificates"
    period_seconds = 3600.0
    in_turn = True

    async def work(self) -> None:
        warned = await self._in_batches(certificates.warn, BATCH_ROWS_MAX, full=BATCH_ROWS_MAX)
        if warned:
            log.info("saml.certificates_ending", certificates=warned)
        of_connections = await self._in_batches(connection_keys.warn, BATCH_ROWS_MAX, full=BATCH_ROWS_MAX)
        metadata = await self._in_batches(metadata_validity.warn, BATCH_ROWS_MAX, full=BATCH_ROWS_MAX)
        if of_connections or metadata:
            log.info("connections.ending", keys=of_connections, metadata=metadata)
