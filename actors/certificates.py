"""Reads the metadata of identity providers again, and warns of SAML certificates and metadata that end soon.

New certificates count before a sign-in needs them: `core/sign_in/upstream/connections/changes.py` says what is taken
over, and mails the owner. Changes that would end links are left to the sign-in that finds them, and to the people who
configure the connection. Of each that ends, one mail warns: `core/saml/certificates.py`, and `connection_keys.py` and
`metadata_validity.py` beside the changes, define how soon, and who gets it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Unpack

import structlog
import trio

from actors.periods import PeriodicActor, PeriodicConnections
from core.saml import certificates
from core.sign_in.upstream.connections import changes, connection_keys, metadata_validity
from core.sign_in.upstream.connections.changes import PublishedMetadata
from core.sign_in.upstream.provider_answers import UpstreamFailed

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from uuid import UUID

    from ports.sign_in.upstream.gateway import SamlConnectionGateway

# Each one locks its row until the batch commits.
BATCH_ROWS_MAX = 20
METADATA_AT_ONCE_MAX: Final = 8

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


class MetadataReader(PeriodicActor):
    """An actor; metadata that cannot be read are read in the next period, so it needs no draining."""

    job_type = "connection_metadata"
    period_seconds = 1800.0
    in_turn = True

    def __init__(
        self,
        *,
        identity_providers: SamlConnectionGateway,
        clock: Callable[[], datetime],
        **connections: Unpack[PeriodicConnections],
    ) -> None:
        super().__init__(**connections)
        self._identity_providers = identity_providers
        self._clock = clock

    async def work(self) -> None:
        after: UUID | None = None
        while found := await self._database.read(changes.published_metadata, after, METADATA_AT_ONCE_MAX):
            async with trio.open_nursery() as nursery:
                for one in found:
                    nursery.start_soon(self._read, one)
            after = found[-1].connection_id

    async def _read(self, one: PublishedMetadata) -> None:
        try:
            described = await self._identity_providers.describe(one.organization_id, one.metadata, is_fresh=True)
        except UpstreamFailed:
            # It is logged, and may be away for a while.
            return
        named = one.names(described.certificates)
        if named is None or described.is_expired(self._clock()):
            return
        is_taken = await self._database.transact(changes.take_published, one.organization_id, one.connection_id, named)
        log.info(
            "connection.certificates_read",
            organization_id=str(one.organization_id),
            connection_id=str(one.connection_id),
            taken=is_taken,
        )
