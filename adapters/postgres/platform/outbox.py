"""Listing the table `mails`, whose column `values_sealed` is never read here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, LiteralString

from adapters.postgres.platform.mails import ADDRESSES_OF_OWNERS, COLUMNS, KNOWN, OF_STATE, SHOWN, listed
from adapters.postgres.transaction import Aggregate
from core.mail.mail import MailState, MailTemplate
from core.platform.mails import OutboxMail
from core.platform.outbox import ListedMail, MailOrganization
from core.positions import Position


def _found(state: MailState | None, *, is_of_recipient: bool) -> LiteralString:
    of_recipient = "AND m.recipient = %(recipient)s" if is_of_recipient else ""
    return f"FROM mails m WHERE {OF_STATE[listed(state)]} {of_recipient} AND {SHOWN}"


def browsed_page_of(
    state: MailState | None, *, is_of_recipient: bool, is_oldest_first: bool, is_from_begin: bool
) -> LiteralString:
    """Return the statement of a page; None is for every state."""
    order, beyond = ("", ">") if is_oldest_first else ("DESC", "<")
    behind = "" if is_from_begin else f"AND (m.created_at, m.id) {beyond} (%(at)s, %(id)s)"
    return f"""
        SELECT   m.*, o.id AS organization_own_id, o.slug AS organization_slug, o.name AS organization_name
        FROM     (SELECT {COLUMNS} {_found(state, is_of_recipient=is_of_recipient)} {behind}
                  ORDER BY m.created_at {order}, m.id {order}
                  LIMIT %(limit)s) AS m
        LEFT     JOIN organizations o ON o.id = m.organization_id
        ORDER BY m.created_at {order}, m.id {order}
    """


def count_of(state: MailState | None, *, is_of_recipient: bool) -> LiteralString:
    """Return the statement that counts the same mails."""
    found = _found(state, is_of_recipient=is_of_recipient)
    return f"SELECT count(*) FROM (SELECT 1 {found} LIMIT %(counted_max)s) AS counted"


UNDELIVERED_STATES: Final = (MailState.FAILED, MailState.QUEUED, MailState.ROUTED, MailState.KEPT)
# The few mails to platform owners, which are taken off what is counted.
HIDDEN: Final = f"""
    SELECT   m.state, count(*) AS mails
    FROM     mails m
    WHERE    m.state IN ('failed', 'queued', 'routed', 'kept') AND m.recipient = ANY (ARRAY({ADDRESSES_OF_OWNERS}))
    GROUP BY m.state
"""


def count_undelivered_of(state: MailState) -> LiteralString:
    """Return the statement that counts a state in its index, to a limit."""
    return f"SELECT count(*) FROM (SELECT 1 FROM mails m WHERE {OF_STATE[listed(state)]} LIMIT %(limit)s) AS counted"


class PostgresBrowsedOutbox(Aggregate):
    """The port `BrowsedOutbox`."""

    def page(
        self,
        *,
        state: MailState | None,
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

    def count(self, *, state: MailState | None, recipient: str | None, counted_max: int, hides_owners: bool) -> int:
        return self._value(
            count_of(state, is_of_recipient=recipient is not None),
            {"recipient": recipient, "known": KNOWN, "hides_owners": hides_owners, "counted_max": counted_max},
        )

    def count_undelivered(self, *, counted_max: int, hides_owners: bool) -> Mapping[MailState, int]:
        hidden: Mapping[MailState, int] = self._hidden() if hides_owners else {}
        counts = {
            state: self._defer_value_or_none(count_undelivered_of(state), {"limit": counted_max + hidden.get(state, 0)})
            for state in UNDELIVERED_STATES
        }
        return {state: min(counted_max, count() - hidden.get(state, 0)) for state, count in counts.items()}

    def _hidden(self) -> Mapping[MailState, int]:
        return {MailState(row["state"]): row["mails"] for row in self._rows(HIDDEN)}


def _listed(**columns: Any) -> ListedMail:
    of_organization = {name: columns.pop(f"organization_{name}") for name in ("own_id", "slug", "name")}
    organization = None
    if of_organization["own_id"] is not None:
        organization = MailOrganization(
            id=of_organization["own_id"], slug=of_organization["slug"], name=of_organization["name"]
        )
    template, state = MailTemplate(columns.pop("template")), MailState(columns.pop("state"))
    return ListedMail(mail=OutboxMail(template=template, state=state, **columns), organization=organization)
