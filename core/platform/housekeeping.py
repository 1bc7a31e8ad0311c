"""What is deleted automatically after it has expired, and how long each kind is kept after that.

Expired rows have no effect, so deleting them late or twice does no harm. Mails are deleted by the mail actor, signing
keys where new ones are created, the logs of sign-ins month by month (`log_months.py`); audit entries are kept.
"""

from __future__ import annotations

from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Final

from core.accounts import own_accounts, sign_in_failures
from core.limits import SIGN_INS_KEPT_FOR
from core.platform import bulk_work
from core.scim import log
from core.sign_in.upstream import failures, trials
from core.webhooks import deliveries, events

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_DAY: Final = timedelta(days=1)


class Leftover(Enum):
    """A kind of rows that expire, and how long they are kept after that."""

    SIGN_IN_FAILURES = ("sign_in_failures", sign_in_failures.WINDOW)
    MFA_CHALLENGES = ("mfa_challenges", _DAY)
    PASSKEY_CHALLENGES = ("passkey_challenges", _DAY)
    DEVICE_TOKENS = ("device_tokens", _DAY)
    # A user who opens last week's mail should read that its link has expired, not that there is no such link.
    ONE_TIME_TOKENS = ("one_time_tokens", 30 * _DAY)
    # A password that no link makes an account's any more.
    OPEN_REGISTRATIONS = ("open_registrations", timedelta())
    # Counted from the end of the maximum lifetime, whatever ended them: the sessions of the last three months are kept.
    SESSIONS = ("sessions", 30 * _DAY)
    UPSTREAM_SIGN_INS = ("upstream_sign_ins", timedelta())
    # A mailed link is opened late: then a page names the service that has waited.
    BROWSER_RETURNS = ("browser_returns", _DAY)
    REQUEST_SIGN_INS = ("request_sign_ins", timedelta())
    AUTHORIZATION_REQUESTS = ("authorization_requests", timedelta())
    # One that is used a second time ends what came of it, also when it would have expired.
    AUTHORIZATION_CODES = ("authorization_codes", _DAY)
    DEVICE_CODES = ("device_codes", _DAY)
    SINGLE_USES = ("single_uses", timedelta())
    SAML_REQUESTS = ("saml_requests", timedelta())
    SAML_LOGOUTS = ("saml_logouts", timedelta())
    MAIL_COUNTS = ("mail_counts", timedelta())
    ADDRESS_CONFLICTS = ("address_conflicts", own_accounts.CONFLICTS_WINDOW)
    # Counted from the start; a page of the provider is open for a day, and a checkout without one is repeated as long.
    BILLING_CHECKOUTS = ("billing_checkouts", 30 * _DAY)
    # Counted from when they were queued, if the provider has ended them; it repeats events for three days.
    BILLING_CANCELLATIONS = ("billing_cancellations", 90 * _DAY)
    SANDBOX_SESSIONS = ("sandbox_sessions", _DAY)
    SETUP_LINKS = ("setup_links", _DAY)
    # The list shows for a while that a program stopped because its key has expired.
    ORGANIZATION_KEYS = ("organization_keys", 90 * _DAY)
    # Counted from the last use. No token and no session of such a device is valid any more.
    DEVICES = ("devices", 365 * _DAY)
    # Counted from their creation; the operator may set less. They go before their events, which would take them along.
    WEBHOOK_DELIVERIES = ("webhook_deliveries", deliveries.RETENTION_DEFAULT)
    EVENTS = ("events", events.RETENTION)
    # Counted from their beginning.
    BULK_JOBS = ("bulk_jobs", bulk_work.KEPT_FOR)
    SCIM_LOG_ENTRIES = ("scim_log_entries", log.RETENTION)
    # Of before there were months, and of no month: the others go with their month. Counted before.
    LOGIN_EVENTS = ("login_events", SIGN_INS_KEPT_FOR)
    MFA_EVENTS = ("mfa_events", SIGN_INS_KEPT_FOR)
    # Counted from the last time.
    UPSTREAM_FAILURES = ("upstream_failures", failures.RETENTION)
    # The last of each connection is kept for that long; the others are deleted when it is concluded.
    TRIAL_SIGN_INS = ("trial_sign_ins", trials.RETENTION)

    kept_for: timedelta

    def __new__(cls, value: str, kept_for: timedelta) -> Leftover:
        member = object.__new__(cls)
        member._value_ = value
        member.kept_for = kept_for
        return member


def sweep(uow: UnitOfWork, leftover: Leftover, kept_for: timedelta, limit: int) -> int:
    """Delete the rows that were kept that long, the oldest first, at most `limit` of them; return how many."""
    return uow.housekeeping.delete(leftover, uow.now - kept_for, limit)
