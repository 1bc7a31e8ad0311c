"""The outbox in the table `mails`, whose column `values_sealed` is never read here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, LiteralString
from uuid import UUID

from adapters.postgres.driver.columns import taken
from adapters.postgres.mail.mail import MailDues
from adapters.postgres.transaction import Aggregate
from core.ids import PLATFORM
from core.mail.mail import BY_ORGANIZATION, MailState, MailTemplate
from core.platform.mails import NOT_SENT, ListedMail, ListedMailState, MailOrganization, OutboxMail, OutboxPage
from core.positions import Position
from ports.mailboxes import WorkKind

# During an upgrade there may be mails of templates that this version does not know.
KNOWN: Final = [template.value for template in MailTemplate]
_BY_ORGANIZATION: Final = [template.value for template in BY_ORGANIZATION]
COLUMNS: Final = (
    "m.id, m.recipient, m.template, m.state, m.attempts, m.due_at, m.last_error,"
    " nullif(m.organization_id, '00000000-0000-0000-0000-000000000000') AS organization_id, m.created_at"
)
# The addresses of platform owners: the present ones, and those that mails about a change of address went to, which are
# the requested ones and, after a change, the former ones. Owners are few, and the addresses are read once.
ADDRESSES_OF_OWNERS: Final = """
    SELECT email FROM users WHERE is_platform_owner
    UNION ALL
    SELECT t.email FROM users o JOIN one_time_tokens t ON t.user_id = o.id WHERE o.is_platform_owner
"""
SHOWN: Final = f"""
    m.template = ANY (%(known)s)
    AND (NOT %(hides_owners)s OR m.recipient <> ALL (ARRAY({ADDRESSES_OF_OWNERS})))
"""
# The state is a part of the text, for the index of the mails that are not delivered.
OF_STATE: Final[Mapping[ListedMailState | None, LiteralString]] = {
    None: "m.state <> 'discarded'",
    ListedMailState.QUEUED: "m.state = 'queued'",
    ListedMailState.ROUTED: "m.state = 'routed'",
    ListedMailState.SENT: "m.state = 'sent'",
    ListedMailState.KEPT: "m.state = 'kept'",
    ListedMailState.FAILED: "m.state = 'failed'",
}


def _found(state: ListedMailState | None, *, is_of_recipient: bool) -> LiteralString:
    of_recipient = "AND m.recipient = %(recipient)s" if is_of_recipient else ""
    return f"FROM mails m WHERE {OF_STATE[state]} {of_recipient} AND {SHOWN}"


def page_of(state: ListedMailState | None, *, is_of_recipient: bool) -> LiteralString:
    """Return the statement of a page of mails in a state, None for all, and to one recipient."""
    return f"""
        WITH found AS MATERIALIZED (
            SELECT   {COLUMNS} {_found(state, is_of_recipient=is_of_recipient)}
            ORDER BY m.created_at DESC, m.id DESC
            LIMIT    %(counted_max)s)
        SELECT   c.total, m.*
        FROM     (SELECT count(*) AS total FROM found) AS c
        LEFT     JOIN (SELECT   *
                       FROM     found
                       ORDER BY created_at DESC, id DESC
                       LIMIT    %(limit)s OFFSET %(offset)s) AS m ON true
        ORDER BY m.created_at DESC, m.id DESC
    """


_AGAIN: Final = f"""
    UPDATE    mails AS m
    SET       due_at = %(at)s,
              attempts = CASE WHEN m.state = 'failed' THEN 0 ELSE m.attempts END,
              state = CASE WHEN m.state <> 'failed' THEN m.state
                           WHEN m.template = ANY (%(by_organization)s) AND %(has_server)s THEN 'routed'
                           ELSE 'queued' END
    WHERE     m.organization_id = %(organization_id)s AND m.id = %(mail_id)s
      AND     m.state IN ('failed', 'queued', 'routed') AND m.values_sealed IS NOT NULL
      AND     (m.leased_until IS NULL OR m.leased_until <= %(at)s)
    RETURNING {COLUMNS}
"""
# Of any organization: a mail is found by its id alone.
_OF_MAIL: Final = f"""
    SELECT m.organization_id FROM mails m WHERE m.id = %(mail_id)s AND m.state <> 'discarded' AND {SHOWN}
"""
_LOCKED: Final = f"""
    SELECT {COLUMNS}
    FROM   mails m
    WHERE  m.organization_id = %(organization_id)s AND m.id = %(mail_id)s AND m.state <> 'discarded'
    FOR    NO KEY UPDATE
