"""Moving what an account has to another one, in all tables that refer to accounts.

What is in none of these statements stays with the account: what other organizations gave, and what is mailed to its
address.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, LiteralString
from uuid import UUID

from adapters.postgres.driver.columns import columns, placeholders
from adapters.postgres.transaction import Aggregate
from core.sign_in.login_events import LoginEvent

_SEALED_SECRET: Final = {"table": "totp_secrets", "column": "secret_sealed"}
# A sign-in to no organization has its user in the place of one: it moves to another part of the log.
_TAKE_OWN_SIGN_INS: Final = f"""
    DELETE FROM login_events
    WHERE  organization_id = %(user_id)s AND user_id = %(user_id)s
    RETURNING {columns(LoginEvent)}
"""
_ADD_OWN_SIGN_IN: Final = f"INSERT INTO login_events ({columns(LoginEvent)}) VALUES ({placeholders(LoginEvent)})"
# What a person has by themselves, wherever it is used.
_OF_PERSON: Final[tuple[LiteralString, ...]] = (
    "UPDATE devices SET user_id = %(new_id)s WHERE user_id = %(user_id)s",
    "UPDATE passkeys SET user_id = %(new_id)s WHERE user_id = %(user_id)s",
    "UPDATE backup_codes SET user_id = %(new_id)s WHERE user_id = %(user_id)s",
    """
    WITH departed AS (UPDATE departed_identities SET user_id = %(new_id)s WHERE user_id = %(user_id)s)
    UPDATE identities SET user_id = %(new_id)s WHERE user_id = %(user_id)s
    """,
    "UPDATE upstream_sign_ins SET user_id = %(new_id)s WHERE user_id = %(user_id)s",
    "UPDATE sessions SET user_id = %(new_id)s WHERE user_id = %(user_id)s",
    "UPDATE mfa_events SET user_id = %(new_id)s WHERE user_id = %(user_id)s",
    "UPDATE known_addresses SET user_id = %(new_id)s WHERE user_id = %(user_id)s",
    "UPDATE active_days SET user_id = %(new_id)s WHERE user_id = %(user_id)s",
    "UPDATE customer_active_people SET user_id = %(new_id)s WHERE user_id = %(user_id)s",
    "UPDATE sign_in_habits SET user_id = %(new_id)s WHERE user_id = %(user_id)s",
    "UPDATE login_events SET user_id = %(new_id)s WHERE user_id = %(user_id)s",
    # What the person has asked for; other links prove the address, which stays.
    """
    UPDATE one_time_tokens
    SET    user_id = %(new_id)s
    WHERE  user_id = %(user_id)s AND purpose IN ('change_email', 'undo_email_change')
    """,
)


def _in_organization(table: LiteralString, column: LiteralString = "user_id") -> LiteralString:
    """Return the statement that moves the rows of an organization which name an account in a column."""
    return f"""
        UPDATE {table} SET {column} = %(new_id)s
        WHERE  organization_id = %(organization_id)s AND {column} = %(user_id)s
    """


# What a person has made in the organization.
_MADE: Final = (
    _in_organization("api_keys", "created_by"),
    _in_organization("workloads", "created_by"),
    _in_organization("scim_tokens", "created_by"),
    _in_organization("setup_links", "created_by"),
    _in_organization("invitations", "invited_by"),
    _in_organization("service_grants", "granted_by"),
    _in_organization("branding_versions", "made_by"),
    _in_organization("group_rules", "made_by"),
    _in_organization("bulk_jobs", "maker_id"),
    _in_organization("trial_sign_ins"),
)
# One statement, so that the foreign keys on memberships are checked when all of it has moved.
_MEMBERSHIP: Final[LiteralString] = f"""
    WITH profiles AS ({_in_organization("scim_profiles")}),
         groups AS ({_in_organization("directory_group_members")}),
         grants AS ({_in_organization("service_grants")}),
         keys AS ({_in_organization("organization_keys", "created_by")})
    UPDATE memberships
    SET    user_id = %(new_id)s, confirmed_at = CASE WHEN %(stays_confirmed)s THEN confirmed_at END
    WHERE  organization_id = %(organization_id)s AND user_id = %(user_id)s
