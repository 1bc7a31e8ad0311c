"""Figures about the whole platform for operators: one process counts them, all processes show them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from core import key_certificates
from core.errors import ServiceUnavailable
from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class SchemaTooNew(ServiceUnavailable):
    """A newer Gatehouse has migrated the database, and this version does not work with the result."""

    default_message = (
        "A newer Gatehouse has migrated the database, and this version does not work with its schema. Stop this"
        " process, and start the newer version."
    )


class WritesFailing(ServiceUnavailable):
    """The database answers, and its last writes failed."""

    default_message = (
        "The database answers, but cannot write. Its disk may be full: the log has the reason, in events that begin"
        " with `database.`."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformFigures:
    """The values of the gauges."""

    active_users: int
    organizations: int
    mfa_users: int
    queued_mails: int
    queued_deliveries: int
    certificates_ending: int

    @property
    def mfa_adoption_percentage(self) -> float:
        """The share of active users with multi-factor authentication, 0 to 100."""
        return 100.0 * self.mfa_users / self.active_users if self.active_users else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """What waits in the installation.

    The ages are of the oldest mail for the mail server of the platform, of the oldest for a mail server of an
    organization, and of the oldest unsealed audit entry; 0 where none waits. A stream fails when its last attempt has
    failed. `is_on_cluster` says whether other nodes hold a part of it. The times are of the last backup and of the last
    trial of a restore, in seconds since 1970; 0 where there was none.
    """

    mail_seconds: float = 0.0
    routed_mail_seconds: float = 0.0
    unsealed_seconds: float = 0.0
    failing_streams: int = 0
    queued_mails: int = 0
    queued_deliveries: int = 0
    is_on_cluster: bool = False
    backup_seconds: float = 0.0
    restore_drill_seconds: float = 0.0


def platform(uow: UnitOfWork) -> PlatformFigures | None:
    """Return the last counted figures; None when they were never counted."""
    return uow.figures.platform()


def count(uow: UnitOfWork, waiting: Backlog) -> PlatformFigures | None:
    """Count what needs a new count, add the changes of the rest, and keep the figures with the queues.

    This is one statement. None when the accounts were never counted: `count_accounts` comes first.
    """
    return uow.figures.count(waiting, certificates_before=uow.now + key_certificates.WARNING)


def count_accounts(uow: UnitOfWork) -> None:
    """Count all accounts, unless they were counted before."""
    uow.figures.count_accounts()


def backlog(uow: UnitOfWork) -> Backlog:
    """Return what waits in the installation, in one statement apart from long queues on a cluster."""
    return uow.figures.backlog()


def probe(uow: UnitOfWork) -> None:
    """Check for `/health/ready` that the database can be used; raise `SchemaTooNew` or `WritesFailing`."""
    uow.figures.probe()


def database_time(uow: UnitOfWork) -> datetime:
    """Return the time of the database's clock, to compare it with this host's."""
    return uow.figures.database_time()
