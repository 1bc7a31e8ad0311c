"""Deletes rows after they have expired, each kind after its own time.

Expired rows have no effect, so deleting them late or twice does no harm. The mail actor deletes mails, creating signing
keys deletes old ones, and the log of sign-ins goes month by month (`log_months.py`). `lifetimes.py` says what bounds
each table.
"""

from __future__ import annotations

from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Final

from core.accounts import own_accounts, sign_in_failures
from core.ids import SETTLES_AFTER
from core.organizations import takeover_credentials
from core.platform.retention import Retention
from core.services import problems
from core.webhooks import events

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_DAY: Final = timedelta(days=1)
# A batch locks its rows for some milliseconds.
BATCH_ROWS_MAX: Final = 500


class Leftover(Enum):
    """A kind of rows that expire, and how long they are kept after that: by a setting of the operator, or a fixed time.

    `rows_max` rows are deleted at once. Some take so many other rows along that this needs several statements.
    """

    SIGN_IN_FAILURES = ("sign_in_failures", sign_in_failures.WINDOW)
    # By the time of their ids; a refusal that has waited counts by a later one.
    RECENT_REFUSALS = ("recent_refusals", 2 * SETTLES_AFTER)
    RECENT_ACTS = ("recent_acts", takeover_credentials.KEPT_FOR)
    SIGN_IN_HABITS = ("sign_in_habits", timedelta())
    MFA_CHALLENGES = ("mfa_challenges", _DAY)
    PASSKEY_CHALLENGES = ("passkey_challenges", _DAY)
    DEVICE_TOKENS = ("device_tokens", _DAY)
    # A user who opens last week's mail should read that its link has expired, not that there is no such link.
    ONE_TIME_TOKENS = ("one_time_tokens", Retention.LINKS)
    # Passwords that no link can confirm for an account any more.
    OPEN_REGISTRATIONS = ("open_registrations", timedelta())
    # Counted from the end of the maximum lifetime, whatever ended them, so the sessions of the last three months stay.
    SESSIONS = ("sessions", Retention.SESSIONS)
    UPSTREAM_SIGN_INS = ("upstream_sign_ins", timedelta())
    SHOWN_SECRETS = ("shown_secrets", timedelta())
    # For a mailed link that is opened late: the page still names the service that has waited.
    BROWSER_RETURNS = ("browser_returns", _DAY)
    REQUEST_SIGN_INS = ("request_sign_ins", timedelta())
    AUTHORIZATION_REQUESTS = ("authorization_requests", timedelta())
    # A second use of a code ends its session, also when the code has expired.
    AUTHORIZATION_CODES = ("authorization_codes", _DAY)
    DEVICE_CODES = ("device_codes", _DAY)
    SINGLE_USES = ("single_uses", timedelta())
    SAML_REQUESTS = ("saml_requests", timedelta())
    SAML_LOGOUTS = ("saml_logouts", timedelta())
    MAIL_COUNTS = ("mail_counts", timedelta())
    ADDRESS_CONFLICTS = ("address_conflicts", own_accounts.CONFLICTS_WINDOW)
    # Counted from the start; a page of the provider is open for a day, and so long a checkout without one is repeated.
    BILLING_CHECKOUTS = ("billing_checkouts", Retention.CHECKOUTS)
    # Counted from their queueing, once the provider has ended the subscription; it repeats events for three days.
    BILLING_CANCELLATIONS = ("billing_cancellations", Retention.CANCELLATIONS)
    SANDBOX_SESSIONS = ("sandbox_sessions", _DAY)
    SETUP_LINKS = ("setup_links", _DAY)
    # The list shows for a while that a program stopped because its key has expired.
    ORGANIZATION_KEYS = ("organization_keys", Retention.ORGANIZATION_KEYS)
    # Counted from the last use. No token and no session of such a device is valid any more.
    DEVICES = ("devices", Retention.DEVICES)
    # Counted from their creation. They go before their events, which would take them along.
    WEBHOOK_DELIVERIES = ("webhook_deliveries", Retention.DELIVERIES, BATCH_ROWS_MAX, False)
    EVENTS = ("events", events.RETENTION, BATCH_ROWS_MAX, False)
    # Counted from their beginning. Their rows go with them, up to 10,000 of each.
    BULK_JOBS = ("bulk_jobs", Retention.JOBS, 5)
    SCIM_LOG_ENTRIES = ("scim_log_entries", Retention.PROVISIONING_LOG, BATCH_ROWS_MAX, False)
    # Rows from before there were months, and of no month; the others go with their month. They are counted before.
    LOGIN_EVENTS = ("login_events", Retention.LOGIN_EVENTS, BATCH_ROWS_MAX, False)
    MFA_EVENTS = ("mfa_events", Retention.MFA_EVENTS)
    # Counted from the last time.
    UPSTREAM_FAILURES = ("upstream_failures", Retention.CONNECTION_PROBLEMS)
    CLIENT_PROBLEMS = ("client_problems", problems.KEPT_FOR)
    # The last one of each connection; earlier ones are deleted when it is concluded.
    TRIAL_SIGN_INS = ("trial_sign_ins", Retention.CONNECTION_PROBLEMS)
    # Counted from the answer, or from the end of those without one.
    INVITATIONS = ("invitations", Retention.INVITATIONS, 200, False)
    # Counted from the end of the link, also of a used one.
    CUSTOMER_CLAIMS = ("customer_claims", Retention.LINKS)
    # Offers without an answer; customers stay until either side ends them.
    CUSTOMER_OFFERS = ("service_customers", timedelta())
    # Counted from their deletion: by then every concurrent transaction that wrote to their logs has ended.
    ENDED_LOG_OWNERS = ("ended_log_owners", timedelta(hours=1), 20, False)
    # Accounts without a proved address, counted from their registration. Some thirty tables refer to each of them.
    UNPROVED_ACCOUNTS = ("users", Retention.UNPROVED_ACCOUNTS, 20, False)

    kept_for: timedelta
    retention: Retention | None
    rows_max: int
    is_one_statement: bool

    def __new__(
        cls,
        value: str,
        kept_for: timedelta | Retention,
        rows_max: int = BATCH_ROWS_MAX,
        is_one_statement: bool = True,  # noqa: FBT001, FBT002 - the members are tuples
    ) -> Leftover:
        member = object.__new__(cls)
        member._value_ = value
        member.kept_for = kept_for.default if isinstance(kept_for, Retention) else kept_for
        member.retention = kept_for if isinstance(kept_for, Retention) else None
        member.rows_max = rows_max
        member.is_one_statement = is_one_statement
        return member


def sweep(uow: UnitOfWork, leftover: Leftover, kept_for: timedelta, limit: int) -> int:
    """Delete at most `limit` rows that were kept so long, the oldest first; return how many."""
    return uow.housekeeping.delete(leftover, uow.now - kept_for, limit)