"""


class PostgresPlatformMails(Aggregate):
    """The port `PlatformMails`."""

    def page(
        self,
        *,
        state: ListedMailState | None,
        recipient: str | None,
        hides_owners: bool,
        limit: int,
        offset: int,
        counted_max: int,
    ) -> OutboxPage:
        mails, total = self._page_of(
            _mail,
            page_of(state, is_of_recipient=recipient is not None),
            {
                "recipient": recipient,
                "known": KNOWN,
                "hides_owners": hides_owners,
                "limit": limit,
                "offset": offset,
                "counted_max": counted_max,
            },
        )
        return OutboxPage(total=total, mails=mails)

    def lock(self, mail_id: UUID, *, hides_owners: bool) -> OutboxMail | None:
        values = {"mail_id": mail_id, "known": KNOWN, "hides_owners": hides_owners}
        organization_id: UUID | None = self._value_or_none(_OF_MAIL, values)
        if organization_id is None:
            return None
        return self._one(_mail, _LOCKED, {"organization_id": organization_id, "mail_id": mail_id})

    def queue_again(self, mail: OutboxMail, *, at: datetime) -> OutboxMail | None:
        organization_id = mail.organization_id or PLATFORM
        has_server = self._value(
            "SELECT EXISTS (SELECT FROM mail_servers WHERE organization_id = %s)", (organization_id,)
        )
        values = {"organization_id": organization_id, "mail_id": mail.id, "at": at, "has_server": has_server}
        again = self._one(_mail, _AGAIN, values | {"by_organization": _BY_ORGANIZATION})
        if again is not None:
            MailDues(self._transaction).mark([organization_id])
            self._transaction.made_due.add(WorkKind.ROUTED_MAIL if again.state is MailState.ROUTED else WorkKind.MAIL)
        return again


def _mail(*, template: str, state: str, **columns: Any) -> OutboxMail:
    return OutboxMail(template=MailTemplate(template), state=MailState(state), **columns)


def browsed_page_of(
    state: ListedMailState | None, *, is_of_recipient: bool, is_oldest_first: bool, is_from_begin: bool
) -> LiteralString:
    """Return the statement of a page; None is for every state."""
    order, beyond = ("", ">") if is_oldest_first else ("DESC", "<")
    behind = "" if is_from_begin else f"AND (m.created_at, m.id) {beyond} (%(at)s, %(id)s)"
    return f"""
        SELECT   m.*, o.id AS own_id, o.slug AS own_slug, o.name AS own_name
        FROM     (SELECT {COLUMNS} {_found(state, is_of_recipient=is_of_recipient)} {behind}
                  ORDER BY m.created_at {order}, m.id {order}
                  LIMIT %(limit)s) AS m
        LEFT     JOIN organizations o ON o.id = m.organization_id
        ORDER BY m.created_at {order}, m.id {order}
    """


def count_of(state: ListedMailState | None, *, is_of_recipient: bool) -> LiteralString:
    """Return the statement that counts the same mails."""
    found = _found(state, is_of_recipient=is_of_recipient)
    return f"SELECT count(*) FROM (SELECT 1 {found} LIMIT %(counted_max)s) AS counted"


# The few mails to platform owners, which are taken off what is counted.
HIDDEN: Final = f"""
    SELECT   m.state, count(*) AS mails
    FROM     mails m
    WHERE    m.state IN ('failed', 'queued', 'routed', 'kept') AND m.recipient = ANY (ARRAY({ADDRESSES_OF_OWNERS}))
    GROUP BY m.state
"""


def count_undelivered_of(state: ListedMailState) -> LiteralString:
    """Return the statement that counts a state in its index, to a limit."""
    return f"SELECT count(*) FROM (SELECT 1 FROM mails m WHERE {OF_STATE[state]} LIMIT %(limit)s) AS counted"


class PostgresBrowsedOutbox(Aggregate):
    """The port `BrowsedOutbox`."""

    def page(
        self,
        *,
        state: ListedMailState | None,
        recipient: str | None,
        is_oldest_first: bool,
        after: Position | None,
        limit: int,
        hides_owners: bool,
    ) -> Sequence[ListedMail]:
        statement = browsed_page_of(
            state,
            is_of_recipient=recipient is not None,
            is_oldest_first=is_oldest_first,
            is_from_begin=after is None,
        )
        return self._all(
            _listed,
            statement,
            {
                "recipient": recipient,
                "known": KNOWN,
                "hides_owners": hides_owners,
                "at": after.at if after is not None else None,
                "id": after.id if after is not None else None,
                "limit": limit,
            },
        )

    def count(
        self, *, state: ListedMailState | None, recipient: str | None, counted_max: int, hides_owners: bool
    ) -> int:
        return self._value(
            count_of(state, is_of_recipient=recipient is not None),
            {"recipient": recipient, "known": KNOWN, "hides_owners": hides_owners, "counted_max": counted_max},
        )

    def count_undelivered(self, *, counted_max: int, hides_owners: bool) -> Mapping[ListedMailState, int]:
        hidden: Mapping[ListedMailState, int] = self._hidden() if hides_owners else {}
        counts = {
            state: self._defer_value_or_none(count_undelivered_of(state), {"limit": counted_max + hidden.get(state, 0)})
            for state in NOT_SENT
        }
        return {state: min(counted_max, count() - hidden.get(state, 0)) for state, count in counts.items()}

    def _hidden(self) -> Mapping[ListedMailState, int]:
        return {ListedMailState(row["state"]): row["mails"] for row in self._rows(HIDDEN)}


def _listed(**columns: Any) -> ListedMail:
    organization = taken(columns, "own_")
    return ListedMail(
        mail=_mail(**columns), organization=MailOrganization(**organization) if organization["id"] is not None else None
    )
