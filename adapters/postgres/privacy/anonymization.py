"""Deleting the personal data of one person: the person's rows, and the mentions of the person in other rows.

Every statement finds its rows by an index, so that a log of millions of rows is not read for one address. The indexes
`*_addresses` contain the addresses that the entries of the logs mention.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, LiteralString

from psycopg.errors import UniqueViolation
from psycopg.types.json import Jsonb

from adapters.postgres.driver.rows import kwargs_row, scalar_row
from adapters.postgres.mail.mail import opened_values
from adapters.postgres.transaction import Aggregate
from core.accounts.one_time_tokens import TokenPurpose
from core.audit.chain import DETAIL
from core.credentials.mfa_events import MfaEvent
from core.organizations.memberships import OWNER
from core.privacy.anonymization import Affiliation, Subject, without_addresses

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from core.privacy.anonymization import Anonymous

# All credentials, challenges and tokens of a person. Sessions are deleted before the devices to which they refer.
CREDENTIALS: Final[tuple[LiteralString, ...]] = (
    # Ended before they are deleted, so that the services of live ones are told.
    """
    UPDATE sessions
    SET    revoked_at = %(now)s
    WHERE  user_id = %(user_id)s AND revoked_at IS NULL AND expires_at > %(now)s
    """,
    "DELETE FROM sessions WHERE user_id = %(user_id)s",
    "DELETE FROM device_tokens WHERE device_id IN (SELECT id FROM devices WHERE user_id = %(user_id)s)",
    "DELETE FROM devices WHERE user_id = %(user_id)s",
    "DELETE FROM mfa_challenges WHERE user_id = %(user_id)s AND used_at IS NULL",
    "DELETE FROM totp_secrets WHERE user_id = %(user_id)s",
    "DELETE FROM backup_codes WHERE user_id = %(user_id)s",
    "DELETE FROM passkeys WHERE user_id = %(user_id)s",
    "DELETE FROM identities WHERE user_id = %(user_id)s",
    "DELETE FROM upstream_sign_ins WHERE user_id = %(user_id)s",
    "DELETE FROM passkey_challenges WHERE user_id = %(user_id)s",
    "DELETE FROM one_time_tokens WHERE user_id = %(user_id)s",
    # Its addresses may say anything about the buyer.
    "DELETE FROM billing_checkouts WHERE user_id = %(user_id)s",
    "DELETE FROM known_addresses WHERE user_id = %(user_id)s",
    "DELETE FROM scim_profiles WHERE user_id = %(user_id)s",
)
ADDRESSES: Final[tuple[LiteralString, ...]] = (
    # A receiver may have answered with what it was sent. What was sent is in the events, which are rewritten below. The
    # ids go into an array, so that deliveries are found by an index whatever the planner estimates.
    """
    UPDATE webhook_deliveries
    SET    response_body = NULL
    WHERE  response_body IS NOT NULL
    AND    event_id = ANY (ARRAY(
        SELECT id FROM events WHERE actor_user_id = %(user_id)s
        UNION
        SELECT id FROM events WHERE data::text LIKE '%%@%%' AND addresses_in(data) && %(addresses)s::text[]))
    """,
    "DELETE FROM mails WHERE recipient = ANY (%(addresses)s)",
    "DELETE FROM sign_in_failures WHERE email_hash = ANY (%(marks)s)",
    "UPDATE scim_log_entries SET user_name = NULL WHERE user_name = ANY (%(addresses)s)",
    "UPDATE billing_customers SET name = NULL, email = NULL WHERE email = ANY (%(addresses)s)",
    # An invitation can be declined without signing in; then only the invitation shows whose request that was.
    """
    UPDATE audit_entries a
    SET    ip_address = %(ip_address)s, user_agent = CASE WHEN a.user_agent IS NOT NULL THEN %(user_agent)s END
    FROM   invitations i
    WHERE  i.email = ANY (%(addresses)s)
      AND  a.organization_id = i.organization_id AND a.target_type = 'invitation' AND a.target_id = i.id::text
      AND  a.actor_user_id IS NULL AND a.ip_address IS NOT NULL
    """,
    # After the entries: an entry that was being sealed has its seal by now, and one that was not gets no salt of it.
    """
    UPDATE audit_seals s
    SET    salts = s.salts - '{ip_address,user_agent}'::text[]
    FROM   invitations i
    JOIN   audit_entries a
           ON  a.organization_id = i.organization_id AND a.target_type = 'invitation' AND a.target_id = i.id::text
    WHERE  i.email = ANY (%(addresses)s)
      AND  a.actor_user_id IS NULL AND a.ip_address IS NOT NULL
      AND  s.organization_id = a.organization_id AND s.position = a.position
    """,
    """
    UPDATE invitations
    SET    email = %(placeholder)s,
           status = CASE status WHEN 'pending' THEN 'cancelled' ELSE status END,
           answered_at = CASE status WHEN 'pending' THEN %(at)s ELSE answered_at END,
           token_sealed = NULL
    WHERE  email = ANY (%(addresses)s)
    """,
)
# Texts in the audit logs of organizations. The salts of the changed details are deleted too, so that no value can be
# guessed by its digest, and the chain stays verifiable (`core/audit/chain.py`).
DETAILS: Final = """
    SELECT id, details FROM audit_entries
    WHERE  details::text LIKE '%%@%%' AND addresses_in(details) && %(addresses)s::text[]
