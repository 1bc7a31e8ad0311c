"""The state of the installation, for platform owners: schema, signing keys, queues, and the people who look after it.

Each part is read separately and changes nothing. The page adds what the process itself knows: its actors, its
connections, the settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from core.billing.provider import BillingMode
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations.access import authorize_platform
from core.platform import late_work
from core.platform.health_figures import PlatformFigures
from core.platform.housekeeping import Leftover
from core.platform.late_work import LateWork, WaitingWork
from core.platform.log_months import Log
from core.sessions.signature_algorithms import SignatureAlgorithm
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
