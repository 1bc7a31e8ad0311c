"""Deleting expired rows in small batches: each statement finds its rows by an index and skips locked ones.

With some kinds goes more than their rows, and the logs may be on other machines; these have files of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, LiteralString, NamedTuple

from adapters.postgres.platform.ended_invitations import EndedInvitations
from adapters.postgres.platform.lifetimes import EndedLogOwners
from adapters.postgres.platform.retention import OldLogRows
from adapters.postgres.platform.unproved_accounts import UnprovedAccounts
from adapters.postgres.transaction import Aggregate
from core.deletions import AgedRows
from core.platform.housekeeping import Leftover
from core.tables import PartialTable


class _Expired(NamedTuple):
    """The rows of a kind: their table, the column by which they expire, their key, and what else expired ones have."""

    table: LiteralString
    by: LiteralString = "expires_at"
    key: LiteralString = "id"
    bound: LiteralString = "<= %s"
    only: LiteralString = ""

    @property
    def oldest(self) -> LiteralString:
        """The rows that had expired by a moment, the oldest first."""
        return f"FROM {self.table} WHERE {self.by} {self.bound} {self.only} ORDER BY {self.by}"

    @property
    def deletion(self) -> LiteralString:
        """The statement that deletes them, up to a limit."""
        # The keys go into an array, so that the rows are found by primary key whatever the planner estimates for the
        # limit.
        return f"""
            DELETE FROM {self.table}
            WHERE  {self.key} = ANY (ARRAY(SELECT {self.key} {self.oldest} LIMIT %s FOR UPDATE SKIP LOCKED))
        """


_DELETED: Final = PartialTable(
    {
        Leftover.SIGN_IN_FAILURES: _Expired("sign_in_failures", "created_at"),
        Leftover.RECENT_REFUSALS: _Expired(
            "recent_refusals", "id", bound="< first_id_at(%s::timestamptz + interval '1 millisecond')"
        ),
        Leftover.RECENT_ACTS: _Expired("recent_acts", "done_at", key="number"),
        Leftover.SIGN_IN_HABITS: _Expired("sign_in_habits", key="user_id"),
        Leftover.MFA_CHALLENGES: _Expired("mfa_challenges"),
        Leftover.PASSKEY_CHALLENGES: _Expired("passkey_challenges"),
        Leftover.DEVICE_TOKENS: _Expired("device_tokens", key="token_hash"),
        Leftover.ONE_TIME_TOKENS: _Expired("one_time_tokens", key="token_hash"),
        Leftover.OPEN_REGISTRATIONS: _Expired("open_registrations"),
        Leftover.SESSIONS: _Expired("sessions"),
        Leftover.UPSTREAM_SIGN_INS: _Expired("upstream_sign_ins"),
        Leftover.SHOWN_SECRETS: _Expired("shown_secrets"),
        Leftover.BROWSER_RETURNS: _Expired("browser_returns", key="id_hash"),
        Leftover.REQUEST_SIGN_INS: _Expired("request_sign_ins", key="ctid"),
        Leftover.AUTHORIZATION_REQUESTS: _Expired("authorization_requests", key="id_hash"),
        Leftover.SAML_REQUESTS: _Expired("saml_requests"),
        Leftover.AUTHORIZATION_CODES: _Expired("authorization_codes", key="code_hash"),
        Leftover.DEVICE_CODES: _Expired("device_codes", key="device_code_hash"),
        Leftover.SINGLE_USES: _Expired("single_uses", key="id_hash"),
        Leftover.SAML_LOGOUTS: _Expired("saml_logouts"),
        Leftover.MAIL_COUNTS: _Expired("mail_counts", key="key"),
        Leftover.ADDRESS_CONFLICTS: _Expired("address_conflicts", "occurred_at", key="ctid"),
        Leftover.BILLING_CHECKOUTS: _Expired("billing_checkouts", "created_at"),
        Leftover.BILLING_CANCELLATIONS: _Expired("billing_cancellations", "created_at", only="AND due_at IS NULL"),
        Leftover.SANDBOX_SESSIONS: _Expired("sandbox_sessions"),
        Leftover.SETUP_LINKS: _Expired("setup_links"),
        Leftover.CUSTOMER_CLAIMS: _Expired("customer_claims", key="customer_id"),
        Leftover.CUSTOMER_OFFERS: _Expired("service_customers", "offer_expires_at", only="AND accepted_at IS NULL"),
        Leftover.ORGANIZATION_KEYS: _Expired("organization_keys"),
        Leftover.DEVICES: _Expired("devices", "last_used_at"),
        Leftover.BULK_JOBS: _Expired("bulk_jobs", "created_at"),
        # Entries of anonymizations stay. The others have an index of their own, so that no sweep reads those.
        Leftover.MFA_EVENTS: _Expired("mfa_events", "created_at", only="AND event_type <> 'user_anonymized'"),
        Leftover.UPSTREAM_FAILURES: _Expired("upstream_failures", "last_at", key="ctid"),
        Leftover.CLIENT_PROBLEMS: _Expired("client_problems", "noted_at", key="ctid"),
        Leftover.TRIAL_SIGN_INS: _Expired("trial_sign_ins", key="ctid"),
    }
)
# With these goes more, or they lie elsewhere. The log of sign-ins is dropped by months (`log_months.py`).
_DELETED_BY_PARTS: Final = PartialTable(
    {
        Leftover.WEBHOOK_DELIVERIES: _Expired("webhook_deliveries", "created_at"),
        Leftover.EVENTS: _Expired("events", "occurred_at"),
        Leftover.SCIM_LOG_ENTRIES: _Expired("scim_log_entries", "created_at"),
        Leftover.INVITATIONS: _Expired(
            "invitations", "coalesce(answered_at, expires_at)", only="AND status <> 'pending'"
        ),
        Leftover.ENDED_LOG_OWNERS: _Expired("ended_log_owners", "ended_at"),
        Leftover.UNPROVED_ACCOUNTS: _Expired("users", "unproved_since"),
    }
)
_DELETE: Final[PartialTable[Leftover, LiteralString]] = PartialTable(
    {leftover: expired.deletion for leftover, expired in _DELETED.items()}
)
_EXPIRED: Final = PartialTable(dict([*_DELETED.items(), *_DELETED_BY_PARTS.items()]))
# A row represents its kind.
OVERDUE: Final = b" UNION ALL ".join(
    b"SELECT %d AS number WHERE (SELECT true %b LIMIT 1)" % (number, expired.oldest.encode())
    for number, expired in enumerate(_EXPIRED.values())
)


class PostgresHousekeeping(Aggregate):
    """The port `Housekeeping`."""

    def delete(self, leftover: Leftover, ended_until: datetime, limit: int) -> int:
        if not self._transaction.may_delete(AgedRows.LEFTOVERS):
            return 0
        match leftover:
            case Leftover.INVITATIONS:
                return EndedInvitations(self._transaction).delete(ended_until, limit)
            case Leftover.UNPROVED_ACCOUNTS:
                return UnprovedAccounts(self._transaction).delete(ended_until, limit)
            case Leftover.ENDED_LOG_OWNERS:
                return EndedLogOwners(self._transaction).delete(ended_until, limit)
            case _:
                statement = _DELETE.get(leftover)
                if statement is None:
                    return OldLogRows(self._transaction).delete(leftover, ended_until, limit)
                return self._connection.execute(statement, (ended_until, limit)).rowcount

    def overdue(self, ended_until: Mapping[Leftover, datetime]) -> Sequence[Leftover]:
        kinds = list(_EXPIRED)
        # Planned for these moments, so that the logs are looked at by their indexes whatever is known of them.
        numbers: list[int] = self._values(OVERDUE, [ended_until[leftover] for leftover in kinds], prepare=False)
        return [kinds[number] for number in numbers]
