"""Mails in the state `routed`, and the leases of the mail servers in `mail_servers`.

A lease of a server protects its mails, so the mails themselves are not leased.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import structlog

from adapters.crypto.vault import SealBroken, Vault
from adapters.postgres.driver.columns import assignments, values
from adapters.postgres.mail.mail import CLAIMED, TEMPLATES, MailDues, opened_mails
from adapters.postgres.transaction import Aggregate
from core.mail.mail import BY_ORGANIZATION, Mail
from core.mail.routed_mail import LeasedServer, ServerHealth
from core.mail.servers import MailServer, TlsMode
from core.secrets import Secret
from ports.mailboxes import WorkKind

_PASSWORD: Final = {"table": "mail_servers", "column": "password_sealed"}
_BY_ORGANIZATION: Final = [template.value for template in BY_ORGANIZATION]

_CLAIM: Final = f"""
    UPDATE    mails
    SET       attempts = attempts + 1
    WHERE     organization_id = %(organization_id)s AND state = 'routed' AND id IN (
                  SELECT   id
                  FROM     mails
                  WHERE    organization_id = %(organization_id)s AND state = 'routed' AND due_at <= %(now)s
                  AND      template = ANY (%(templates)s)
                  ORDER BY due_at
                  LIMIT    %(mails_max)s)
    RETURNING {CLAIMED}
