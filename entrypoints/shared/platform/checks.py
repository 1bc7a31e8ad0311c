"""The checks that are quick and reach nothing but this machine, for `gatehouse doctor` and for the page of the system.

Checks that measure, count rows or use the network are the command's own (`entrypoints/operator/`).
The page is translated, so a text with values is a `Wording`.
"""

from __future__ import annotations

import resource
import shutil
from collections.abc import Sequence
from datetime import datetime
from enum import Enum
from functools import reduce
from typing import Final
from urllib.parse import urlsplit

from core.billing.provider import BillingMode, mode_of_key
from core.lazy_dataclasses import dataclass
from core.wording import Wording
from entrypoints import billing_settings
from entrypoints.settings import Settings

FILES_MIN: Final = 4096
FREE_BYTES_MIN: Final = 1024**3
# Where the database is elsewhere, the folder has locks, and at most some keys.
FREE_BESIDE_BYTES_MIN: Final = 16 * 1024**2
FULL_ADVICE: Final = "Free disk space: with less than 1 GiB the database may stop."
FULL_BESIDE_ADVICE: Final = (
    "Free disk space. The database is elsewhere and serving goes on, but workers may no longer share the processors for"
    " password hashes, and a start in an empty folder is refused."
)
CLOCK_DIFFERENCE_SECONDS_MAX: Final = 2.0
ENCRYPTION_ADVICE: Final = "Put a proxy with TLS in front and set GATEHOUSE_BASE_URL to its https address."


def base_settings(settings: Settings, unknown_settings: Sequence[str] = ()) -> Finding:
    """Check the settings together; a wrong value of a single one has stopped the start before."""
    if unknown_settings:
        return Finding("settings", False, " ".join(unknown_settings), "Correct the name, or unset it.")
    is_encrypted = settings.base_url.startswith("https:")
    is_here = billing_settings.is_this_machine(urlsplit(settings.base_url).hostname or "")
    what = Wording("the base URL %(url)s is not encrypted", url=settings.base_url)
    if not is_encrypted and not is_here and not settings.dev:
        return Finding("settings", False, what, ENCRYPTION_ADVICE)
    reasons = [
        (settings.dev, Wording("development mode"), Wording("Set GATEHOUSE_DEV=off for production.")),
        (not is_encrypted, what, Wording(ENCRYPTION_ADVICE)),
        (not settings.rate_limits, Wording("rate limits are off"), Wording("Unset GATEHOUSE_RATE_LIMITS.")),
    ]
    applying = [(problem, advice) for applies, problem, advice in reasons if applies]
    if applying:
        problem, advice = reduce(_both, applying)
        return Finding("settings", True, problem, advice, is_for_production=False)
    return Finding("settings", True, Wording("the base URL is %(url)s", url=settings.base_url))


def free_space(settings: Settings) -> Finding:
    """Check how much space the disk of the data folder has: for the embedded database, or beside another one."""
    folder = settings.data_dir.resolve()
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        what = Wording("%(folder)s: %(problem)s", folder=folder, problem=error.strerror)
        return Finding("data folder", False, what, "Make Gatehouse's user its owner.")
    minimum, advice = (
        (FREE_BYTES_MIN, FULL_ADVICE) if settings.is_embedded else (FREE_BESIDE_BYTES_MIN, FULL_BESIDE_ADVICE)
    )
    what = Wording("%(folder)s, %(free)s GiB free", folder=folder, free=round(free / 1024**3, 1))
    return Finding("data folder", free >= minimum, what, "" if free >= minimum else advice)


