"""The port `Database` over its connections: to the primary, and to the replicas that the settings name."""

from __future__ import annotations

from functools import cache, partial

from adapters.crypto.pepper import HmacPepper
from adapters.crypto.totp import PyotpTotp
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.pool import Pool
from adapters.postgres.transaction import Tools
from core.secrets import Secret
from entrypoints import equipment, master_keys
from entrypoints.clocks import Time
from entrypoints.database import replicas_of
from entrypoints.equipment import Tracing
from entrypoints.settings import Settings
from ports.mailboxes import Mailboxes
from ports.metrics import Metrics


class Storage:
    """The database, with what its use cases need of the world."""

    def __init__(
        self,
        settings: Settings,
        address: Secret,
        *,
        time: Time,
        metrics: Metrics,
        mailboxes: Mailboxes,
        tracing: Tracing | None,
    ) -> None:
        connection = equipment.connection_of(tracing)
        vault, self.pepper = master_keys.vault(settings), HmacPepper()
        self._locations = equipment.locations(settings)
        self.pool = Pool(
            address.reveal(),
            connections_max=settings.database_connections,
            connection=connection,
            failed=metrics.connect_failed,
        )
        self.replicas = replicas_of(settings, metrics, connection=connection)
        self.database = PostgresDatabase(
            pool=self.pool,
            replicas=self.replicas,
            tools=Tools(
                clock=time.clock,
                randomness=time.randomness,
                vault=vault,
                pepper=self.pepper,
                domain_names=equipment.DOMAIN_NAMES,
                locations=self._locations,
                totp=PyotpTotp(issuer=settings.name),
                webauthn=cache(partial(equipment.webauthn, settings)),
                has_rate_limits=settings.rate_limits,
                is_settled=time.is_settled,
            ),
            mailboxes=mailboxes,
            cancelled=metrics.statement_cancelled,
        )

    def close(self) -> None:
        """Close all connections, and the file of locations."""
        self.pool.close()
        if self.replicas is not None:
            self.replicas.close()
        self._locations.close()
