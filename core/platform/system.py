"""The state of the installation, for platform owners: schema, signing keys, queues, and the people who look after it.

Each part is read separately and changes nothing. The page adds what the process itself knows: its actors, its
connections, the settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from core.billing.provider import BillingMode
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations.authorization import authorize_platform
from core.platform import late_work
from core.platform.health_figures import PlatformFigures
from core.platform.housekeeping import Leftover
from core.platform.late_work import LateWork, WaitingWork
from core.platform.log_months import Log
from core.sessions.security_profiles import SignatureAlgorithm
from core.sessions.signing_keys import KeyState

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaState:
    """The migrations of the database, compared with those that this version knows.

    `newest` is the last applied migration, and `ahead` how many this version does not know.
    """

    newest: str
    applied_at: datetime
    pending: int
    ahead: int
    server_version: str
    database_time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedKey:
    """A signing key without its key material; a retired one is published until a time."""

    kid: str
    algorithm: SignatureAlgorithm
    state: KeyState
    created_at: datetime
    published_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemChecks:
    """The data for the checks of the installation."""

    schema: SchemaState
    late: LateWork
    owners: int
    owners_without_factor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemQueues:
    """What waits; `figures` is None when nothing was counted yet."""

    work: WaitingWork
    figures: PlatformFigures | None


def read_checks(
    uow: UnitOfWork, mode: BillingMode, kept_for: Mapping[Leftover, timedelta], logs_kept_for: Mapping[Log, timedelta]
) -> SystemChecks:
    """Return the data for the checks, as a platform owner."""
    authorize_platform(uow)
    present = [owner for owner in uow.platform_owners.all() if owner.is_active]
    return SystemChecks(
        schema=uow.system.schema(),
        late=late_work.read(uow, mode, kept_for, logs_kept_for),
        owners=len(present),
        owners_without_factor=sum(not owner.mfa_enabled for owner in present),
    )


def read_queues(uow: UnitOfWork) -> SystemQueues:
    """Return what waits, as a platform owner."""
    authorize_platform(uow)
    return SystemQueues(work=uow.system.work(COUNTED_MAX + 1), figures=uow.figures.platform())


def read_schema(uow: UnitOfWork) -> SchemaState:
    """Return the state of the database, as a platform owner."""
    authorize_platform(uow)
    return uow.system.schema()


def read_keys(uow: UnitOfWork) -> Sequence[PublishedKey]:
    """Return the signing keys, as a platform owner."""
    authorize_platform(uow)
    return uow.system.keys()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNode:
    """A node that may hold parts of the logs; its bytes count its whole database, 0 while it is down."""

    name: str
    is_up: bool
    shards: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The nodes beside the coordinator, and the logs on the coordinator itself."""

    nodes: Sequence[ClusterNode]
    local_logs: Sequence[str]

    @property
    def down(self) -> Sequence[str]:
        """The names of nodes that do not answer."""
        return [node.name for node in self.nodes if not node.is_up]

    @property
    def empty(self) -> Sequence[str]:
        """The names of the nodes that hold nothing yet, although others do."""
        has_shards = any(node.shards for node in self.nodes)
        return [node.name for node in self.nodes if has_shards and not node.shards]

    @property
    def bytes(self) -> int:
        """The sum of the nodes' bytes."""
        return sum(node.bytes for node in self.nodes)

    @property
    def skew(self) -> float:
        """The size of the fullest node as a multiple of an even share; 1 for an empty cluster."""
        up = [node.bytes for node in self.nodes if node.is_up]
        return max(up) * len(up) / sum(up) if sum(up) else 1.0


def measure(uow: UnitOfWork) -> Cluster | None:
    """Return the state of the cluster; None where the database is one server."""
    return uow.clusters.measure()


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimaryPlace:
    """The PostgreSQL system and database of the primary, and its position in the log of changes."""

    system_identifier: int
    database: str
    position: str


def primary_place(uow: UnitOfWork) -> PrimaryPlace:
    """Return the present position of the primary."""
    return uow.primary.place()


# For a smaller table a wrong guess costs little.
TABLE_BYTES_MIN: Final = 1024**2


def missing(uow: UnitOfWork) -> Sequence[str]:
    """Return the tables and partitions without statistics, the largest first."""
    return uow.system.tables_without_statistics(TABLE_BYTES_MIN)