"""
CHANGE_DETAILS: Final = "UPDATE audit_entries SET details = %s WHERE id = %s"
FORGET_DETAILS: Final = """
    UPDATE audit_seals s
    SET    salts = s.salts - %s::text[]
    FROM   audit_entries e
    WHERE  e.id = %s AND s.organization_id = e.organization_id AND s.position = e.position
"""
# Texts in other logs; each row is found by the addresses in it or by its user.
WORDS: Final[tuple[tuple[LiteralString, LiteralString], ...]] = (
    (
        """
        SELECT id, data FROM events
        WHERE  data::text LIKE '%%@%%' AND addresses_in(data) && %(addresses)s::text[]
        """,
        "UPDATE events SET data = %s WHERE id = %s",
    ),
    (
        """
        SELECT id, details FROM platform_audit_entries
        WHERE  details::text LIKE '%%@%%' AND addresses_in(details) && %(addresses)s::text[]
        """,
        "UPDATE platform_audit_entries SET details = %s WHERE id = %s",
    ),
    (
        "SELECT id, details FROM mfa_events WHERE user_id = %(user_id)s AND details::text LIKE '%%@%%'",
        "UPDATE mfa_events SET details = %s WHERE id = %s",
    ),
)
# Names and texts that people have typed. Few of them mention an address at all, and an index finds these.
ORGANIZATIONS: Final = """
    SELECT id, name, rejection_reason, suspension_reason
    FROM   organizations
    WHERE  name LIKE '%%@%%' OR rejection_reason LIKE '%%@%%' OR suspension_reason LIKE '%%@%%'
"""
ROLES: Final = """
    SELECT organization_id, slug, name, description
    FROM   organization_roles
    WHERE  name LIKE '%%@%%' OR description LIKE '%%@%%'
"""
# Mails to others that still have their contents, and may name the person as the inviter.
INVITATION_MAILS: Final = """
    SELECT m.id, m.values_sealed
    FROM   mails m
    WHERE  m.template = 'invitation' AND m.values_sealed IS NOT NULL
      AND  m.organization_id IN (SELECT organization_id FROM invitations WHERE invited_by = %(user_id)s)
