"""The accounts that organizations made, in the table `users`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from adapters.postgres.admissions import IS_MEMBERSHIP, IS_SHOWN
from adapters.postgres.domains_in_force import IN_FORCE, in_force_at
from adapters.postgres.transaction import Aggregate
from core.accounts.own_accounts import Belonging, FoundAccount
from core.accounts.users import User
from core.ids import PLATFORM

FIND_OR_CREATE: Final = f"""
    WITH existing AS MATERIALIZED (
             -- Locked, because the account may be deleted at this moment.
             SELECT id, email, anonymized_at, deactivated_by_organization_id
             FROM   users
             WHERE  email = %(email)s
             FOR    KEY SHARE),
         created AS (
             INSERT INTO users (id, email, created_by_organization_id, created_at, updated_at)
             -- What a vendor has for a customer has no accounts of its own.
             SELECT %(id)s, %(email)s,
                    (SELECT id FROM organizations WHERE id = %(organization_id)s AND {IS_SHOWN}),
                    %(created_at)s, %(created_at)s
             WHERE  NOT EXISTS (SELECT FROM existing)
             -- A change to nothing, to read the account that a concurrent transaction created.
             ON CONFLICT (email) DO UPDATE SET email = excluded.email
             RETURNING id, email, anonymized_at, deactivated_by_organization_id)
    SELECT id, email, anonymized_at IS NOT NULL AS is_anonymized,
           EXISTS (SELECT FROM memberships WHERE organization_id = %(organization_id)s AND user_id = account.id)
           OR EXISTS (SELECT FROM service_users WHERE organization_id = %(organization_id)s AND user_id = account.id)
               AS is_known,
           (SELECT first_login_at
            FROM   service_users
            WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s
              AND  user_id = account.id) AS linked_at,
           deactivated_by_organization_id IS NOT DISTINCT FROM %(organization_id)s AS is_deactivated,
           EXISTS (SELECT FROM known_account_ids
                   WHERE  organization_id = %(organization_id)s AND known_id = account.id)
           OR EXISTS (SELECT FROM known_account_ids
                      WHERE  organization_id = %(organization_id)s AND user_id = account.id) AS has_known_id,
           coalesce((SELECT metadata
                     FROM   service_user_metadata
                     WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s
                       AND  user_id = account.id), '{{}}') AS metadata
    FROM   (SELECT * FROM existing UNION ALL SELECT * FROM created) AS account
"""
# Whether a user `u` has confirmed to belong to another organization. A link counts once its user has signed in to the
# service; until then only the organization knows of it.
BELONGS_ELSEWHERE: Final = f"""
    (EXISTS (SELECT FROM memberships
             WHERE  user_id = u.id AND organization_id <> %(organization_id)s AND confirmed_at IS NOT NULL
               AND  {IS_MEMBERSHIP})
     OR EXISTS (SELECT FROM service_users
                WHERE  user_id = u.id AND organization_id <> %(organization_id)s AND last_login_at IS NOT NULL))
"""
BELONGING: Final = f"""
    SELECT u.id, u.email, u.created_by_organization_id,
           coalesce((SELECT known_id
                     FROM   known_account_ids
                     WHERE  organization_id = %(organization_id)s AND user_id = u.id), u.id) AS known_id,
           u.email_verified_at IS NOT NULL AS is_address_proved,
           u.is_platform_owner OR u.is_platform_support AS has_platform_role,
           (SELECT role
            FROM   memberships
            WHERE  organization_id = %(organization_id)s AND user_id = u.id) AS role,
           {BELONGS_ELSEWHERE} AS belongs_elsewhere,
           EXISTS (SELECT FROM memberships WHERE user_id = u.id AND organization_id <> %(organization_id)s)
           OR EXISTS (SELECT FROM service_users WHERE user_id = u.id AND organization_id <> %(organization_id)s)
               AS is_given_elsewhere,
           -- A person who has registered the address waits for their link.
           EXISTS (SELECT FROM open_registrations WHERE user_id = u.id AND expires_at > %(now)s) AS is_registered,
           EXISTS (SELECT FROM domain_routes
                   WHERE  organization_id = %(organization_id)s AND domain = split_part(u.email, '@', 2)
                     AND  {IN_FORCE})
               AS is_in_own_domain
    FROM   users u
    WHERE  u.id = %(user_id)s
