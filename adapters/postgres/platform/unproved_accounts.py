"""Deleting accounts that were registered, whose address was never proved, and that nothing refers to.

`users.unproved_since` marks them. A proof of the address, a membership and the use of a service remove the mark for
good, by triggers. Everything else is checked when the time is over, in several statements: the first locks the
accounts, so that no new row can refer to them, and the others find the rows that already do.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from adapters.postgres.transaction import Aggregate

# A kept account is checked again after this time, so that it never delays others.
POSTPONEMENT: Final = timedelta(days=1)
# How often other accounts are taken in place of kept ones.
ROUNDS_MAX: Final = 10
FIND: Final = """
    SELECT   id
    FROM     users
    WHERE    unproved_since <= %s
    ORDER BY unproved_since
    LIMIT    %s
    FOR UPDATE SKIP LOCKED
"""
# The accounts that a log of organizations names; they are kept. The logs may be spread over machines: all are queried,
# for no more accounts than are deleted at once.
NAMED: Final = """
    SELECT user_id FROM login_events WHERE user_id = ANY (%(ids)s) AND success
    UNION
    SELECT actor_user_id FROM audit_entries WHERE actor_user_id = ANY (%(ids)s)
"""
# What has come of an account, so that it is kept for good. Logs that name a person keep the account, too.
CLAIMED: Final = """
    u.id = ANY (%(named)s) OR u.email_verified_at IS NOT NULL OR u.mfa_enabled_at IS NOT NULL
    OR u.is_platform_owner OR u.is_platform_support OR u.created_by_organization_id IS NOT NULL
    OR u.deactivated_at IS NOT NULL OR u.closed_at IS NOT NULL OR u.disowned_at IS NOT NULL
    OR u.anonymized_at IS NOT NULL
    OR EXISTS (SELECT FROM memberships x WHERE x.user_id = u.id)
    OR EXISTS (SELECT FROM scim_profiles x WHERE x.user_id = u.id)
    OR EXISTS (SELECT FROM service_users x WHERE x.user_id = u.id)
    OR EXISTS (SELECT FROM service_grants x WHERE x.user_id = u.id OR x.granted_by = u.id)
    OR EXISTS (SELECT FROM identities x WHERE x.user_id = u.id)
    OR EXISTS (SELECT FROM departed_identities x WHERE x.user_id = u.id)
    OR EXISTS (SELECT FROM sessions x WHERE x.user_id = u.id OR x.impersonator_id = u.id)
    OR EXISTS (SELECT FROM devices x WHERE x.user_id = u.id)
    OR EXISTS (SELECT FROM sign_in_habits x WHERE x.user_id = u.id)
    OR EXISTS (SELECT FROM active_days x WHERE x.user_id = u.id)
    OR EXISTS (SELECT FROM totp_secrets x WHERE x.user_id = u.id)
    OR EXISTS (SELECT FROM backup_codes x WHERE x.user_id = u.id)
    OR EXISTS (SELECT FROM passkeys x WHERE x.user_id = u.id)
    OR EXISTS (SELECT FROM mfa_events x WHERE x.user_id = u.id)
    OR EXISTS (SELECT FROM subscriptions x WHERE x.user_id = u.id)
    OR EXISTS (SELECT FROM billing_customers x WHERE x.user_id = u.id)
    OR EXISTS (SELECT FROM billing_subscriptions x WHERE x.user_id = u.id)
    OR EXISTS (SELECT FROM trial_sign_ins x WHERE x.user_id = u.id)
    OR EXISTS (SELECT FROM bulk_jobs x WHERE x.maker_id = u.id)
    OR EXISTS (SELECT FROM setup_links x WHERE x.created_by = u.id)
    OR EXISTS (SELECT FROM api_keys x WHERE x.created_by = u.id)
    OR EXISTS (SELECT FROM workloads x WHERE x.created_by = u.id)
    OR EXISTS (SELECT FROM scim_tokens x WHERE x.created_by = u.id)
    OR EXISTS (SELECT FROM group_rules x WHERE x.made_by = u.id)
    OR EXISTS (SELECT FROM branding_versions x WHERE x.made_by = u.id)
    OR EXISTS (SELECT FROM invitations x WHERE x.invited_by = u.id)
    OR EXISTS (SELECT FROM organizations x WHERE x.approved_by = u.id)
    OR EXISTS (SELECT FROM platform_audit_entries x WHERE x.actor_user_id = u.id)
    OR EXISTS (SELECT FROM platform_audit_entries x WHERE x.target_type = 'user' AND x.target_id = u.id::text)
    OR EXISTS (SELECT FROM open_registrations x WHERE x.user_id = u.id AND x.expires_at IS NULL)
"""
# What may still come of it: a link in a mail, a sign-in that is under way, an invitation, a checkout.
WAITING: Final = """
    EXISTS (SELECT FROM open_registrations x WHERE x.user_id = u.id AND x.expires_at > %(now)s)
    OR EXISTS (SELECT FROM one_time_tokens x WHERE x.user_id = u.id AND x.used_at IS NULL AND x.expires_at > %(now)s)
    OR EXISTS (SELECT FROM upstream_sign_ins x WHERE x.user_id = u.id AND x.expires_at > %(now)s)
    OR EXISTS (SELECT FROM mfa_challenges x WHERE x.user_id = u.id AND x.expires_at > %(now)s)
    OR EXISTS (SELECT FROM passkey_challenges x WHERE x.user_id = u.id AND x.expires_at > %(now)s)
    OR EXISTS (SELECT FROM billing_checkouts x WHERE x.user_id = u.id)
    OR EXISTS (SELECT FROM invitations x WHERE x.email = u.email)
"""
DELETE: Final = f"""
    DELETE FROM users u
    WHERE  u.id = ANY (%(ids)s) AND NOT ({CLAIMED}) AND NOT ({WAITING})
"""
_KEEP: Final = f"""
    UPDATE users u
    SET    unproved_since = CASE WHEN {CLAIMED} THEN NULL ELSE %(postponed_until)s::timestamptz END
    WHERE  u.id = ANY (%(ids)s)
"""


class UnprovedAccounts(Aggregate):
    """The accounts that are kept no longer."""

    def delete(self, ended_until: datetime, limit: int) -> int:
        deleted = 0
        for _ in range(ROUNDS_MAX):
            ids = self._values(FIND, (ended_until, limit - deleted))
            if not ids:
                break
            values = {
                "ids": list(ids),
                "named": self._values(NAMED, {"ids": list(ids)}),
                "now": self._transaction.now,
                "postponed_until": ended_until + POSTPONEMENT,
            }
            gone = self._connection.execute(DELETE, values).rowcount
            deleted += gone
            if gone == len(ids):
                break
            self._connection.execute(_KEEP, values)
        return deleted
