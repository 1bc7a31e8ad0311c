"""The settings that say how long records are kept, each within the bounds of `core/platform/retention.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta
from typing import Any

from core.lazy_dataclasses import dataclass
from core.platform.housekeeping import Leftover
from core.platform.log_months import Log
from core.platform.retention import FOR_EVER, Retention
from entrypoints.setting_kinds import Kind, number, setting, show_days
from entrypoints.upstream_settings import UpstreamSettings


def _days(sentence: str, retention: Retention) -> Any:
    """Return a field of days that a kind of records is kept."""
    for_ever = show_days(FOR_EVER) if retention.default is FOR_EVER else ""
    in_days = number(retention.days_min, retention.days_max)
    kind = Kind(
        lambda text: FOR_EVER if for_ever and text.lower() == for_ever else timedelta(days=in_days(text)),
        f"days from {retention.days_min} to {retention.days_max}" + (f", or {for_ever}" if for_ever else ""),
        show_days,
    )
    return setting(f"How many days {sentence}.", kind, retention.default, retention=retention, unit="_DAYS")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSettings(UpstreamSettings):
    """How long records are kept."""

    login_event_retention: timedelta = _days(
        "sign-ins and refused attempts are kept, of which pages show the last 400; whole months are deleted",
        Retention.LOGIN_EVENTS,
    )
    mfa_event_retention: timedelta = _days(
        "the log of second factors and security events is kept, of which pages show the last 400; it is kept for ever"
        " unless a law asks you to shorten it, and entries of anonymizations always are",
        Retention.MFA_EVENTS,
    )
    invitation_retention: timedelta = _days("an invitation is kept after its answer or its end", Retention.INVITATIONS)
    unproved_account_retention: timedelta = _days(
        "a registered account is kept while its address is not proved and it is not used",
        Retention.UNPROVED_ACCOUNTS,
    )
    session_retention: timedelta = _days("a session is kept after the end of its longest lifetime", Retention.SESSIONS)
    device_retention: timedelta = _days("a device is kept after its last use", Retention.DEVICES)
    link_retention: timedelta = _days(
        "a mailed link is remembered after its end, so that its page can say so", Retention.LINKS
    )
    organization_key_retention: timedelta = _days(
        "a key of an organization is listed after its end", Retention.ORGANIZATION_KEYS
    )
    delivery_retention: timedelta = _days("the deliveries of webhooks are kept", Retention.DELIVERIES)
    job_retention: timedelta = _days("jobs of the console are kept, with their rows", Retention.JOBS)
    provisioning_log_retention: timedelta = _days(
        "the log of what directories changed by SCIM is kept", Retention.PROVISIONING_LOG
    )
    connection_problem_retention: timedelta = _days(
        "the problems of a connection and its last test are kept after the last time",
        Retention.CONNECTION_PROBLEMS,
    )
    checkout_retention: timedelta = _days("a checkout is kept after its start", Retention.CHECKOUTS)
    cancellation_retention: timedelta = _days(
        "a subscription that the payment provider has ended for us is remembered",
        Retention.CANCELLATIONS,
    )

    @property
    def kept_for(self) -> Mapping[Leftover, timedelta]:
        """How long housekeeping keeps what the operator may set."""
        days = self._days
        return {leftover: days[leftover.retention] for leftover in Leftover if leftover.retention is not None}

    @property
    def logs_kept_for(self) -> Mapping[Log, timedelta]:
        """How long the months of a log are kept, where the operator may set that."""
        days = self._days
        return {log: days[log.retention] for log in Log if log.retention is not None}

    @property
    def _days(self) -> Mapping[Retention, timedelta]:
        return {
            one.metadata["retention"]: getattr(self, one.name) for one in fields(self) if "retention" in one.metadata
        }