"""


class PostgresOwnAccounts(Aggregate):
    """The port `OwnAccounts`."""

    def find_or_create(self, user: User, organization_id: UUID, service_id: UUID | None = None) -> FoundAccount:
        # Of two that add the same person at once, the second finds what the first has given.
        self._connection.execute_later(
            "SELECT pg_advisory_xact_lock(hashtext('gatehouse.found_accounts'), hashtext(%s::text || %s))",
            (organization_id, user.email),
        )
        return self._only(
            FoundAccount,
            FIND_OR_CREATE,
            {
                "id": user.id,
                "email": user.email,
                "organization_id": organization_id,
                "service_id": service_id,
                "created_at": user.created_at,
            },
        )

    def lock(self, organization_id: UUID, user_id: UUID) -> Belonging | None:
        self._connection.execute_later("SELECT FROM users WHERE id = %s FOR UPDATE", (user_id,))
        # Behind the lock: what the account belongs to may have changed while this waited.
        return self.belonging(organization_id, user_id)

    def belonging(self, organization_id: UUID, user_id: UUID) -> Belonging | None:
        return self._one(
            Belonging,
            BELONGING,
            {
                "organization_id": organization_id,
                "user_id": user_id,
                "now": self._transaction.now,
                **in_force_at(self._transaction.now),
            },
        )

    def deactivate(self, organization_id: UUID, user_id: UUID, *, at: datetime) -> None:
        self._connection.execute_later(
            """
            UPDATE users
            SET    deactivated_at = %s, deactivated_by_organization_id = %s, updated_at = %s
            WHERE  id = %s AND deactivated_at IS NULL
            """,
            (at, organization_id, at, user_id),
        )

    def disown(self, organization_id: UUID, user_id: UUID, *, at: datetime) -> None:
        self._connection.execute_later(
            """
            UPDATE users
            SET    disowned_at = %s, disowned_by_organization_id = %s, updated_at = %s
            WHERE  id = %s AND disowned_at IS NULL
            """,
            (at, organization_id, at, user_id),
        )

    def activate(self, organization_id: UUID, user_ids: Sequence[UUID], *, at: datetime) -> None:
        self._connection.execute_later(
            """
            UPDATE users
            SET    deactivated_at = NULL, deactivated_by_organization_id = NULL, updated_at = %s
            WHERE  id = ANY (%s) AND deactivated_by_organization_id = %s AND anonymized_at IS NULL
            """,
            (at, list(user_ids), organization_id),
        )

    def give_back(self, organization_id: UUID, user_id: UUID, *, at: datetime) -> None:
        self._connection.execute_later(
            """
            UPDATE users
            SET    disowned_at = NULL, disowned_by_organization_id = NULL, updated_at = %s
            WHERE  id = %s AND disowned_by_organization_id = %s
            """,
            (at, user_id, organization_id),
        )

    def conflicts_since(self, organization_id: UUID, since: datetime) -> int:
        return self._value(
            "SELECT count(*) FROM address_conflicts WHERE organization_id = %s AND occurred_at > %s",
            (organization_id, since),
        )

    def add_conflict(self, organization_id: UUID, *, at: datetime) -> None:
        self._connection.execute_later(
            "INSERT INTO address_conflicts (organization_id, occurred_at) VALUES (%s, %s)", (organization_id, at)
        )

    def delete(self, organization_id: UUID, user_id: UUID) -> None:
        self._connection.execute_later(
            """
            DELETE FROM mails
            WHERE  recipient = (SELECT email FROM users WHERE id = %s)
              AND  organization_id = ANY (%s)
            """,
            (user_id, [PLATFORM, organization_id]),
        )
        self._connection.execute_later("DELETE FROM users WHERE id = %s", (user_id,))
