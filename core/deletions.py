"""Everything that is deleted because of its age; each deletion asks first whether the time can be trusted.

A wrong time deletes what a right one would keep, and no backup is as recent as what was lost. So the method that
chooses rows by age asks `Transaction.may_delete` (`adapters/postgres/transaction.py`), and does nothing while the time
may be wrong (`adapters/clock.py`). `tests/adapters/statements/test_deletions_by_age.py` reads all statements, and fails
for one that deletes by a time and does not ask.
"""

from __future__ import annotations

from enum import StrEnum


class AgedRows(StrEnum):
    """What is deleted by its age, by the name that the log has."""

    LEFTOVERS = "leftovers"
    """What has expired, of every kind of `platform.housekeeping.Leftover`."""
    LOG_MONTHS = "log_months"
    """Months of the logs (`platform/log_months.py`)."""
    MAILS = "mails"
    """Mails that were sent or kept."""
    ACTIVE_DAYS = "active_days"
    """Who was active on which day, once it is counted."""
    CLOSED_ACCOUNTS = "closed_accounts"
    """Accounts that their people have closed, and that are anonymized."""
    LEFT_DIRECTORIES = "left_directories"
    """Groups of directories whose last token has ended."""
    DELETED_ORGANIZATIONS = "deleted_organizations"
    """Organizations that their owners can no longer restore."""
    EXPIRED_OFFERS = "expired_offers"
    """Expired offers to customers that would block new ones."""
    EXPIRED_TRIALS = "expired_trials"
    """Unfinished tests of a connection, when the next one begins."""
    RETIRED_CERTIFICATES = "retired_certificates"
    """Certificates of SAML that are no longer published, when there is a new one."""
    RETIRED_SIGNING_KEYS = "retired_signing_keys"
    """Signing keys that are no longer published, when they are rotated."""
    NOTED_ACTS = "noted_acts"
    """What was noted of the acts of a credential that is no longer young, when the same is done again."""
