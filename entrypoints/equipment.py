"""What the settings equip a house with: a mail server, places, password hashing, metrics.

Who cannot be equipped as the settings say is refused here, before anything is started. How the pieces are connected is
in `main.py`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from adapters import prometheus
from adapters.crypto import password_schemes, passwords
from adapters.crypto.machine_slots import MachineSlots
from adapters.crypto.passwords import Argon2PasswordHasher
from adapters.gateways.smtp import SmtpGateway
from adapters.gateways.smtp_server import SmtpServer, SmtpUrlInvalid
from adapters.geoip import NoLocations
from adapters.prometheus import PrometheusMetrics, SharedMetrics
from core.mail.mail import MailDeferred, MailRefused
from entrypoints.refusals import CannotStart

if TYPE_CHECKING:
    from pathlib import Path

    from adapters.geoip import Edition
    from adapters.geoip_database import MaxMindLocations
    from entrypoints.settings import Settings
    from ports.clock import Clock

MAIL_FAILURES: Final = (MailDeferred, MailRefused)


def mail_gateway(settings: Settings, clock: Clock) -> SmtpGateway | None:
    """Give the way to the mail server, if one is set."""
    if settings.smtp_url is None:
        return None
    try:
        return SmtpGateway(SmtpServer.parse(settings.smtp_url.reveal()), clock=clock)
    except SmtpUrlInvalid as invalid:
        raise CannotStart(f"GATEHOUSE_SMTP_URL is wrong. {invalid}") from invalid


def locations(settings: Settings) -> NoLocations | MaxMindLocations:
    """Open the GeoIP database, if one is set."""
    if settings.geoip_db is None:
        return NoLocations()
    # Here, because most installations have no such database and need not load what reads it.
    from adapters.geoip_database import GeoipDatabaseInvalid, MaxMindLocations  # noqa: PLC0415

    try:
        return MaxMindLocations(settings.geoip_db)
    except GeoipDatabaseInvalid as invalid:
        raise CannotStart(f"GATEHOUSE_GEOIP_DB is wrong. {invalid}") from invalid


def geoip_edition(settings: Settings) -> Edition | None:
    """Say which GeoIP database is set; raise `CannotStart` when it cannot be used."""
    opened = locations(settings)
    try:
        return opened.edition
    finally:
        opened.close()


def password_hasher(settings: Settings, *, worker: int | None) -> Argon2PasswordHasher:
    """Give the hasher of passwords; workers share the processors of their machine."""
    processors = len(os.sched_getaffinity(0))
    machine = None if worker is None else MachineSlots(settings.data_dir.resolve() / "hashing", processors)
    return Argon2PasswordHasher(places=processors, machine=machine)


def hashing_is_right() -> bool:
    """Hash something whose result is known."""
    return passwords.computes_correctly()


def hashes_per_second() -> float:
    """Measure how many passwords one processor hashes in a second."""
    return passwords.hashes_per_second(threads=1)


def stored_password_form(given: object) -> str | None:
    """Give the form in which an imported password hash is kept, or nothing when it could not be compared."""
    return password_schemes.stored_form(given)


def metrics(settings: Settings, *, version: str, worker: int | None) -> PrometheusMetrics:
    """Give what counts; workers count together, whichever of them is asked."""
    shared = None if worker is None else SharedMetrics(folder=_metrics_folder(settings), place=worker)
    return PrometheusMetrics(version=version, shared=shared)


def forget_shared_metrics(settings: Settings) -> None:
    """Make room for what new workers will count."""
    prometheus.forget_shared_metrics(_metrics_folder(settings))


def _metrics_folder(settings: Settings) -> Path:
    return settings.data_dir.resolve() / "metrics"
