"""Deleting the personal data of one person: the person's rows, and the mentions of the person in other rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, LiteralString
from uuid import UUID

from psycopg.errors import UniqueViolation
from psycopg.types.json import Jsonb

from adapters.postgres.admissions import IS_MEMBERSHIP, is_membership
from adapters.postgres.driver.columns import converted
from adapters.postgres.mail.mail import opened_values
from adapters.postgres.privacy import personal_data
from adapters.postgres.transaction import Aggregate
from core.accounts.one_time_tokens import TokenPurpose
from core.audit.chain import DETAIL
from core.credentials.mfa import MfaEvent
from core.deletions import AgedRows
from core.organizations.organizations import OWNER
from core.privacy.anonymization import Affiliation, Anonymous, Subject, without_addresses
from core.sessions.mfa_methods import MfaMethods

if TYPE_CHECKING:
    from core.deferred import Deferred

_affiliation: Final = converted(Affiliation, mfa_methods=MfaMethods)
# The most rows that one statement changes, so that none takes long.
BATCH_ROWS_MAX: Final = 5_000


_SUBJECT: Final = "SELECT id, email, is_platform_owner, anonymized_at FROM users WHERE id = %s"


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
        return self._one(Subject, f"{_SUBJECT} FOR UPDATE", (user_id,))

    def find(self, user_id: UUID) -> Subject | None:
        return self._one(Subject, _SUBJECT, (user_id,))

    def lock_next_closed(self, *, closed_before: datetime) -> Subject | None:
        if not self._transaction.may_delete(AgedRows.CLOSED_ACCOUNTS):
            return None
        return self._one(
            Subject,
            f"""
            SELECT   id, email, is_platform_owner, anonymized_at
            FROM     users u
            WHERE    closed_at <= %s
              AND    NOT EXISTS (SELECT
                                 FROM   memberships m
                                 WHERE  m.user_id = u.id AND {is_membership("m")}
                                   AND  (m.confirmed_at IS NOT NULL AND m.suspended_at IS NULL OR m.role = %s))
            ORDER BY closed_at
            LIMIT    1
            FOR UPDATE SKIP LOCKED
            """,
            (closed_before, OWNER),
        )

    def hold(self, user_id: UUID) -> bool:
        return self.defer_hold(user_id)()

    def defer_hold(self, user_id: UUID) -> Deferred[bool]:
        # The weakest lock, which every row that refers to the account takes as well.
        held = self._connection.cursor().defer(
            "SELECT FROM users WHERE id = %s AND anonymized_at IS NULL FOR KEY SHARE", (user_id,)
        )
        return lambda: held.fetchone() is not None

    def affiliations(self, user_id: UUID, *, owner_id: UUID) -> Sequence[Affiliation]:
        return self._all(
            _affiliation,
            f"""
            SELECT   b.organization_id, bool_or(b.is_member) AS is_member,
                     EXISTS (SELECT
                             FROM   memberships m
                             WHERE  m.organization_id = b.organization_id
                               AND  m.user_id = %(owner_id)s AND m.role = %(owner)s) AS is_owned,
                     o.status = 'active' AS is_active, o.mfa_required, o.mfa_methods
            FROM     (SELECT organization_id, true AS is_member
                      FROM   memberships
                      WHERE  user_id = %(user_id)s AND confirmed_at IS NOT NULL AND {IS_MEMBERSHIP}
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

    def may_regain_address(self, user_id: UUID, *, at: datetime) -> bool:
        return self._value(
            """
            SELECT EXISTS (SELECT
                           FROM   one_time_tokens
                           WHERE  user_id = %s AND purpose = %s AND used_at IS NULL AND expires_at > %s)
            """,
            (user_id, TokenPurpose.UNDO_EMAIL_CHANGE, at),
        )

    def addresses(self, user_id: UUID) -> Sequence[str]:
        return self._values(
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

    def shut(self, user_id: UUID, placeholder: str, *, at: datetime) -> bool:
        try:
            # A savepoint, because only the unique index detects a concurrent transaction, by an error.
            with self._connection.transaction():
                self._connection.execute(
                    """
                    UPDATE users
                    SET    email = %(email)s, email_verified_at = NULL, password_hash = NULL, mfa_enabled_at = NULL,
                           has_passkey_factor = false, name = NULL, name_asked_at = NULL, language = NULL,
                           is_platform_support = false, updated_at = %(at)s,
                           deactivated_at = coalesce(deactivated_at, %(at)s), closed_at = NULL, anonymized_at = %(at)s
                    WHERE  id = %(user_id)s
                    """,
                    {"email": placeholder, "at": at, "user_id": user_id},
                )
        except UniqueViolation:
            return False
        return True

    def delete_credentials(self, user_id: UUID) -> None:
        for statement in personal_data.CREDENTIALS:
            self._connection.execute(statement, {"user_id": user_id, "now": self._transaction.now})

    def replace_addresses(
        self, user_id: UUID, addresses: Sequence[str], marks: Sequence[bytes], anonymous: Anonymous, *, at: datetime
    ) -> None:
        values = _values(anonymous, user_id) | {"addresses": list(addresses), "marks": list(marks), "at": at}
        details = self._details(values)
        for find, changes in personal_data.ADDRESSES_IN_LOGS:
            self._change_in_logs(self._connection.execute(find, values).fetchall(), changes, values)
        values["mentioning"] = list({organization_id for organization_id, _, _ in details})
        for statement in personal_data.ADDRESSES:
            self._connection.execute(statement, values)
        self._replace_in_details(details, addresses, anonymous)
        for find, change in personal_data.WORDS:
            found = self._connection.execute(find, values).fetchall()
            self._connection.execute_each(
                change, [(Jsonb(without_addresses(texts, addresses, anonymous.email)), *key) for texts, *key in found]
            )

        self._replace_names(addresses, anonymous)
        self._delete_invitation_mails(user_id, addresses)

    def _replace_names(self, addresses: Sequence[str], anonymous: Anonymous) -> None:
        for organization_id, *texts in self._connection.execute(personal_data.ORGANIZATIONS).fetchall():
            replaced = without_addresses(texts, addresses, anonymous.email)
            if replaced != texts:
                self._connection.execute(
                    "UPDATE organizations SET name = %s, rejection_reason = %s, suspension_reason = %s WHERE id = %s",
                    (*replaced, organization_id),
                )
        for organization_id, slug, *texts in self._connection.execute(personal_data.ROLES).fetchall():
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
        organizations = self._values(personal_data.INVITING, {"user_id": user_id})
        if not organizations:
            return
        for organization_id, mail_id, sealed in self._connection.execute(
            personal_data.INVITATION_MAILS, (organizations,)
        ).fetchall():
            values = opened_values(self._transaction.vault, mail_id, sealed)
            if values is not None and values.get("inviter") in addresses:
                self._connection.execute(
                    "DELETE FROM mails WHERE organization_id = %s AND id = %s", (organization_id, mail_id)
                )

    def replace_origins(self, user_id: UUID, anonymous: Anonymous) -> None:
        values = _values(anonymous, user_id) | {"forced": MfaEvent.FORCE_DISABLED_BY_ADMIN}
        for find, changes in personal_data.ORIGINS_IN_LOGS:
            self._change_in_logs(self._connection.execute(find, values).fetchall(), changes, values)
        for find, change in personal_data.ORIGINS:
            ids = self._values(find, values)
            for start in range(0, len(ids), BATCH_ROWS_MAX):
                self._connection.execute(change, values | {"ids": ids[start : start + BATCH_ROWS_MAX]})

    def _change_in_logs(
        self, found: Sequence[tuple[UUID, Any]], changes: Sequence[LiteralString], values: dict[str, Any]
    ) -> None:
        """Change rows of logs by their organizations and ids, one organization at a time."""
        ids: dict[UUID, list[Any]] = {}
        for organization_id, row_id in sorted(found):
            ids.setdefault(organization_id, []).append(row_id)
        for change in changes:
            for organization_id, of_organization in ids.items():
                for start in range(0, len(of_organization), BATCH_ROWS_MAX):
                    batch = of_organization[start : start + BATCH_ROWS_MAX]
                    self._connection.execute(change, {**values, "organization_id": organization_id, "ids": batch})

    def _details(self, values: dict[str, Any]) -> Sequence[tuple[UUID, UUID, dict[str, Any]]]:
        """Return the organization, the id and the details of the entries that mention the addresses."""
        return self._connection.execute(personal_data.DETAILS, values).fetchall()

    def _replace_in_details(
        self, found: Sequence[tuple[UUID, UUID, dict[str, Any]]], addresses: Sequence[str], anonymous: Anonymous
    ) -> None:
        changed = [(key, before, without_addresses(before, addresses, anonymous.email)) for *key, before in found]
        self._connection.execute_each(personal_data.CHANGE_DETAILS, [(Jsonb(after), *key) for key, _, after in changed])
        self._connection.execute_each(
            personal_data.FORGET_DETAILS,
            [
                ([f"{DETAIL}{name}" for name, value in before.items() if after[name] != value], *key)
                for key, before, after in changed
            ],
        )


def _values(anonymous: Anonymous, user_id: UUID) -> dict[str, Any]:
    return {
        "user_id": user_id,
        "placeholder": anonymous.email,
        "ip_address": anonymous.ip_address,
        "user_agent": anonymous.user_agent,
    }
