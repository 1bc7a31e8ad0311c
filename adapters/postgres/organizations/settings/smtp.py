"""The settings in the table `mail_servers`; `adapters/postgres/mail/routed_mail.py` leases its rows."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.mail.routed_mail import health_of, opened_server, sealed_password
from adapters.postgres.transaction import Aggregate
from core.mail.servers import MailServer
from core.organizations.settings.smtp import MailServerTrial, OwnerContact, StoredServer
from ports.mailboxes import WorkKind

_OWNER: Final = """
    SELECT u.email, o.name AS organization_name
    FROM   organizations o
    JOIN   memberships m ON m.organization_id = o.id AND m.role = 'owner'
    JOIN   users u ON u.id = m.user_id
    WHERE  o.id = %s
"""


class PostgresMailServers(Aggregate):
    """The port `MailServers`."""

    def find(self, organization_id: UUID) -> StoredServer | None:
        row = self._row(
            """
            SELECT organization_id, host, port, tls, username, password_sealed, from_name, from_email, created_at,
                   updated_at, failures, failing_since, next_attempt_at, last_error, last_success_at, last_tested_at,
                   last_test_accepted, last_test_answer
            FROM   mail_servers
            WHERE  organization_id = %s
            """,
            (organization_id,),
        )
        if row is None:
            return None
        return StoredServer(
            server=opened_server(self._transaction.vault, row),
            health=health_of(row),
            trial=_trial_of(row),
            created_at=row["created_at"],
            updated_at=row["updated_at"],
        )

    def save(self, organization_id: UUID, server: MailServer) -> None:
        # The lease stays: while a courier hands a mail over, no other one begins.
        self._connection.execute(
            """
            INSERT INTO mail_servers (organization_id, host, port, tls, username, password_sealed, from_name,
                                      from_email, created_at, updated_at)
            VALUES (%(organization_id)s, %(host)s, %(port)s, %(tls)s, %(username)s, %(password_sealed)s, %(from_name)s,
                    %(from_email)s, %(now)s, %(now)s)
            ON CONFLICT (organization_id) DO UPDATE
            SET host = excluded.host, port = excluded.port, tls = excluded.tls, username = excluded.username,
                password_sealed = excluded.password_sealed, from_name = excluded.from_name,
                from_email = excluded.from_email, updated_at = excluded.updated_at,
                failures = 0, failing_since = NULL, next_attempt_at = NULL, last_error = NULL,
                last_tested_at = NULL, last_test_accepted = NULL, last_test_answer = NULL
            """,
            {
                "organization_id": organization_id,
                "host": server.host,
                "port": server.port,
                "tls": server.tls.value,
                "username": server.username,
                "password_sealed": sealed_password(self._transaction.vault, organization_id, server),
                "from_name": server.from_name,
                "from_email": server.from_email,
                "now": self._transaction.now,
            },
        )

    def remove(self, organization_id: UUID) -> None:
        self._connection.execute("DELETE FROM mail_servers WHERE organization_id = %s", (organization_id,))

    def save_trial(self, organization_id: UUID, trial: MailServerTrial, *, settings_at: datetime) -> None:
        self._connection.execute_later(
            """
            UPDATE mail_servers
            SET    last_tested_at = %s, last_test_accepted = %s, last_test_answer = %s
            WHERE  organization_id = %s AND updated_at = %s
            """,
            (trial.tested_at, trial.is_accepted, trial.answer, organization_id, settings_at),
        )

    def mark_working(self, organization_id: UUID, *, settings_at: datetime) -> None:
        self._connection.execute_later(
            """
            UPDATE mail_servers
            SET    failures = 0, failing_since = NULL, next_attempt_at = NULL, last_error = NULL, last_success_at = %s
            WHERE  organization_id = %s AND updated_at = %s
            """,
            (self._transaction.now, organization_id, settings_at),
        )
        self._transaction.made_due.add(WorkKind.ROUTED_MAIL)

    def owner_contact(self, organization_id: UUID) -> OwnerContact:
        return self._only(OwnerContact, _OWNER, (organization_id,))

    def find_owner(self, organization_id: UUID) -> OwnerContact | None:
        return self._one(OwnerContact, _OWNER, (organization_id,))


def _trial_of(row: Mapping[str, Any]) -> MailServerTrial | None:
    if row["last_tested_at"] is None:
        return None
    return MailServerTrial(
        tested_at=row["last_tested_at"], is_accepted=row["last_test_accepted"], answer=row["last_test_answer"]
    )