"""
_ACCESS: Final[tuple[LiteralString, ...]] = (
    _MEMBERSHIP,
    """
    UPDATE service_users l
    SET    user_id = u.id, email = u.email,
           last_login_at = CASE WHEN %(stays_confirmed)s THEN l.last_login_at END,
           -- The organization says who the user is.
           origin = CASE WHEN l.origin = 'self' AND NOT %(stays_confirmed)s THEN 'key' ELSE l.origin END
    FROM   users u
    WHERE  u.id = %(new_id)s AND l.organization_id = %(organization_id)s AND l.user_id = %(user_id)s
    """,
    _in_organization("subscriptions"),
    _in_organization("billing_subscriptions"),
    """
    UPDATE billing_customers SET user_id = %(new_id)s
    WHERE  seller_organization_id = %(organization_id)s AND user_id = %(user_id)s
    """,
    _in_organization("billing_checkouts"),
    """
    WITH moved AS (
        UPDATE known_account_ids SET user_id = %(new_id)s
        WHERE  organization_id = %(organization_id)s AND user_id = %(user_id)s
        RETURNING known_id)
    INSERT INTO known_account_ids (organization_id, known_id, user_id)
    SELECT %(organization_id)s, %(user_id)s, %(new_id)s
    WHERE  NOT EXISTS (SELECT FROM moved)
    """,
)
# What the other account has already stays, and what is bought of a service stays together.
# Before anything else moves: the ids depend on what the other account has.
_ALL_KNOWN_IDS: Final[LiteralString] = """
    WITH mine AS MATERIALIZED (
             SELECT organization_id FROM memberships WHERE user_id = %(new_id)s),
         linked AS MATERIALIZED (
             SELECT organization_id FROM service_users WHERE user_id = %(new_id)s),
         known AS MATERIALIZED (
             SELECT organization_id FROM known_account_ids WHERE user_id = %(new_id)s),
         given AS MATERIALIZED (
             SELECT organization_id FROM memberships
             WHERE  user_id = %(user_id)s AND organization_id NOT IN (SELECT organization_id FROM mine)
             UNION
             SELECT organization_id FROM service_users
             WHERE  user_id = %(user_id)s AND organization_id NOT IN (SELECT organization_id FROM mine)
               AND  organization_id NOT IN (SELECT organization_id FROM linked)),
         moving AS MATERIALIZED (
             SELECT organization_id FROM given WHERE organization_id NOT IN (SELECT organization_id FROM known)),
         moved AS (
             UPDATE known_account_ids SET user_id = %(new_id)s
             WHERE  user_id = %(user_id)s AND organization_id IN (SELECT organization_id FROM moving)
             RETURNING organization_id)
    INSERT INTO known_account_ids (organization_id, known_id, user_id)
    SELECT organization_id, %(user_id)s, %(new_id)s
    FROM   moving
    WHERE  organization_id NOT IN (SELECT organization_id FROM moved)
"""
_ALL_MEMBERSHIPS: Final[LiteralString] = """
    WITH moving AS MATERIALIZED (
             SELECT organization_id FROM memberships
             WHERE  user_id = %(user_id)s
               AND  organization_id NOT IN (SELECT organization_id FROM memberships WHERE user_id = %(new_id)s)),
         profiles AS (
             UPDATE scim_profiles SET user_id = %(new_id)s
             WHERE  user_id = %(user_id)s AND organization_id IN (SELECT organization_id FROM moving)),
         groups AS (
             UPDATE directory_group_members SET user_id = %(new_id)s
             WHERE  user_id = %(user_id)s AND organization_id IN (SELECT organization_id FROM moving)),
         grants AS (
             UPDATE service_grants SET user_id = %(new_id)s
             WHERE  user_id = %(user_id)s
               AND  service_id NOT IN (SELECT service_id FROM service_grants WHERE user_id = %(new_id)s))
    UPDATE memberships SET user_id = %(new_id)s
    WHERE  user_id = %(user_id)s AND organization_id IN (SELECT organization_id FROM moving)
"""
# One statement, so that each part sees what the other account had before.
_ALL_OF_SERVICES: Final[LiteralString] = """
    WITH taken AS MATERIALIZED (
             SELECT service_id FROM subscriptions
             WHERE  user_id = %(new_id)s AND status IN ('active', 'past_due')
             UNION
             SELECT service_id FROM billing_customers WHERE user_id = %(new_id)s AND service_id IS NOT NULL),
         subscribed AS (
             UPDATE subscriptions SET user_id = %(new_id)s
             WHERE  user_id = %(user_id)s AND service_id NOT IN (SELECT service_id FROM taken)),
         billed AS (
             UPDATE billing_subscriptions SET user_id = %(new_id)s
             WHERE  user_id = %(user_id)s AND service_id NOT IN (SELECT service_id FROM taken)),
         customers AS (
             UPDATE billing_customers SET user_id = %(new_id)s
             WHERE  user_id = %(user_id)s AND service_id NOT IN (SELECT service_id FROM taken)),
         checkouts AS (
             UPDATE billing_checkouts SET user_id = %(new_id)s
             WHERE  user_id = %(user_id)s AND service_id NOT IN (SELECT service_id FROM taken))
    UPDATE service_users l
    SET    user_id = u.id, email = u.email
    FROM   users u
    WHERE  u.id = %(new_id)s AND l.user_id = %(user_id)s
      AND  l.service_id NOT IN (SELECT service_id FROM service_users WHERE user_id = %(new_id)s)