"""
# The origins of actions, and the actor's address. What happened without a request has no origin, and gets none.
ORIGINS: Final[tuple[tuple[LiteralString, LiteralString], ...]] = (
    (
        "SELECT id FROM login_events WHERE user_id = %(user_id)s",
        """
        UPDATE login_events
        SET    ip_address = CASE WHEN ip_address IS NOT NULL THEN %(ip_address)s END,
               user_agent = CASE WHEN user_agent IS NOT NULL THEN %(user_agent)s END,
               geo_country = NULL, geo_city = NULL
        WHERE  id = ANY (%(ids)s)
        """,
    ),
    (
        # The person's own events, and what the person did to others as a platform owner; likewise in the next two logs.
        """
        SELECT id FROM mfa_events WHERE user_id = %(user_id)s
        UNION
        SELECT id FROM mfa_events
        WHERE  event_type = %(forced)s AND details ->> 'disabled_by' = %(user_id)s::text
        """,
        """
        UPDATE mfa_events
        SET    ip_address = CASE WHEN ip_address IS NOT NULL THEN %(ip_address)s END,
               user_agent = CASE WHEN user_agent IS NOT NULL THEN %(user_agent)s END
        WHERE  id = ANY (%(ids)s)
        """,
    ),
    (
        """
        SELECT id FROM audit_entries WHERE actor_user_id = %(user_id)s
        UNION
        SELECT id FROM audit_entries
        WHERE  details ? 'impersonator_id' AND details ->> 'impersonator_id' = %(user_id)s::text
        """,
        """
        UPDATE audit_entries
        SET    ip_address = CASE WHEN ip_address IS NOT NULL THEN %(ip_address)s END,
               user_agent = CASE WHEN user_agent IS NOT NULL THEN %(user_agent)s END
        WHERE  id = ANY (%(ids)s)
        """,
    ),
    (
        # After the entries, for the reason given above.
        """
        SELECT id FROM audit_entries WHERE actor_user_id = %(user_id)s
        UNION
        SELECT id FROM audit_entries
        WHERE  details ? 'impersonator_id' AND details ->> 'impersonator_id' = %(user_id)s::text
        """,
        """
        UPDATE audit_seals s
        SET    salts = s.salts - '{ip_address,user_agent}'::text[]
        FROM   audit_entries e
        WHERE  e.id = ANY (%(ids)s) AND s.organization_id = e.organization_id AND s.position = e.position
        """,
    ),
    (
        "SELECT id FROM platform_audit_entries WHERE actor_user_id = %(user_id)s",
        """
        UPDATE platform_audit_entries
        SET    ip_address = CASE WHEN ip_address IS NOT NULL THEN %(ip_address)s END,
               user_agent = CASE WHEN user_agent IS NOT NULL THEN %(user_agent)s END
        WHERE  id = ANY (%(ids)s)
        """,
    ),
    (
        "SELECT id FROM events WHERE actor_user_id = %(user_id)s AND actor_email IS NOT NULL",
        "UPDATE events SET actor_email = %(placeholder)s WHERE id = ANY (%(ids)s)",
    ),
)
# The most rows that one statement changes, so that none takes long.
BATCH_ROWS_MAX: Final = 5_000


class PostgresAnonymization(Aggregate):
    """The port `Anonymization`."""

    def lock(self, user_id: UUID) -> Subject | None:
        # Invitations before the account, because accepting an invitation locks them in this order.
        self._connection.execute(
            """
            SELECT
            FROM     invitations
            WHERE    email = (SELECT email FROM users WHERE id = %s) AND status = 'pending'
            ORDER BY id
            FOR      UPDATE
            """,
            (user_id,),
        )
        return (
            self._connection.cursor(row_factory=kwargs_row(Subject))
            .execute(
                "SELECT id, email, is_platform_owner, anonymized_at FROM users WHERE id = %s FOR UPDATE", (user_id,)
            )
            .fetchone()
        )

    def lock_next_closed(self, *, closed_before: datetime) -> Subject | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(Subject))
            .execute(
                """
                SELECT   id, email, is_platform_owner, anonymized_at
                FROM     users u
                WHERE    closed_at <= %s
                  AND    NOT EXISTS (SELECT
                                     FROM   memberships m
                                     WHERE  m.user_id = u.id
                                       AND  (m.confirmed_at IS NOT NULL AND m.suspended_at IS NULL OR m.role = %s))
                ORDER BY closed_at
                LIMIT    1
                FOR UPDATE SKIP LOCKED
                """,
                (closed_before, OWNER),
            )
            .fetchone()
        )

    def hold(self, user_id: UUID) -> bool:
        # The weakest lock, which every row that refers to the account takes as well.
        held = self._connection.execute(
            "SELECT FROM users WHERE id = %s AND anonymized_at IS NULL FOR KEY SHARE", (user_id,)
        )
        return held.fetchone() is not None

    def affiliations(self, user_id: UUID, *, owner_id: UUID) -> Sequence[Affiliation]:
        return (
            self._connection.cursor(row_factory=kwargs_row(Affiliation))
            .execute(
                """
                SELECT   b.organization_id, bool_or(b.is_member) AS is_member,
                         EXISTS (SELECT
                                 FROM   memberships m
                                 WHERE  m.organization_id = b.organization_id
                                   AND  m.user_id = %(owner_id)s AND m.role = %(owner)s) AS is_owned,
                         o.status = 'active' AS is_active, o.mfa_required
                FROM     (SELECT organization_id, true AS is_member
                          FROM   memberships
                          WHERE  user_id = %(user_id)s AND confirmed_at IS NOT NULL
                          UNION ALL
                          -- A link that its user never used must not keep others from forgetting them.
                          SELECT organization_id, false
                          FROM   service_users
                          WHERE  user_id = %(user_id)s AND last_login_at IS NOT NULL) AS b
                JOIN     organizations o ON o.id = b.organization_id
                GROUP BY b.organization_id, o.id
                ORDER BY b.organization_id
                """,
                {"user_id": user_id, "owner_id": owner_id, "owner": OWNER},
            )
            .fetchall()
        )

    def addresses(self, user_id: UUID) -> Sequence[str]:
        return (
            self._connection.cursor(row_factory=scalar_row)
            .execute(
                """
                SELECT actor_email FROM events WHERE actor_user_id = %(user_id)s AND actor_email IS NOT NULL
                UNION
                SELECT email FROM one_time_tokens WHERE user_id = %(user_id)s AND purpose <> %(unproved)s
                UNION
                SELECT email FROM known_addresses WHERE user_id = %(user_id)s
                """,
                # The address that the person only asked to change to may belong to another person.
                {"user_id": user_id, "unproved": TokenPurpose.CHANGE_EMAIL},
            )
            .fetchall()
        )

    def shut(self, user_id: UUID, placeholder: str, *, at: datetime) -> bool:
        try:
            # A savepoint, because only the unique index detects a concurrent transaction, by an error.
            with self._connection.transaction():
                self._connection.execute(
                    """
                    UPDATE users
                    SET    email = %(email)s, email_verified_at = NULL, password_hash = NULL, mfa_enabled_at = NULL,
                           updated_at = %(at)s, deactivated_at = coalesce(deactivated_at, %(at)s),
                           closed_at = NULL, anonymized_at = %(at)s
                    WHERE  id = %(user_id)s
                    """,
                    {"email": placeholder, "at": at, "user_id": user_id},
                )
        except UniqueViolation:
            return False
        return True

    def delete_credentials(self, user_id: UUID) -> None:
        for statement in CREDENTIALS:
            self._connection.execute(statement, {"user_id": user_id, "now": self._transaction.now})

    def replace_addresses(
        self, user_id: UUID, addresses: Sequence[str], marks: Sequence[bytes], anonymous: Anonymous, *, at: datetime
    ) -> None:
        values = _values(anonymous, user_id) | {"addresses": list(addresses), "marks": list(marks), "at": at}
        for statement in ADDRESSES:
            self._connection.execute(statement, values)
        self._replace_in_details(addresses, anonymous, values)
        for find, change in WORDS:
            found = self._connection.execute(find, values).fetchall()
            self._connection.execute_each(
                change, [(Jsonb(without_addresses(texts, addresses, anonymous.email)), row) for row, texts in found]
            )

        self._replace_names(addresses, anonymous)
        self._delete_invitation_mails(user_id, addresses)

    def _replace_names(self, addresses: Sequence[str], anonymous: Anonymous) -> None:
        for organization_id, *texts in self._connection.execute(ORGANIZATIONS).fetchall():
            replaced = without_addresses(texts, addresses, anonymous.email)
            if replaced != texts:
                self._connection.execute(
                    "UPDATE organizations SET name = %s, rejection_reason = %s, suspension_reason = %s WHERE id = %s",
                    (*replaced, organization_id),
                )
        for organization_id, slug, *texts in self._connection.execute(ROLES).fetchall():
            replaced = without_addresses(texts, addresses, anonymous.email)
            if replaced != texts:
                self._connection.execute(
                    """
                    UPDATE organization_roles
                    SET    name = %s, description = %s
                    WHERE  organization_id = %s AND slug = %s
                    """,
                    (*replaced, organization_id, slug),
                )

    def _delete_invitation_mails(self, user_id: UUID, addresses: Sequence[str]) -> None:
        """Delete the mails that name the person as the inviter; their invitations are withdrawn."""
        for mail_id, sealed in self._connection.execute(INVITATION_MAILS, {"user_id": user_id}).fetchall():
            values = opened_values(self._transaction.vault, mail_id, sealed)
            if values is not None and values.get("inviter") in addresses:
                self._connection.execute("DELETE FROM mails WHERE id = %s", (mail_id,))

    def replace_origins(self, user_id: UUID, anonymous: Anonymous) -> None:
        values = _values(anonymous, user_id) | {"forced": MfaEvent.FORCE_DISABLED_BY_ADMIN}
        for find, change in ORIGINS:
            ids = self._connection.cursor(row_factory=scalar_row).execute(find, values).fetchall()
            for start in range(0, len(ids), BATCH_ROWS_MAX):
                self._connection.execute(change, values | {"ids": ids[start : start + BATCH_ROWS_MAX]})

    def _replace_in_details(self, addresses: Sequence[str], anonymous: Anonymous, values: dict[str, Any]) -> None:
        found: list[tuple[UUID, dict[str, Any]]] = self._connection.execute(DETAILS, values).fetchall()
        changed = [(row, before, without_addresses(before, addresses, anonymous.email)) for row, before in found]
        self._connection.execute_each(CHANGE_DETAILS, [(Jsonb(after), row) for row, _, after in changed])
        self._connection.execute_each(
            FORGET_DETAILS,
            [
                ([f"{DETAIL}{name}" for name, value in before.items() if after[name] != value], row)
                for row, before, after in changed
            ],
        )


def _values(anonymous: Anonymous, user_id: UUID) -> dict[str, Any]:
    return {
        "user_id": user_id,
        "placeholder": anonymous.email,
        "ip_address": anonymous.ip_address,
        "user_agent": anonymous.user_agent,
    }
