"""Deleting expired rows in small batches: each statement finds its rows by an index and skips locked ones.

With some kinds goes more than their rows, and the logs may be on other machines; these have files of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, LiteralString

from adapters.postgres.platform.ended_invitations import EndedInvitations
from adapters.postgres.platform.lifetimes import EndedLogOwners
from adapters.postgres.platform.retention import OldLogRows
from adapters.postgres.platform.unproved_accounts import UnprovedAccounts
from adapters.postgres.transaction import Aggregate
from core.deletions import AgedRows
from core.platform.housekeeping import Leftover
from core.tables import PartialTable

# The keys go into an array, so that the rows are found by primary key whatever the planner estimates for the limit.
_DELETE: Final[PartialTable[Leftover, LiteralString]] = PartialTable(
    {
        Leftover.SIGN_IN_FAILURES: """
        DELETE FROM sign_in_failures
        WHERE  id = ANY (ARRAY(
            SELECT   id
            FROM     sign_in_failures
            WHERE    created_at <= %s
            ORDER BY created_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.RECENT_REFUSALS: """
        DELETE FROM recent_refusals
        WHERE  id = ANY (ARRAY(
            SELECT   id
            FROM     recent_refusals
            WHERE    id < first_id_at(%s + interval '1 millisecond')
            ORDER BY id
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.RECENT_ACTS: """
        DELETE FROM recent_acts
        WHERE  number = ANY (ARRAY(
            SELECT   number
            FROM     recent_acts
            WHERE    done_at <= %s
            ORDER BY done_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.SIGN_IN_HABITS: """
        DELETE FROM sign_in_habits
        WHERE  user_id = ANY (ARRAY(
            SELECT   user_id
            FROM     sign_in_habits
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.MFA_CHALLENGES: """
        DELETE FROM mfa_challenges
        WHERE  id = ANY (ARRAY(
            SELECT   id
            FROM     mfa_challenges
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.PASSKEY_CHALLENGES: """
        DELETE FROM passkey_challenges
        WHERE  id = ANY (ARRAY(
            SELECT   id
            FROM     passkey_challenges
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.DEVICE_TOKENS: """
        DELETE FROM device_tokens
        WHERE  token_hash = ANY (ARRAY(
            SELECT   token_hash
            FROM     device_tokens
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.ONE_TIME_TOKENS: """
        DELETE FROM one_time_tokens
        WHERE  token_hash = ANY (ARRAY(
            SELECT   token_hash
            FROM     one_time_tokens
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.OPEN_REGISTRATIONS: """
        DELETE FROM open_registrations
        WHERE  id = ANY (ARRAY(
            SELECT   id
            FROM     open_registrations
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.SESSIONS: """
        DELETE FROM sessions
        WHERE  id = ANY (ARRAY(
            SELECT   id
            FROM     sessions
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.UPSTREAM_SIGN_INS: """
        DELETE FROM upstream_sign_ins
        WHERE  id = ANY (ARRAY(
            SELECT   id
            FROM     upstream_sign_ins
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.SHOWN_SECRETS: """
        DELETE FROM shown_secrets
        WHERE  id = ANY (ARRAY(
            SELECT   id
            FROM     shown_secrets
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.BROWSER_RETURNS: """
        DELETE FROM browser_returns
        WHERE  id_hash = ANY (ARRAY(
            SELECT   id_hash
            FROM     browser_returns
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.REQUEST_SIGN_INS: """
        DELETE FROM request_sign_ins
        WHERE  ctid = ANY (ARRAY(
            SELECT   ctid
            FROM     request_sign_ins
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.AUTHORIZATION_REQUESTS: """
        DELETE FROM authorization_requests
        WHERE  id_hash = ANY (ARRAY(
            SELECT   id_hash
            FROM     authorization_requests
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.SAML_REQUESTS: """
        DELETE FROM saml_requests
        WHERE  id = ANY (ARRAY(
            SELECT   id
            FROM     saml_requests
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.AUTHORIZATION_CODES: """
        DELETE FROM authorization_codes
        WHERE  code_hash = ANY (ARRAY(
            SELECT   code_hash
            FROM     authorization_codes
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.DEVICE_CODES: """
        DELETE FROM device_codes
        WHERE  device_code_hash = ANY (ARRAY(
            SELECT   device_code_hash
            FROM     device_codes
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.SINGLE_USES: """
        DELETE FROM single_uses
        WHERE  id_hash = ANY (ARRAY(
            SELECT   id_hash
            FROM     single_uses
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.SAML_LOGOUTS: """
        DELETE FROM saml_logouts
        WHERE  id = ANY (ARRAY(
            SELECT   id
            FROM     saml_logouts
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.MAIL_COUNTS: """
        DELETE FROM mail_counts
        WHERE  key = ANY (ARRAY(
            SELECT   key
            FROM     mail_counts
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.ADDRESS_CONFLICTS: """
        DELETE FROM address_conflicts
        WHERE  ctid = ANY (ARRAY(
            SELECT   ctid
            FROM     address_conflicts
            WHERE    occurred_at <= %s
            ORDER BY occurred_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.BILLING_CHECKOUTS: """
        DELETE FROM billing_checkouts
        WHERE  id = ANY (ARRAY(
            SELECT   id
            FROM     billing_checkouts
            WHERE    created_at <= %s
            ORDER BY created_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.BILLING_CANCELLATIONS: """
        DELETE FROM billing_cancellations
        WHERE  id = ANY (ARRAY(
            SELECT   id
            FROM     billing_cancellations
            WHERE    created_at <= %s AND due_at IS NULL
            ORDER BY created_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.SANDBOX_SESSIONS: """
        DELETE FROM sandbox_sessions
        WHERE  id = ANY (ARRAY(
            SELECT   id
            FROM     sandbox_sessions
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.SETUP_LINKS: """
        DELETE FROM setup_links
        WHERE  id = ANY (ARRAY(
            SELECT   id
            FROM     setup_links
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.CUSTOMER_CLAIMS: """
        DELETE FROM customer_claims
        WHERE  customer_id = ANY (ARRAY(
            SELECT   customer_id
            FROM     customer_claims
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.CUSTOMER_OFFERS: """
        DELETE FROM service_customers
        WHERE  id = ANY (ARRAY(
            SELECT   id
            FROM     service_customers
            WHERE    accepted_at IS NULL AND offer_expires_at <= %s
            ORDER BY offer_expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.ORGANIZATION_KEYS: """
        DELETE FROM organization_keys
        WHERE  id = ANY (ARRAY(
            SELECT   id
            FROM     organization_keys
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.DEVICES: """
        DELETE FROM devices
        WHERE  id = ANY (ARRAY(
            SELECT   id
            FROM     devices
            WHERE    last_used_at <= %s
            ORDER BY last_used_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.BULK_JOBS: """
        DELETE FROM bulk_jobs
        WHERE  id = ANY (ARRAY(
            SELECT   id
            FROM     bulk_jobs
            WHERE    created_at <= %s
            ORDER BY created_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        # Entries of anonymizations stay. The others have an index of their own, so that no sweep reads those.
        Leftover.MFA_EVENTS: """
        DELETE FROM mfa_events
        WHERE  id = ANY (ARRAY(
            SELECT   id
            FROM     mfa_events
            WHERE    created_at <= %s AND event_type <> 'user_anonymized'
            ORDER BY created_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.UPSTREAM_FAILURES: """
        DELETE FROM upstream_failures
        WHERE  ctid = ANY (ARRAY(
            SELECT   ctid
            FROM     upstream_failures
            WHERE    last_at <= %s
            ORDER BY last_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.CLIENT_PROBLEMS: """
        DELETE FROM client_problems
        WHERE  ctid = ANY (ARRAY(
            SELECT   ctid
            FROM     client_problems
            WHERE    noted_at <= %s
            ORDER BY noted_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
        Leftover.TRIAL_SIGN_INS: """
        DELETE FROM trial_sign_ins
        WHERE  ctid = ANY (ARRAY(
            SELECT   ctid
            FROM     trial_sign_ins
            WHERE    expires_at <= %s
            ORDER BY expires_at
            LIMIT    %s
            FOR UPDATE SKIP LOCKED))
        """,
    }
)
# The oldest row of each kind that had expired by a moment, as the statements above look for it.
_EXPIRED: Final[PartialTable[Leftover, LiteralString]] = PartialTable(
    {
        Leftover.SIGN_IN_FAILURES: "FROM sign_in_failures WHERE created_at <= %s ORDER BY created_at",
        Leftover.RECENT_REFUSALS: "FROM recent_refusals WHERE id < first_id_at(%s) ORDER BY id",
        Leftover.RECENT_ACTS: "FROM recent_acts WHERE done_at <= %s ORDER BY done_at",
        Leftover.SIGN_IN_HABITS: "FROM sign_in_habits WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.MFA_CHALLENGES: "FROM mfa_challenges WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.PASSKEY_CHALLENGES: "FROM passkey_challenges WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.DEVICE_TOKENS: "FROM device_tokens WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.ONE_TIME_TOKENS: "FROM one_time_tokens WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.OPEN_REGISTRATIONS: "FROM open_registrations WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.SESSIONS: "FROM sessions WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.UPSTREAM_SIGN_INS: "FROM upstream_sign_ins WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.SHOWN_SECRETS: "FROM shown_secrets WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.BROWSER_RETURNS: "FROM browser_returns WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.REQUEST_SIGN_INS: "FROM request_sign_ins WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.AUTHORIZATION_REQUESTS: "FROM authorization_requests WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.AUTHORIZATION_CODES: "FROM authorization_codes WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.DEVICE_CODES: "FROM device_codes WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.SINGLE_USES: "FROM single_uses WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.SAML_REQUESTS: "FROM saml_requests WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.SAML_LOGOUTS: "FROM saml_logouts WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.MAIL_COUNTS: "FROM mail_counts WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.ADDRESS_CONFLICTS: "FROM address_conflicts WHERE occurred_at <= %s ORDER BY occurred_at",
        Leftover.BILLING_CHECKOUTS: "FROM billing_checkouts WHERE created_at <= %s ORDER BY created_at",
        Leftover.BILLING_CANCELLATIONS: (
            "FROM billing_cancellations WHERE created_at <= %s AND due_at IS NULL ORDER BY created_at"
        ),
        Leftover.SANDBOX_SESSIONS: "FROM sandbox_sessions WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.SETUP_LINKS: "FROM setup_links WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.ORGANIZATION_KEYS: "FROM organization_keys WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.DEVICES: "FROM devices WHERE last_used_at <= %s ORDER BY last_used_at",
        Leftover.WEBHOOK_DELIVERIES: "FROM webhook_deliveries WHERE created_at <= %s ORDER BY created_at",
        Leftover.EVENTS: "FROM events WHERE occurred_at <= %s ORDER BY occurred_at",
        Leftover.BULK_JOBS: "FROM bulk_jobs WHERE created_at <= %s ORDER BY created_at",
        Leftover.SCIM_LOG_ENTRIES: "FROM scim_log_entries WHERE created_at <= %s ORDER BY created_at",
        Leftover.MFA_EVENTS: (
            "FROM mfa_events WHERE created_at <= %s AND event_type <> 'user_anonymized' ORDER BY created_at"
        ),
        Leftover.UPSTREAM_FAILURES: "FROM upstream_failures WHERE last_at <= %s ORDER BY last_at",
        Leftover.CLIENT_PROBLEMS: "FROM client_problems WHERE noted_at <= %s ORDER BY noted_at",
        Leftover.TRIAL_SIGN_INS: "FROM trial_sign_ins WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.INVITATIONS: (
            "FROM invitations WHERE status <> 'pending' AND coalesce(answered_at, expires_at) <= %s"
            " ORDER BY coalesce(answered_at, expires_at)"
        ),
        Leftover.CUSTOMER_CLAIMS: "FROM customer_claims WHERE expires_at <= %s ORDER BY expires_at",
        Leftover.CUSTOMER_OFFERS: (
            "FROM service_customers WHERE accepted_at IS NULL AND offer_expires_at <= %s ORDER BY offer_expires_at"
        ),
        Leftover.ENDED_LOG_OWNERS: "FROM ended_log_owners WHERE ended_at <= %s ORDER BY ended_at",
        Leftover.UNPROVED_ACCOUNTS: "FROM users WHERE unproved_since <= %s ORDER BY unproved_since",
    }
)
# A row represents its kind; the log of sign-ins is dropped by months (`log_months.py`).
OVERDUE: Final = b" UNION ALL ".join(
    b"SELECT %d AS number WHERE (SELECT true %b LIMIT 1)" % (number, expired.encode())
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
