"""The outbox in the table `mails`. The values of a mail are sealed, and erased by the statement that sends it.

Mails are looked for, locked and written for one organization at a time. The table `mail_dues` says when each may have
one to send. The transaction that makes a mail due sets the time, and keeps it from being postponed until it has ended;
so a time may be too early, but never too late. `queued` mails leave through the platform's mail server, `routed` ones
through their organization's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal, LiteralString, NamedTuple, TypeAlias
from uuid import UUID

import structlog

from adapters.crypto.vault import SealBroken, Vault
from adapters.postgres.driver.connection import Connection
from adapters.postgres.transaction import Aggregate, Transaction
from core.deletions import AgedRows
from core.ids import PLATFORM
from core.mail.languages import LanguageChoice
from core.mail.mail import Mail, MailMessage, MailState, MailTemplate
from ports.mailboxes import WorkKind

# During an upgrade an older replica does not claim mails whose template it does not know.
TEMPLATES = [template.value for template in MailTemplate]
CLAIMED: Final = """
    id, organization_id, recipient, template, values_sealed, state, attempts, due_at, last_error, created_at, language
"""
_SEALED_COLUMN = {"table": "mails", "column": "values_sealed"}
# A claim considers this many organizations that have waited longest, and takes their mails that have waited longest.
_ORGANIZATIONS_MAX: Final = 20
_DUE: Final = """
    SELECT   organization_id
    FROM     mail_dues
    WHERE    queued_at <= %(now)s
    -- Not EXISTS, for which the planner reads all organizations to look up a few mails.
    AND      coalesce((SELECT o.status
                       FROM   organizations o
                       WHERE  o.id = mail_dues.organization_id), 'active') = 'active'
    ORDER BY queued_at
    LIMIT    %(limit)s
"""
_FIRST: Final = """
    SELECT   organization_id, id, due_at
    FROM     mails
    WHERE    organization_id = %(organization_id)s AND state = 'queued' AND due_at <= %(now)s
    AND      (leased_until IS NULL OR leased_until <= %(now)s) AND template = ANY (%(templates)s)
    ORDER BY due_at
    LIMIT    %(limit)s
    FOR      NO KEY UPDATE SKIP LOCKED
"""
# They are locked.
_CLAIM: Final = f"""
    UPDATE    mails
    SET       attempts = attempts + 1, leased_until = %(leased_until)s
    WHERE     organization_id = %(organization_id)s AND id = ANY (%(ids)s)
    RETURNING {CLAIMED}
"""
_ADD: Final = """
    INSERT INTO mails (id, organization_id, recipient, template, values_sealed, state, attempts, due_at, created_at,
                       language)
    SELECT id, organization_id, recipient, template, values_sealed, state, attempts, due_at, created_at,
           coalesce(known,
                    (SELECT u.language FROM users u WHERE u.email = account_email),
                    otherwise,
                    (SELECT u.language
                     FROM   memberships m
                     JOIN   users u ON u.id = m.user_id
                     WHERE  m.organization_id = added.organization_id AND m.role = 'owner'))
    FROM   {} AS added (id, organization_id, recipient, template, values_sealed, state, attempts, due_at, created_at,
                        known, account_email, otherwise)
"""
# Of a single row PostgreSQL knows how many there are, so that it need not plan for the values each time.
_ADD_ONE: Final = _ADD.format(
    """
    (VALUES (%s::uuid, %s::uuid, %s::text, %s::text, %s::bytea, %s::text, %s::integer, %s::timestamptz,
             %s::timestamptz, %s::text, %s::text, %s::text))
    """
)
# Of `added`.
_COLUMNS: Final = 12
_ADD_EACH: Final = _ADD.format(
    """
    unnest(%s::uuid[], %s::uuid[], %s::text[], %s::text[], %s::bytea[], %s::text[], %s::integer[], %s::timestamptz[],
           %s::timestamptz[], %s::text[], %s::text[], %s::text[])
    """
)
_OLD: Final = """
    SELECT   id
    FROM     mails
    WHERE    created_at < %(before)s AND state NOT IN ('queued', 'routed')
    ORDER BY created_at, id
    LIMIT    %(limit)s
