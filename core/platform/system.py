"""The state of the installation, for platform owners: schema, signing keys, queues, and who looks after it.

It is read in one transaction and changes nothing. What the process itself knows (its actors, its connections, the
settings) is added by the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations.access import authorize_platform
from core.platform.health_figures import PlatformFigures
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
class WaitingWork:
    """What waits to be handed on, sent or received, counted no further than 10,001; times are of the oldest.

    A SIEM lags by the sealed entries of an audit log that it has not received.
    """

    mails: int
    oldest_mail_at: datetime | None
    failed_mails: int
    events: int
    oldest_event_at: datetime | None
    deliveries: int
    lagging_siems: int
    siem_lag_max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemState:
    """Everything of it; `figures` is None when nothing was counted yet."""

    schema: SchemaState
    keys: Sequence[PublishedKey]
    work: WaitingWork
    figures: PlatformFigures | None
    owners: int
    owners_without_factor: int


def read(uow: UnitOfWork) -> SystemState:
    """Return the state of the installation, as a platform owner."""
    authorize_platform(uow)
    present = [owner for owner in uow.platform_owners.all() if owner.is_active]
    return SystemState(
        schema=uow.system.schema(),
        keys=uow.system.keys(),
        work=uow.system.work(COUNTED_MAX + 1),
        figures=uow.figures.platform(),
        owners=len(present),
        owners_without_factor=sum(not owner.mfa_enabled for owner in present),
    )
