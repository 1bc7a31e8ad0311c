"""The state of the installation, for platform owners: schema, signing keys, queues, and who looks after it.

It is read in one transaction and changes nothing. What the process itself knows (its actors, its connections, the
settings) is added by the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from core.billing.provider import BillingMode
from core.lazy_dataclasses import dataclass
from core.organizations.access import authorize_platform
from core.platform import late_work
from core.platform.health_figures import PlatformFigures
from core.platform.housekeeping import Leftover
from core.platform.late_work import LateWork
from core.platform.log_months import Log
from core.sessions.signing_keys import KeyState, SignatureAlgorithm

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaState:
    """The migrations of the database, compared with those that this version knows.

    `newest` is the last one that was applied, and `ahead` how many this version does not know.
    """

    newest: str
    applied_at: datetime
    pending: int
    ahead: int
    server_version: str
    database_time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedKey:
    """A signing key, without its halves; a retired one is published until a time."""

    kid: str
    algorithm: SignatureAlgorithm
    state: KeyState
    created_at: datetime
    published_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemState:
    """Everything of it; `figures` is None when nothing was counted yet."""

    schema: SchemaState
    keys: Sequence[PublishedKey]
    late: LateWork
    figures: PlatformFigures | None
    owners: int
    owners_without_factor: int


def read(
    uow: UnitOfWork, mode: BillingMode, kept_for: Mapping[Leftover, timedelta], logs_kept_for: Mapping[Log, timedelta]
) -> SystemState:
    """Return the state of the installation, as a platform owner."""
    authorize_platform(uow)
    present = [owner for owner in uow.platform_owners.all() if owner.is_active]
    return SystemState(
        schema=uow.system.schema(),
        keys=uow.system.keys(),
        late=late_work.read(uow, mode, kept_for, logs_kept_for),
        figures=uow.figures.platform(),
        owners=len(present),
        owners_without_factor=sum(not owner.mfa_enabled for owner in present),
    )
