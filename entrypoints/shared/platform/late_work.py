"""Work that waits and work that is late, as findings for `gatehouse doctor` and for the page of the system.

The limits are the same as in `ops/monitoring/alerts.yaml`, each named with its alert; a test compares them. Work that
waits for an organization's own receiver is named, and is no failure of the installation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from core.limits import COUNTED_MAX
from core.platform.late_work import LateWork
from core.wording import Grouped, Wording
from entrypoints.settings import Settings
from entrypoints.shared.platform.checks import Finding

# GatehouseWorkLate, for every kind of work that polling finds.
DUE_SECONDS_MAX: Final = 120
# GatehouseMailWaits, for the mail server of the platform.
MAIL_SECONDS_MAX: Final = 900
# GatehouseMailFails.
MAILS_NOT_TAKEN_SHARE_MAX: Final = 0.2
# GatehouseAuditNotSealed.
UNSEALED_SECONDS_MAX: Final = 300
# GatehouseQueueLong.
QUEUED_MAX: Final = COUNTED_MAX
# No alert: a page says itself up to when sign-ins are counted, and the provider is asked again every half hour.
UNCOUNTED_SECONDS_MAX: Final = 3600
CANCELLATION_SECONDS_MAX: Final = 3600
LISTED_MAX: Final = 5
# Kinds of work without a line of its own, as GatehouseWorkLate names them.
_OTHER_WORK: Final = ("customer_sessions", "invitations", "routed_mail", "logouts", "service_users", "sandbox")

_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 86_400
_NOTHING: Final = Wording("nothing waits")
_LATE_ADVICE: Final = Wording(
    "Are the processes of `gatehouse serve` running, and does `/health/ready` of each show its actors as running? Then"
    " see ops/runbooks/late-work.md."
)


def findings(late: LateWork, settings: Settings) -> Iterator[Finding]:
    """Yield a finding for each kind of work."""
    yield _mails(late, is_sent=settings.smtp_url is not None)
    yield _events(late)
    yield _webhooks(late)
    yield _siems(late)
    if settings.has_billing_provider or late.work.cancellations:
        yield _payments(late)
    yield _jobs(late)
    yield from _other_work(late)
    yield _seals(late)
    yield _sign_in_counts(late)
    yield _housekeeping(late)


def age(seconds: float) -> str:
    """Return a duration in its largest unit; the units are the same in every language."""
    if seconds >= 2 * _DAY:
        return f"{int(seconds // _DAY)} d"
    if seconds >= 2 * _HOUR:
        return f"{int(seconds // _HOUR)} h"
    if seconds >= 2 * _MINUTE:
        return f"{int(seconds // _MINUTE)} min"
    return f"{max(int(seconds), 0)} s"


def _number(counted: int) -> str:
    return Wording("more than %(number)s", number=Grouped(COUNTED_MAX)) if counted > COUNTED_MAX else str(counted)


def _waiting(counted: int, seconds: float) -> Wording:
    if not counted:
        return _NOTHING
    if seconds <= 0:
        return Wording("waiting: %(number)s, none late", number=_number(counted))
    return Wording("waiting: %(number)s, the oldest for %(age)s", number=_number(counted), age=age(seconds))


def _mails(late: LateWork, *, is_sent: bool) -> Finding:
    recent, seconds = late.recent_mails, late.backlog.mail_seconds
    what = _waiting(late.work.mails, seconds)
    if late.work.failed_mails:
        what = Wording("%(waiting)s; failed for good: %(number)s", waiting=what, number=_number(late.work.failed_mails))
    if recent.deferred:
        what = Wording("%(waiting)s; to be tried again: %(number)s", waiting=what, number=_number(recent.deferred))
    if recent.last_error is not None:
        what = Wording("%(waiting)s; the last error: %(error)s", waiting=what, error=recent.last_error)
    is_ok = (
        seconds <= MAIL_SECONDS_MAX
        and late.work.mails <= QUEUED_MAX
        and late.overdue.get("mail", 0) <= DUE_SECONDS_MAX
        and recent.not_taken <= MAILS_NOT_TAKEN_SHARE_MAX * recent.attempted
    )
    if is_ok and not late.work.failed_mails:
        return Finding("mails waiting", True, what)
    advice = Wording("`gatehouse mail list` shows why each of them waits or has failed. See ops/runbooks/mail.md.")
    # Without a server they are kept as soon as a process serves, and never sent.
    return Finding("mails waiting", is_ok or not is_sent, what, advice)


def _events(late: LateWork) -> Finding:
    seconds = late.overdue.get("events", 0)
    return _of_work("events", _waiting(late.work.events, seconds), seconds)


def _webhooks(late: LateWork) -> Finding:
    seconds = late.overdue.get("deliveries", 0)
    what = _waiting(late.work.deliveries, seconds)
    if seconds <= DUE_SECONDS_MAX and late.work.deliveries > QUEUED_MAX:
        advice = "They are due later, or receivers of organizations fail. See ops/runbooks/webhooks.md."
        return Finding("webhooks", True, what, advice)
    return _of_work("webhooks", what, seconds)


def _siems(late: LateWork) -> Finding:
    seconds, failing = late.overdue.get("streams", 0), late.backlog.failing_streams
    what = _NOTHING
    if late.work.lagging_siems:
        what = Wording(
            "behind: %(number)s, the slowest by %(entries)s entries",
            number=_number(late.work.lagging_siems),
            entries=Grouped(late.work.siem_lag_max),
        )
    if seconds > DUE_SECONDS_MAX or not failing:
        return _of_work("SIEM streams", what, seconds)
    what = Wording("%(waiting)s; whose receivers fail: %(number)s", waiting=what, number=failing)
    return Finding("SIEM streams", True, what, "Their organizations see why. See ops/runbooks/siem.md.")


def _payments(late: LateWork) -> Finding:
    oldest = late.work.oldest_cancellation_at
    waited = (late.read_at - oldest).total_seconds() if oldest is not None else 0.0
    seconds = late.overdue.get("billing", 0)
    what = (
        Wording(
            "subscriptions that the provider still has to end: %(number)s, the oldest for %(age)s",
            number=_number(late.work.cancellations),
            age=age(waited),
        )
        if late.work.cancellations
        else Wording("due for %(age)s: reading subscriptions from the provider", age=age(seconds))
        if seconds > DUE_SECONDS_MAX
        else _NOTHING
    )
    if seconds <= DUE_SECONDS_MAX and waited <= CANCELLATION_SECONDS_MAX:
        return Finding("payments", True, what)
    advice = "The log says why: `billing.provider_failed`. See ops/runbooks/billing.md."
    return Finding("payments", False, what, advice)


def _jobs(late: LateWork) -> Finding:
    seconds = late.overdue.get("bulk_jobs", 0)
    return _of_work("jobs", _waiting(late.work.running_jobs, seconds), seconds)


def _other_work(late: LateWork) -> Iterator[Finding]:
    """Yield a finding when work is late that has no line of its own."""
    seconds, work = max((late.overdue.get(work, 0.0), work) for work in _OTHER_WORK)
    if seconds > DUE_SECONDS_MAX:
        what = Wording("%(work)s: due for %(age)s", work=work, age=age(seconds))
        yield Finding("background work", False, what, _LATE_ADVICE)


def _seals(late: LateWork) -> Finding:
    seconds = late.backlog.unsealed_seconds
    if seconds <= UNSEALED_SECONDS_MAX:
        return Finding("audit seals", True, Wording("no entry waits for long for its seal"))
    what = Wording("the oldest entry without a seal is %(age)s old", age=age(seconds))
    return Finding("audit seals", False, what, "The log of the server says why. See ops/runbooks/audit-log.md.")


def _sign_in_counts(late: LateWork) -> Finding:
    if late.uncounted_seconds <= UNCOUNTED_SECONDS_MAX:
        return Finding("sign-in counts", True, Wording("up to date"))
    what = Wording("sign-ins that could be counted for %(age)s are not", age=age(late.uncounted_seconds))
    return Finding("sign-in counts", False, what, _LATE_ADVICE)


def _housekeeping(late: LateWork) -> Finding:
    expired = [*(one.value for one in late.unswept), *(one.value for one in late.undropped)]
    if not expired:
        return Finding("housekeeping", True, Wording("what has expired is deleted"))
    what = Wording("not deleted for more than a day after its time: %(tables)s", tables=_listed(expired))
    return Finding("housekeeping", False, what, _LATE_ADVICE)


def log_months(late: LateWork) -> Finding | None:
    """Return a finding when a log lacks the coming month."""
    if not late.missing:
        return None
    what = Wording("no partition for the coming month: %(logs)s", logs=_listed([one.value for one in late.missing]))
    return Finding("logs", False, what, "See ops/runbooks/log-months.md.")


def _of_work(subject: str, what: Wording, seconds: float) -> Finding:
    is_ok = seconds <= DUE_SECONDS_MAX
    return Finding(subject, is_ok, what, "" if is_ok else _LATE_ADVICE)


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(names[:LISTED_MAX])
    return f"{listed}, …" if len(names) > LISTED_MAX else listed