"""
_FORGET: Final = "DELETE FROM mails WHERE id = ANY (%(ids)s) AND state NOT IN ('queued', 'routed')"
log = structlog.get_logger(__name__)


class _Due(NamedTuple):
    """A mail that is due."""

    organization_id: UUID
    id: UUID
    due_at: datetime


def opened_values(vault: Vault, mail_id: UUID, sealed: bytes) -> dict[str, str] | None:
    """Return the decrypted values of a mail; log it and return None when they cannot be decrypted."""
    try:
        return json.loads(vault.open(sealed, row=mail_id, **_SEALED_COLUMN))
    except SealBroken as broken:
        log.error("mail.unreadable", mail_id=str(mail_id), reason=str(broken))  # noqa: TRY400 - an expected failure, not a crash
        return None


class PostgresMailOutbox(Aggregate):
    """The port `MailOutbox`."""

    def add_lock_link(self, token_hash: bytes, address: str, *, until: datetime) -> None:
        self._connection.execute_later(
            """
            INSERT INTO one_time_tokens (token_hash, purpose, user_id, email, created_at, expires_at)
            SELECT %s, 'lock_account', id, email, %s, %s
            FROM   users
            WHERE  email = %s
            """,
            (token_hash, self._transaction.now, until, address),
        )

    def add(self, mail: Mail, choice: LanguageChoice) -> None:
        self.add_each([(mail, choice)])

    def add_each(self, mails: Sequence[tuple[Mail, LanguageChoice]]) -> None:
        rows = [
            (
                mail.id,
                mail.organization_id or PLATFORM,
                mail.message.to,
                mail.message.template.value,
                self._sealed(mail),
                mail.state.value,
                mail.attempts,
                mail.due_at,
                mail.created_at,
                choice.known,
                choice.account_email,
                choice.otherwise,
            )
            for mail, choice in mails
        ]
        is_one = len(rows) == 1
        self._connection.execute_later(
            _ADD_ONE if is_one else _ADD_EACH,
            rows[0] if is_one else [[row[place] for row in rows] for place in range(_COLUMNS)],
        )
        # Also for discarded ones, which take the same work.
        MailDues(self._transaction).mark(mail.organization_id or PLATFORM for mail, _ in mails)
        self._transaction.made_due.update(_kind(mail) for mail, _ in mails)

    def claim(self, limit: int, *, now: datetime, leased_until: datetime) -> Sequence[Mail]:
        organization_ids: list[UUID] = self._values(_DUE, {"now": now, "limit": _ORGANIZATIONS_MAX})
        values = {"now": now, "templates": TEMPLATES, "limit": limit, "leased_until": leased_until}
        looked_for = [self._defer_all(_Due, _FIRST, values | {"organization_id": each}) for each in organization_ids]
        found = [mail for read in looked_for for mail in read()]
        chosen = sorted(found, key=lambda mail: mail.due_at)[:limit]
        claimed = [
            self._defer_rows(_CLAIM, values | {"organization_id": each, "ids": mail_ids})
            for each, mail_ids in _by_organization(chosen).items()
        ]
        rows = [row for read in claimed for row in read()]
        with_mails = {mail.organization_id for mail in found}
        without_mails = [each for each in organization_ids if each not in with_mails]
        MailDues(self._transaction).put_off(without_mails, "queued")
        return opened_mails(self._transaction, rows)

    def save(self, mail: Mail) -> bool:
        # Every claim increments the attempts, so their number identifies the latest claim.
        return self._changes_one(
            """
            UPDATE mails
            SET    state = %(state)s,
                   due_at = %(due_at)s,
                   last_error = %(last_error)s,
                   leased_until = NULL,
                   values_sealed = CASE WHEN %(state)s = 'sent' THEN NULL ELSE values_sealed END
            WHERE  organization_id = %(organization_id)s AND id = %(id)s
            AND    attempts = %(attempts)s
            """,
            {
                "state": mail.state.value,
                "due_at": mail.due_at,
                "last_error": mail.last_error,
                "organization_id": mail.organization_id or PLATFORM,
                "id": mail.id,
                "attempts": mail.attempts,
            },
        )

    def latest(self, limit: int) -> Sequence[Mail]:
        rows = self._rows(
            f"""
            SELECT   {CLAIMED}
            FROM     mails
            WHERE    state = 'kept'
            AND      template = ANY (%s)
            ORDER BY created_at DESC, id DESC
            LIMIT    %s
            """,
            (TEMPLATES, limit),
        )
        return [mail for row in rows if (mail := _opened(self._transaction.vault, row)) is not None]

    def forget(self, before: datetime, limit: int) -> int:
        if not self._transaction.may_delete(AgedRows.MAILS):
            return 0
        ids: list[UUID] = self._values(_OLD, {"before": before, "limit": limit})
        return self._connection.execute(_FORGET, {"ids": ids}).rowcount if ids else 0

    def mark_overlooked(self, organization_ids: Sequence[UUID]) -> int:
        return MailDues(self._transaction).mark_overlooked(organization_ids)

    def _sealed(self, mail: Mail) -> bytes:
        values = json.dumps(dict(mail.message.values), ensure_ascii=False).encode()
        return self._transaction.vault.seal(values, row=mail.id, **_SEALED_COLUMN)


def _by_organization(mails: Sequence[_Due]) -> dict[UUID, list[UUID]]:
    mail_ids: dict[UUID, list[UUID]] = {}
    for mail in mails:
        mail_ids.setdefault(mail.organization_id, []).append(mail.id)
    return mail_ids


def _kind(mail: Mail) -> WorkKind:
    return WorkKind.ROUTED_MAIL if mail.state is MailState.ROUTED else WorkKind.MAIL


def opened_mails(transaction: Transaction, rows: Sequence[dict[str, Any]]) -> list[Mail]:
    """Return the claimed mails of these rows in the order in which they are due; unreadable ones have failed."""
    opened: list[Mail] = []
    for row in rows:
        mail = _opened(transaction.vault, row)
        # One mail that cannot be decrypted must not hold up all the others.
        if mail is None:
            _fail_unreadable(transaction.connection, row["organization_id"], row["id"])
        else:
            opened.append(mail)
    return sorted(opened, key=lambda mail: (mail.due_at, mail.id))


def _opened(vault: Vault, row: dict[str, Any]) -> Mail | None:
    values = opened_values(vault, row["id"], row["values_sealed"])
    if values is None:
        return None
    return Mail(
        id=row["id"],
        message=MailMessage(
            to=row["recipient"], template=MailTemplate(row["template"]), values=values, language=row["language"]
        ),
        state=MailState(row["state"]),
        attempts=row["attempts"],
        due_at=row["due_at"],
        created_at=row["created_at"],
        organization_id=row["organization_id"] if row["organization_id"] != PLATFORM else None,
        last_error=row["last_error"],
    )


def _fail_unreadable(connection: Connection, organization_id: UUID, mail_id: UUID) -> None:
    # The sealed values stay, in case the key is found.
    connection.execute_later(
        """
        UPDATE mails
        SET    state = 'failed',
               leased_until = NULL,
               last_error = 'The content cannot be decrypted with the configured master keys.'
        WHERE  organization_id = %s AND id = %s
        """,
        (organization_id, mail_id),
    )


_COUNT: Final = """
    INSERT INTO mail_counts AS counted (key, sent_at, expires_at)
    SELECT key, ARRAY[%(at)s::timestamptz], %(at)s + %(period)s FROM unnest(%(keys)s::bytea[]) AS key
    ON CONFLICT (key) DO UPDATE
    SET   sent_at = (%(at)s || counted.sent_at)[:%(mails_max)s], expires_at = excluded.expires_at
    WHERE coalesce(counted.sent_at[%(mails_max)s] <= %(at)s - %(period)s, true)
    RETURNING key