"""

log = structlog.get_logger(__name__)


class PostgresRoutedMail(Aggregate):
    """The port `RoutedMail`."""

    def has_server(self, organization_id: UUID) -> bool:
        found = self._value_or_none(
            "SELECT true FROM mail_servers WHERE organization_id = %s FOR KEY SHARE", (organization_id,)
        )
        return found is not None

    def lease(self, servers_max: int, mails_max: int, *, leased_until: datetime) -> Sequence[LeasedServer]:
        now = self._transaction.now
        rows = self._rows(
            """
            WITH due AS MATERIALIZED (
                SELECT   s.organization_id
                FROM     mail_servers s
                JOIN     mail_dues d ON d.organization_id = s.organization_id AND d.routed_at <= %(now)s
                WHERE    (s.leased_until IS NULL OR s.leased_until <= %(now)s)
                AND      (s.next_attempt_at IS NULL OR s.next_attempt_at <= %(now)s)
                AND      EXISTS (SELECT
                                 FROM   organizations o
                                 WHERE  o.id = s.organization_id AND o.status = 'active')
                -- A lease that was released ended then, so this is when the server was last used.
                ORDER BY s.leased_until NULLS FIRST
                LIMIT    %(limit)s
                FOR      NO KEY UPDATE OF s SKIP LOCKED
            )
            UPDATE    mail_servers s
            SET       leased_until = %(leased_until)s
            FROM      due
            WHERE     s.organization_id = due.organization_id
            RETURNING s.organization_id, host, port, tls, username, password_sealed, from_name, from_email,
                      updated_at, failures, failing_since, next_attempt_at, last_error, last_success_at
            """,
            {"now": now, "limit": servers_max, "leased_until": leased_until},
        )
        readable = [(row, server) for row in rows if (server := self._readable(row)) is not None]
        mails = self._claim([row["organization_id"] for row, _ in readable], mails_max)
        unused = [row["organization_id"] for row, _ in readable if row["organization_id"] not in mails]
        self._end_leases(unused, leased_until)
        MailDues(self._transaction).put_off(unused, "routed")
        return [
            LeasedServer(
                organization_id=row["organization_id"],
                server=server,
                health=health_of(row),
                settings_at=row["updated_at"],
                leased_until=leased_until,
                mails=mails[row["organization_id"]],
            )
            for row, server in readable
            if row["organization_id"] in mails
        ]

    def save_health(self, leased: LeasedServer, health: ServerHealth) -> bool:
        return self._changes_one(
            f"""
            UPDATE mail_servers
            SET    {assignments(ServerHealth)}
            WHERE  organization_id = %(organization_id)s AND leased_until = %(leased_until)s
              AND  updated_at = %(settings_at)s
            """,
            values(health)
            | {
                "organization_id": leased.organization_id,
                "leased_until": leased.leased_until,
                "settings_at": leased.settings_at,
            },
        )

    def release(self, leased: LeasedServer) -> None:
        self._end_leases([leased.organization_id], leased.leased_until)

    def put_back(self, organization_id: UUID, mail_ids: Sequence[UUID]) -> None:
        self._connection.execute_later(
            """
            UPDATE mails
            SET    attempts = attempts - 1
            WHERE  organization_id = %s AND id = ANY (%s) AND state = 'routed' AND attempts > 0
            """,
            (organization_id, list(mail_ids)),
        )

    def expire(self, queued_before: datetime, limit: int, *, error: str) -> int:
        ids: list[UUID] = self._values(
            "SELECT id FROM mails WHERE state = 'routed' AND created_at < %s LIMIT %s", (queued_before, limit)
        )
        if not ids:
            return 0
        return self._connection.execute(
            """
            UPDATE mails
            SET    state = 'failed', last_error = %s, values_sealed = NULL
            WHERE  id = ANY (%s) AND state = 'routed'
            """,
            (error, ids),
        ).rowcount

    def count(self, organization_id: UUID) -> int:
        return self._value(
            "SELECT count(*) FROM mails WHERE organization_id = %s AND state = 'routed'", (organization_id,)
        )

    def reroute(self, organization_id: UUID, *, has_server: bool) -> None:
        self._connection.execute(
            """
            UPDATE mails
            SET    state = CASE WHEN %(has_server)s THEN 'routed' ELSE 'queued' END, due_at = %(now)s, attempts = 0
            WHERE  organization_id = %(organization_id)s AND template = ANY (%(templates)s)
            -- A mail that a courier of the platform has claimed is on its way.
            AND    (state = 'routed' OR (%(has_server)s AND state = 'queued'
                                         AND (leased_until IS NULL OR leased_until <= %(now)s)))
            """,
            {
                "organization_id": organization_id,
                "has_server": has_server,
                "now": self._transaction.now,
                "templates": _BY_ORGANIZATION,
            },
        )
        MailDues(self._transaction).mark([organization_id])
        self._transaction.made_due.add(WorkKind.ROUTED_MAIL if has_server else WorkKind.MAIL)

    def _end_leases(self, organization_ids: Sequence[UUID], leased_until: datetime) -> None:
        self._connection.execute_later(
            "UPDATE mail_servers SET leased_until = %s WHERE organization_id = ANY (%s) AND leased_until = %s",
            (self._transaction.now, list(organization_ids), leased_until),
        )

    def _claim(self, organization_ids: Sequence[UUID], mails_max: int) -> dict[UUID, list[Mail]]:
        """Return the next mails of each organization that has any."""
        values = {"now": self._transaction.now, "templates": TEMPLATES, "mails_max": mails_max}
        claimed = [self._defer_rows(_CLAIM, values | {"organization_id": each}) for each in organization_ids]
        found = {each: read() for each, read in zip(organization_ids, claimed, strict=True)}
        return {each: opened_mails(self._transaction, rows) for each, rows in found.items() if rows}

    def _readable(self, row: Mapping[str, Any]) -> MailServer | None:
        try:
            return opened_server(self._transaction.vault, row)
        except SealBroken as broken:
            # It stays leased, so that it is tried again after the lease and holds up no other server.
            log.error(  # noqa: TRY400 - an expected failure, not a crash
                "mail.server_unreadable", organization_id=str(row["organization_id"]), reason=str(broken)
            )
            return None


def opened_server(vault: Vault, row: Mapping[str, Any]) -> MailServer:
    """Return the mail server of a row; raise `SealBroken` when a master key is missing."""
    sealed = row["password_sealed"]
    return MailServer(
        host=row["host"],
        port=row["port"],
        tls=TlsMode(row["tls"]),
        username=row["username"],
        password=Secret(vault.open(sealed, row=row["organization_id"], **_PASSWORD).decode()) if sealed else None,
        from_name=row["from_name"],
        from_email=row["from_email"],
    )


def sealed_password(vault: Vault, organization_id: UUID, server: MailServer) -> bytes | None:
    """Return the encrypted password of a mail server; None when it has none."""
    if server.password is None:
        return None
    return vault.seal(server.password.reveal().encode(), row=organization_id, **_PASSWORD)


def health_of(row: Mapping[str, Any]) -> ServerHealth:
    """Return the health that a row of `mail_servers` states."""
    return ServerHealth(**{field.name: row[field.name] for field in fields(ServerHealth)})