def file_descriptors() -> Finding:
    """Check how many files and connections the process may have open."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    is_enough = hard == resource.RLIM_INFINITY or hard >= FILES_MIN
    advice = Wording("Raise the limit to %(minimum)s or more (LimitNOFILE= or ulimit -Hn).", minimum=FILES_MIN)
    what = Wording("no limit") if hard == resource.RLIM_INFINITY else Wording("at most %(maximum)s", maximum=hard)
    return Finding("file descriptors", is_enough, what, "" if is_enough else advice)


def billing(settings: Settings) -> Finding:
    """Check whether plans cost money."""
    key = settings.billing_secret_key
    if key is not None:
        what = Wording("the payment provider at %(url)s", url=settings.billing_url)
        if mode_of_key(key) is BillingMode.TEST:
            advice = "Set GATEHOUSE_BILLING_SECRET_KEY to the live key to charge for plans."
            what = Wording("%(provider)s, with a test key: no money moves", provider=what)
            return Finding("billing", True, what, advice, is_for_production=False)
        return Finding("billing", True, what)
    if settings.has_billing_sandbox:
        what = Wording("the sandbox, where no money moves")
        return Finding("billing", True, what, billing_settings.SANDBOX_ADVICE, is_for_production=False)
    what = Wording("no payment provider is set")
    return Finding("billing", True, what, billing_settings.NOTHING_FOR_SALE_ADVICE)


def migrations(*, newest: str, pending: int, ahead: int) -> Finding:
    """Check that the schema fits this version; `newest` is the last migration that was applied."""
    if pending:
        advice = "Run `gatehouse migrate`. The checks that need the schema were skipped."
        return Finding("migrations", False, Wording("%(number)s pending", number=pending), advice)
    if ahead:
        what = Wording("ahead of this version at %(newest)s, and says that this version works with it", newest=newest)
        return Finding("migrations", True, what, "Replace this version by the newer one when it suits.")
    return Finding("migrations", True, Wording("up to date at %(newest)s", newest=newest))


def clock(before: datetime, database_time: datetime, after: datetime) -> Finding:
    """Compare this machine's clock, before and after, with the database's in between."""
    difference = max((database_time - after).total_seconds(), (before - database_time).total_seconds(), 0.0)
    is_ok = difference <= CLOCK_DIFFERENCE_SECONDS_MAX
    advice = "" if is_ok else "Synchronize both machines with NTP; one-time codes and tokens depend on the time."
    what = Wording(
        "%(time)s UTC, %(difference)s s from the database's clock",
        time=f"{after:%Y-%m-%d %H:%M:%S}",
        difference=round(difference, 1),
    )
    return Finding("clock", is_ok, what, advice)


def platform_owners(settings: Settings, *, present: int, without_factor: int) -> Finding:
    """Check that there is a platform owner, and that each has a second factor."""
    if not present:
        if settings.owner_email is not None:
            what = Wording("none yet")
            return Finding("platform owner", True, what, "The next `gatehouse serve` makes the one that is set.")
        what = Wording("none") if settings.auto_approve else Wording("none, so new organizations wait")
        advice = "Make one: `gatehouse owner you@example.com`."
        return Finding("platform owner", True, what, advice, is_for_production=False)
    advice = Wording(
        "Without a second factor: %(number)s. Ask them to turn it on at %(page)s.",
        number=without_factor,
        page=f"{settings.base_url}/app/account/second-factor",
    )
    what = Wording("active: %(number)s", number=present)
    return Finding("platform owner", True, what, advice if without_factor else "")


def mail(settings: Settings) -> Finding:
    """Check whether mail is sent at all; whether the server takes it is tried by command."""
    if settings.smtp_url is None:
        what, advice = Wording("stored in the database, not sent"), "Set GATEHOUSE_SMTP_URL to send mail."
        return Finding("mail", True, what, advice, is_for_production=False)
    return Finding("mail", True, Wording("a server is set"), "To test it, run `gatehouse doctor --mail-to ADDRESS`.")


def _both(one: tuple[Wording, Wording], other: tuple[Wording, Wording]) -> tuple[Wording, Wording]:
    return (
        Wording("%(first)s; %(second)s", first=one[0], second=other[0]),
        Wording("%(first)s %(second)s", first=one[1], second=other[1]),
    )


class Verdict(Enum):
    """The result of a check: its word in the output, and the exit status when there is nothing worse.

    The shell and the parser of arguments use the status 2.
    """

    OK = ("ok", 0)
    TRIAL = ("TRIAL", 3)  # it works, but not for production
    NOT_OK = ("NOT OK", 1)

    word: str
    exit_status: int

    def __new__(cls, word: str, exit_status: int) -> Verdict:
        """Create a verdict, known by its word."""
        member = object.__new__(cls)
        member._value_ = word
        member.word = word
        member.exit_status = exit_status
        return member


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; `advice` is what to do when it is not OK, or what is worth knowing."""

    subject: str
    is_ok: bool
    what: str
    advice: str = ""
    is_for_production: bool = True

    @property
    def verdict(self) -> Verdict:
        """The word for the result: whether it is OK counts before what it is good for."""
        if not self.is_ok:
            return Verdict.NOT_OK
        return Verdict.OK if self.is_for_production else Verdict.TRIAL
