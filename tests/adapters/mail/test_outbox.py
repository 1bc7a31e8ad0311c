"""The outbox in PostgreSQL: mails commit with their cause, have one courier at a time, and are erased once sent."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import chain
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest
import structlog

from adapters.crypto.vault import MasterKey, Vault
from adapters.postgres.driver.connection import Connection
from adapters.postgres.mail.mail import PostgresMailOutbox
from core.mail import mail as messages
from core.mail.languages import LanguageChoice
from core.mail.mail import LEASE, RETENTION, RETRY_DELAYS, Mail, MailState, MailTemplate
from ports.mailboxes import WorkKind
from ports.unit_of_work import UnitOfWork
from tests.clock import SettableClock
from tests.postgres import connected
from tests.transactions import transaction_on

Transact = Callable[..., Any]


ENGLISH = LanguageChoice(known=None, account_email="", otherwise=None)
ORGANIZATION = UUID("01900000-0000-7000-8000-00000000000a")


class Changed(Exception):
    """Raised by a test to roll back."""


def queue(transact: Transact, *, to: str = "ada@example.org", **arguments: Any) -> None:
    transact(messages.send, to, MailTemplate.TEST, **arguments)


def recipients(mails: list[Mail]) -> list[str]:
    return [mail.message.to for mail in mails]


def stored(connection: Connection, column: str) -> list[Any]:
    """Return a column of all mails, oldest first."""
    rows = connection.execute("SELECT to_jsonb(mails) FROM mails ORDER BY created_at, id").fetchall()
    return [row[0][column] for row in rows]


def organization_is(connection: Connection, clock: SettableClock, status: str) -> None:
    connection.execute(
        """
        INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
        SELECT %s, 'acme', 'Acme', %s, id, %s, %s FROM tiers WHERE name = 'free'
        ON CONFLICT (id) DO UPDATE SET status = excluded.status
        """,
        (ORGANIZATION, status, clock.now, clock.now),
    )


class TestQueue:
    """Mails that a transaction queues."""

    def test_a_mail_is_claimed_as_it_was_queued(self, transact: Transact, clock: SettableClock) -> None:
        queue(transact, to="jürgen@münchen.example", link="https://x/?a=b&c", name='Ada "O\'Neil" 東京 👋')

        (mail,) = transact(messages.claim, 4)

        assert (mail.message.to, mail.message.template) == ("jürgen@münchen.example", MailTemplate.TEST)
        assert mail.message.values == {"link": "https://x/?a=b&c", "name": 'Ada "O\'Neil" 東京 👋'}
        assert (mail.state, mail.attempts, mail.due_at, mail.created_at) == (
            MailState.QUEUED,
            1,
            clock.now,
            clock.now,
        )

    def test_a_mail_is_rolled_back_with_its_transaction(self, transact: Transact) -> None:
        def change(uow: UnitOfWork) -> None:
            messages.send(uow, "ada@example.org", MailTemplate.TEST)
            raise Changed

        with pytest.raises(Changed):
            transact(change)

        assert transact(messages.claim, 4) == []

    def test_the_content_of_a_mail_is_not_readable_in_the_database(
        self, transact: Transact, connection: Connection
    ) -> None:
        queue(transact, link="https://id.example.com/s3cret")

        (row,) = connection.execute("SELECT mails::text, values_sealed FROM mails").fetchall()

        assert "s3cret" not in row[0]
        assert b"s3cret" not in row[1]

    def test_the_content_of_a_mail_cannot_be_moved_to_another_row(
        self, transact: Transact, connection: Connection
    ) -> None:
        queue(transact, to="eve@example.org")
        queue(transact, to="ada@example.org", link="https://id.example.com/s3cret")
        [sealed] = connection.execute("SELECT values_sealed FROM mails WHERE recipient = 'ada@example.org'").fetchall()
        connection.execute("UPDATE mails SET values_sealed = %s WHERE recipient = 'eve@example.org'", sealed)

        assert recipients(transact(messages.claim, 4)) == ["ada@example.org"]

    def test_queueing_a_mail_rings_the_bell_of_the_courier(
        self, connection: Connection, vault: Vault, clock: SettableClock
    ) -> None:
        transaction = transaction_on(connection, vault)
        outbox = PostgresMailOutbox(transaction)
        message = messages.MailMessage(to="ada@example.org", template=MailTemplate.TEST, values={})

        outbox.add(
            Mail(
                id=UUID(int=1),
                message=message,
                state=MailState.QUEUED,
                attempts=0,
                due_at=clock.now,
                created_at=clock.now,
            ),
            ENGLISH,
        )

        assert transaction.made_due == {WorkKind.MAIL}


class TestClaim:
    """Which mails a courier claims, and for how long."""

    def test_the_oldest_mails_are_claimed_first_up_to_the_limit(self, transact: Transact, clock: SettableClock) -> None:
        for name in ("first", "second", "third"):
            queue(transact, to=f"{name}@example.org")
            clock.advance(timedelta(seconds=1))

        assert recipients(transact(messages.claim, 2)) == ["first@example.org", "second@example.org"]
        assert recipients(transact(messages.claim, 2)) == ["third@example.org"]

    def test_a_claimed_mail_is_not_claimed_again_until_its_lease_ends(
        self, transact: Transact, clock: SettableClock
    ) -> None:
        queue(transact)
        transact(messages.claim, 4)

        clock.advance(LEASE - timedelta(microseconds=1))
        before = transact(messages.claim, 4)
        clock.advance(timedelta(microseconds=1))
        after = transact(messages.claim, 4)

        assert before == []
        assert [mail.attempts for mail in after] == [2]

    def test_a_mail_is_not_claimed_before_it_is_due(self, transact: Transact, clock: SettableClock) -> None:
        queue(transact)
        (mail,) = transact(messages.claim, 4)
        transact(messages.record_deferred, mail, "busy")

        clock.advance(RETRY_DELAYS[0] - timedelta(microseconds=1))
        before = transact(messages.claim, 4)
        clock.advance(timedelta(microseconds=1))
        after = transact(messages.claim, 4)

        assert before == []
        assert [(mail.attempts, mail.last_error) for mail in after] == [(2, "busy")]

    @pytest.mark.parametrize("record", [messages.record_sent, messages.record_kept])
    def test_a_sent_or_kept_mail_is_not_claimed_again(
        self, transact: Transact, clock: SettableClock, record: Callable[..., bool]
    ) -> None:
        queue(transact)
        (mail,) = transact(messages.claim, 4)
        transact(record, mail)

        clock.advance(timedelta(days=1))

        assert transact(messages.claim, 4) == []

    def test_concurrent_couriers_claim_different_mails(
        self, transact: Transact, database_url: str, vault: Vault, clock: SettableClock
    ) -> None:
        for number in range(40):
            queue(transact, to=f"{number}@example.org")
        couriers = 4
        barrier = Barrier(couriers)

        def claim_all() -> list[str]:
            claimed: list[str] = []
            with connected(database_url) as connection:
                barrier.wait()
                while True:
                    with connection.transaction():
                        outbox = PostgresMailOutbox(transaction_on(connection, vault))
                        mails = outbox.claim(3, now=clock.now, leased_until=clock.now + LEASE)
                    if not mails:
                        return claimed
                    claimed += recipients(list(mails))

        with ThreadPoolExecutor(couriers) as threads:
            shares = [share.result() for share in [threads.submit(claim_all) for _ in range(couriers)]]

        assert sorted(chain.from_iterable(shares)) == sorted(f"{number}@example.org" for number in range(40))

    @pytest.mark.parametrize("status", ["pending", "suspended", "rejected"])
    def test_the_mails_of_an_organization_wait_while_it_is_not_active(
        self, transact: Transact, connection: Connection, clock: SettableClock, status: str
    ) -> None:
        organization_is(connection, clock, status)
        queue(transact, organization_id=ORGANIZATION)
        queue(transact, to="nobodys@example.org")

        while_inactive = transact(messages.claim, 4)
        organization_is(connection, clock, "active")
        when_active_again = transact(messages.claim, 4)

        assert recipients(while_inactive) == ["nobodys@example.org"]
        assert [(mail.message.to, mail.organization_id) for mail in when_active_again] == [
            ("ada@example.org", ORGANIZATION)
        ]

    def test_a_mail_that_a_newer_version_queued_is_not_claimed(
        self, transact: Transact, connection: Connection
    ) -> None:
        queue(transact)
        connection.execute("UPDATE mails SET template = 'from_the_future'")

        assert transact(messages.claim, 4) == []
        assert stored(connection, "attempts") == [0]

    def test_a_mail_that_cannot_be_decrypted_fails_and_delays_no_other(
        self, transact: Transact, connection: Connection, clock: SettableClock
    ) -> None:
        foreign = PostgresMailOutbox(transaction_on(connection, Vault([MasterKey.generate()])))
        message = messages.MailMessage(to="lost@example.org", template=MailTemplate.TEST, values={})
        mail = Mail(
            id=UUID(int=1), message=message, state=MailState.QUEUED, attempts=0, due_at=clock.now, created_at=clock.now
        )
        foreign.add(mail, ENGLISH)
        queue(transact)

        with structlog.testing.capture_logs() as lines:
            claimed = transact(messages.claim, 4)

        assert recipients(claimed) == ["ada@example.org"]
        assert [line["event"] for line in lines] == ["mail.unreadable"]
        assert stored(connection, "state") == ["failed", "queued"]
        # If the key is found, an operator can queue it again.
        assert stored(connection, "values_sealed")[0] is not None


class TestSave:
    """What is stored after an attempt."""

    @pytest.mark.parametrize(
        ("record", "arguments", "state", "is_erased"),
        [
            (messages.record_sent, (), "sent", True),
            (messages.record_failed, ("no such user",), "failed", False),
            (messages.record_kept, (), "kept", False),
            (messages.record_deferred, ("busy",), "queued", False),
        ],
    )
    def test_the_content_of_a_mail_is_erased_once_it_is_sent(
        self,
        transact: Transact,
        connection: Connection,
        record: Callable[..., bool],
        arguments: tuple[str, ...],
        state: str,
        is_erased: bool,
    ) -> None:
        queue(transact, link="https://id.example.com/s3cret")
        (mail,) = transact(messages.claim, 4)

        assert transact(record, mail, *arguments) is True

        assert stored(connection, "state") == [state]
        assert [sealed is None for sealed in stored(connection, "values_sealed")] == [is_erased]
        assert stored(connection, "leased_until") == [None]

    def test_a_courier_whose_lease_has_ended_overwrites_nothing(
        self, transact: Transact, connection: Connection, clock: SettableClock
    ) -> None:
        queue(transact)
        (slow,) = transact(messages.claim, 4)
        clock.advance(LEASE)
        (quick,) = transact(messages.claim, 4)

        assert transact(messages.record_sent, quick) is True
        assert transact(messages.record_deferred, slow, "busy") is False

        assert stored(connection, "state") == ["sent"]

    def test_recording_an_outcome_is_idempotent(self, transact: Transact, connection: Connection) -> None:
        queue(transact)
        (mail,) = transact(messages.claim, 4)

        assert [transact(messages.record_sent, mail) for _ in range(2)] == [True, True]

        assert stored(connection, "state") == ["sent"]


class TestMailbox:
    """What the embedded mailbox shows, and for how long."""

    def test_the_mailbox_shows_kept_mails_newest_first(self, transact: Transact, clock: SettableClock) -> None:
        for name in ("first", "second", "third"):
            queue(transact, to=f"{name}@example.org", link=f"https://x/{name}")
            clock.advance(timedelta(seconds=1))
        for mail in transact(messages.claim, 2):
            transact(messages.record_kept, mail)

        latest = transact(messages.latest, 10)

        assert recipients(latest) == ["second@example.org", "first@example.org"]
        assert latest[0].message.values == {"link": "https://x/second"}
        assert recipients(transact(messages.latest, 1)) == ["second@example.org"]

    def test_the_mailbox_omits_mails_that_cannot_be_decrypted(
        self, transact: Transact, connection: Connection, clock: SettableClock
    ) -> None:
        queue(transact)
        (mail,) = transact(messages.claim, 4)
        transact(messages.record_kept, mail)

        outbox = PostgresMailOutbox(transaction_on(connection, Vault([MasterKey.generate()])))

        assert outbox.latest(10) == []

    def test_sent_and_kept_mails_are_deleted_after_their_retention(
        self, transact: Transact, connection: Connection, clock: SettableClock
    ) -> None:
        for record in (messages.record_sent, messages.record_kept):
            queue(transact)
            transact(record, *transact(messages.claim, 4))
        clock.advance(RETENTION)
        at_the_end = transact(messages.delete_old, 10)
        clock.advance(timedelta(microseconds=1))
        after = transact(messages.delete_old, 10)

        assert (at_the_end, after) == (0, 2)
        assert stored(connection, "id") == []

    def test_mails_are_deleted_in_batches(self, transact: Transact, clock: SettableClock) -> None:
        for _ in range(5):
            queue(transact)
            transact(messages.record_sent, *transact(messages.claim, 4))
        clock.advance(RETENTION * 2)

        assert [transact(messages.delete_old, 2) for _ in range(4)] == [2, 2, 1, 0]

    def test_a_queued_mail_is_never_deleted(self, transact: Transact, clock: SettableClock) -> None:
        queue(transact)

        clock.advance(RETENTION * 10)

        assert transact(messages.delete_old, 10) == 0
        assert len(transact(messages.claim, 4)) == 1