"""


class PostgresAccountSplits(Aggregate):
    """The port `AccountSplits`."""

    def make(self, organization_id: UUID, user_id: UUID, new_id: UUID, email: str, *, at: datetime) -> bool:
        is_made = self._changes_one(
            """
            INSERT INTO users (id, email, created_by_organization_id, created_at, updated_at)
            SELECT %s, %s, %s, created_at, %s FROM users WHERE id = %s
            ON CONFLICT (email) DO NOTHING
            """,
            (new_id, email, organization_id, at, user_id),
        )
        if is_made:
            self._connection.execute_later(
                "UPDATE users SET created_by_organization_id = NULL, updated_at = %s WHERE id = %s", (at, user_id)
            )
        return is_made

    def move_person(self, organization_id: UUID, user_id: UUID, new_id: UUID, *, at: datetime) -> None:
        values = {"organization_id": organization_id, "user_id": user_id, "new_id": new_id, "at": at}
        self._connection.execute_later(
            """
            UPDATE users n
            SET    email_verified_at = u.email_verified_at, password_hash = u.password_hash,
                   mfa_enabled_at = u.mfa_enabled_at, has_passkey_factor = u.has_passkey_factor,
                   deactivated_at = u.deactivated_at,
                   deactivated_by_organization_id = u.deactivated_by_organization_id, closed_at = u.closed_at,
                   locked_at = u.locked_at, changed_by_service_at = u.changed_by_service_at, name = u.name,
                   name_asked_at = u.name_asked_at, language = u.language,
                   passkey_challenges_ended = u.passkey_challenges_ended
            FROM   users u
            WHERE  n.id = %(new_id)s AND u.id = %(user_id)s
            """,
            values,
        )
        self._connection.execute_later(
            """
            UPDATE users
            SET    email_verified_at = NULL, password_hash = NULL, mfa_enabled_at = NULL,
                   has_passkey_factor = false, closed_at = NULL, locked_at = NULL,
                   changed_by_service_at = NULL, name = NULL, name_asked_at = NULL, language = NULL,
                   deactivated_at = CASE WHEN deactivated_by_organization_id IS DISTINCT FROM %(organization_id)s
                                         THEN deactivated_at END,
                   deactivated_by_organization_id = nullif(deactivated_by_organization_id, %(organization_id)s)
            WHERE  id = %(user_id)s
            """,
            values,
        )
        self._move_totp_secret(user_id, new_id)
        for own in self._rows(_TAKE_OWN_SIGN_INS, values):
            self._connection.execute_later(_ADD_OWN_SIGN_IN, own | {"user_id": new_id, "organization_id": new_id})
        for statement in (*_OF_PERSON, *_MADE):
            self._connection.execute_later(statement, values)

    def move_access(self, organization_id: UUID, user_id: UUID, new_id: UUID, *, stays_confirmed: bool) -> None:
        values = {
            "organization_id": organization_id,
            "user_id": user_id,
            "new_id": new_id,
            "stays_confirmed": stays_confirmed,
        }
        for statement in _ACCESS:
            self._connection.execute_later(statement, values)

    def move_all_access(self, user_id: UUID, new_id: UUID) -> None:
        for statement in (_ALL_KNOWN_IDS, _ALL_MEMBERSHIPS, _ALL_OF_SERVICES):
            self._connection.execute_later(statement, {"user_id": user_id, "new_id": new_id})

    def _move_totp_secret(self, user_id: UUID, new_id: UUID) -> None:
        # Sealed anew, because what is sealed is bound to its row.
        row = self._connection.execute(
            """
            DELETE FROM totp_secrets
            WHERE  user_id = %s
            RETURNING secret_sealed, created_at, enabled_at, last_used_step
            """,
            (user_id,),
        ).fetchone()
        if row is None:
            return
        sealed, *others = row
        secret = self._transaction.vault.open(sealed, row=user_id, **_SEALED_SECRET)
        self._connection.execute_later(
            """
            INSERT INTO totp_secrets (user_id, secret_sealed, created_at, enabled_at, last_used_step)
            VALUES (%s, %s, %s, %s, %s)
            """,
            (new_id, self._transaction.vault.seal(secret, row=new_id, **_SEALED_SECRET), *others),
        )