"""


class PostgresMailCounts(Aggregate):
    """The port `MailCounts`."""

    def add_each(self, keys: Sequence[bytes], mails_max: int, period: timedelta, *, at: datetime) -> Sequence[bytes]:
        values = {"keys": list(keys), "at": at, "period": period, "mails_max": mails_max}
        return self._values(_COUNT, values)

    def add(self, key: bytes, mails_max: int, period: timedelta, *, at: datetime) -> datetime | None:
        # The update locks the row and reads its newest version, so of two racers for the last place one is refused.
        is_counted = self.add_each([key], mails_max, period, at=at)
        if is_counted:
            return None
        return self._filled_until(key, mails_max, period)

    def free_at(self, key: bytes, mails_max: int, period: timedelta, *, at: datetime) -> datetime | None:
        until = self._filled_until(key, mails_max, period)
        return until if until is not None and until > at else None

    def _filled_until(self, key: bytes, mails_max: int, period: timedelta) -> datetime | None:
        oldest = self._value_or_none("SELECT sent_at[%s] FROM mail_counts WHERE key = %s", (mails_max, key))
        return oldest + period if oldest is not None else None

    def take_back(self, key: bytes) -> None:
        self._connection.execute_later("UPDATE mail_counts SET sent_at = sent_at[2:] WHERE key = %s", (key,))

    def remove(self, keys: Sequence[bytes]) -> int:
        return self._connection.execute("DELETE FROM mail_counts WHERE key = ANY (%s)", (list(keys),)).rowcount


Waiting: TypeAlias = Literal["queued", "routed"]
_PAUSE: Final = timedelta(seconds=10)
MARK: Final = "SELECT mark_mails_due(one, %s) FROM unnest(%s::uuid[]) AS one"


def _next(waiting: Waiting) -> LiteralString:
    # Two ranges of the index: mails that wait for their time, and among due mails only leased ones. These are checked
    # again before the lease ends: on a cluster, a lease may still be seen a moment after it has ended.
    return f"""
        SELECT least((SELECT   due_at
                      FROM     mails
                      WHERE    organization_id = %(organization_id)s AND state = '{waiting}'
                      AND      (leased_until IS NULL OR leased_until <= %(now)s)
                      ORDER BY due_at
                      LIMIT    1),
                     (SELECT min(least(leased_until, %(looked_at_again)s))
                      FROM   mails
                      WHERE  organization_id = %(organization_id)s AND state = '{waiting}'
                      AND    due_at <= %(now)s AND leased_until > %(now)s))
    """


def _put_off(waiting: Waiting) -> LiteralString:
    return f"""
        UPDATE mail_dues
        SET    {waiting}_at = next.at
        FROM   unnest(%s::uuid[], %s::timestamptz[]) AS next (organization_id, at)
        WHERE  mail_dues.organization_id = next.organization_id
    """


NEXT: Final[dict[Waiting, LiteralString]] = {"queued": _next("queued"), "routed": _next("routed")}
PUT_OFF: Final[dict[Waiting, LiteralString]] = {"queued": _put_off("queued"), "routed": _put_off("routed")}


class MailDues(Aggregate):
    """The marks of the organizations whose mails wait."""

    def mark(self, organization_ids: Iterable[UUID]) -> None:
        """Mark that these organizations have mails that are due; the platform has the id of zeros."""
        self._connection.execute_later(MARK, (self._transaction.now, sorted(set(organization_ids))))

    def put_off(self, organization_ids: Sequence[UUID], waiting: Waiting) -> None:
        """Set the times of organizations without a due mail to the times of their next mails.

        An organization for which another transaction makes a mail due is left as it is. The locks are held to the end
        of the transaction, so this comes last.
        """
        if not organization_ids:
            return
        free = self._values(
            "SELECT organization_id FROM mail_dues WHERE organization_id = ANY (%s) FOR UPDATE SKIP LOCKED",
            (list(organization_ids),),
        )
        # Statements of their own: they see the mails that were stored until the locks were taken.
        now = self._transaction.now
        times_known = {"now": now, "looked_at_again": now + _PAUSE}
        found = [
            self._defer_value_or_none(NEXT[waiting], {"organization_id": organization_id, **times_known})
            for organization_id in free
        ]
        # A mail that is due, and is not to be had by this version, is looked for again a little later.
        times = [
            next_at if next_at is None or next_at > now else now + _PAUSE for next_at in (read() for read in found)
        ]
        self._connection.execute_later(PUT_OFF[waiting], (free, times))

    def mark_overlooked(self, organization_ids: Sequence[UUID]) -> int:
        """Mark each of these organizations that exists and is not due soon; return how many."""
        if not organization_ids:
            return 0
        unmarked: list[UUID] = self._values(
            """
            SELECT   one.id
            FROM     unnest(%(found)s::uuid[]) AS one (id)
            LEFT     JOIN mail_dues d ON d.organization_id = one.id
            WHERE    coalesce(d.queued_at > %(soon)s, true) AND coalesce(d.routed_at > %(soon)s, true)
            AND      (one.id = %(platform)s OR EXISTS (SELECT FROM organizations o WHERE o.id = one.id))
            """,
            {"found": list(organization_ids), "soon": self._transaction.now + _PAUSE, "platform": PLATFORM},
        )
        if unmarked:
            self.mark(unmarked)
        return len(unmarked)
