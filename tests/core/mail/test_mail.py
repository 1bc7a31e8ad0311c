"""The life of a mail: queued, attempted a bounded number of times, and ended exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.mail import mail as messages
from core.mail.languages import LanguageChoice
from core.mail.mail import (
    ATTEMPTS_MAX,
    ERROR_CHARACTERS_MAX,
    LEASE,
    RETENTION,
    RETRY_DELAYS,
    Mail,
    MailMessage,
    MailState,
    MailTemplate,
)
from core.sessions.origins import Origin
from ports.unit_of_work import UnitOfWork
from tests.shown_text import shows

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
MESSAGE = MailMessage(
    to="ada@example.org", template=MailTemplate.TEST, values={"link": "https://id.example.com/s3cret"}
)


FIRST_TRY = Mail(id=UUID(int=1), message=MESSAGE, state=MailState.QUEUED, attempts=1, due_at=NOW, created_at=NOW)


def mail(**changes: Any) -> Mail:
    return replace(FIRST_TRY, **changes)


class FakeUnitOfWork:
    """The part of the unit of work that mail needs: the outbox, the time, and ids."""

    def __init__(self, *claimable: Mail) -> None:
        self.now = NOW
        self.mail = self
        self.randomness = self
        self.has_rate_limits = False
        self.origin = Origin(language="de")
        self.added: list[tuple[Mail, LanguageChoice]] = []
        self.saved: list[Mail] = []
        self.calls: list[dict[str, Any]] = []
        self.has_lease = True
        self._claimable = claimable

    def new_id(self) -> UUID:
        return UUID(int=7)

    def add(self, mail: Mail, choice: LanguageChoice) -> None:
        self.added.append((mail, choice))

    def claim(self, limit: int, *, now: datetime, leased_until: datetime) -> Sequence[Mail]:
        self.calls.append({"limit": limit, "now": now, "leased_until": leased_until})
        return self._claimable

    def save(self, mail: Mail) -> bool:
        self.saved.append(mail)
        return self.has_lease

    def latest(self, limit: int) -> Sequence[Mail]:
        return self._claimable[:limit]

    def forget(self, before: datetime, limit: int) -> int:
        self.calls.append({"before": before, "limit": limit})
        return 3


def uow(fake: FakeUnitOfWork) -> UnitOfWork:
    return cast("UnitOfWork", fake)


def test_a_mail_is_queued_and_due_at_once() -> None:
    fake = FakeUnitOfWork()

    messages.send(uow(fake), "ada@example.org", MailTemplate.TEST, organization_id=UUID(int=3), link="https://x")

    [(added, choice)] = fake.added
    assert added == Mail(
        id=UUID(int=7),
        message=MailMessage(to="ada@example.org", template=MailTemplate.TEST, values={"link": "https://x"}),
        state=MailState.QUEUED,
        attempts=0,
        due_at=NOW,
        created_at=NOW,
        organization_id=UUID(int=3),
    )
    assert choice == LanguageChoice(known="de", account_email="ada@example.org", otherwise="de")


def test_the_language_of_a_discarded_mail_is_chosen_as_that_of_a_mail_that_is_sent() -> None:
    fake = FakeUnitOfWork()

    for is_discarded in (False, True):
        messages.send(uow(fake), "ada@example.org", MailTemplate.RESET_PASSWORD, is_discarded=is_discarded)

    (sent, chosen), (discarded, as_chosen) = fake.added
    assert (sent.message.to, discarded.message.to) == ("ada@example.org", "")
    assert chosen == as_chosen


def test_a_claim_lasts_for_the_lease() -> None:
    fake = FakeUnitOfWork(mail())

    assert messages.claim(uow(fake), 4) == [mail()]
    assert fake.calls == [{"limit": 4, "now": NOW, "leased_until": NOW + LEASE}]


def test_a_mail_whose_attempts_were_all_interrupted_has_failed() -> None:
    fake = FakeUnitOfWork(mail(attempts=ATTEMPTS_MAX + 1), mail(attempts=ATTEMPTS_MAX))

    claimed = messages.claim(uow(fake), 4)

    assert claimed == [mail(attempts=ATTEMPTS_MAX)]
    (given_up,) = fake.saved
    assert (given_up.state, given_up.last_error) == (
        MailState.FAILED,
        "Every attempt to send this mail was interrupted.",
    )


@pytest.mark.parametrize(("attempt", "delay"), list(enumerate(RETRY_DELAYS, start=1)))
def test_a_deferred_mail_waits_longer_after_every_attempt(attempt: int, delay: timedelta) -> None:
    fake = FakeUnitOfWork()

    messages.record_deferred(uow(fake), mail(attempts=attempt), "busy")

    assert fake.saved == [mail(attempts=attempt, due_at=NOW + delay, last_error="busy")]


def test_a_mail_that_is_deferred_at_its_last_attempt_has_failed() -> None:
    fake = FakeUnitOfWork()

    messages.record_deferred(uow(fake), mail(attempts=ATTEMPTS_MAX), "busy")

    assert fake.saved == [mail(attempts=ATTEMPTS_MAX, state=MailState.FAILED, last_error="busy")]


def test_a_refused_mail_has_failed_at_once() -> None:
    fake = FakeUnitOfWork()

    messages.record_failed(uow(fake), mail(), "no such user")

    assert fake.saved == [mail(state=MailState.FAILED, last_error="no such user")]


def test_a_sent_mail_has_no_error() -> None:
    fake = FakeUnitOfWork()

    messages.record_sent(uow(fake), mail(attempts=3, last_error="busy"))

    assert fake.saved == [mail(attempts=3, state=MailState.SENT)]


def test_without_a_mail_server_a_mail_is_kept() -> None:
    fake = FakeUnitOfWork()

    messages.record_kept(uow(fake), mail())

    assert fake.saved == [mail(state=MailState.KEPT)]


def test_every_outcome_is_false_when_the_lease_was_lost() -> None:
    fake = FakeUnitOfWork()
    fake.has_lease = False

    outcomes = [
        messages.record_sent(uow(fake), mail()),
        messages.record_kept(uow(fake), mail()),
        messages.record_deferred(uow(fake), mail(), "busy"),
        messages.record_failed(uow(fake), mail(), "no such user"),
    ]

    assert outcomes == [False] * 4


def test_mails_are_deleted_after_their_retention() -> None:
    fake = FakeUnitOfWork()

    assert messages.delete_old(uow(fake), 500) == 3
    assert fake.calls == [{"before": NOW - RETENTION, "limit": 500}]


def test_the_latest_mails_are_listed_up_to_a_limit() -> None:
    fake = FakeUnitOfWork(mail(attempts=1), mail(attempts=2))

    assert messages.latest(uow(fake), 1) == (mail(attempts=1),)


def test_the_values_of_a_mail_are_not_printed() -> None:
    assert not shows(repr(mail()), "s3cret")


def test_a_mail_is_retried_for_some_hours_and_not_for_days() -> None:
    assert timedelta(hours=4) < sum(RETRY_DELAYS, timedelta()) < timedelta(hours=24)


@given(errors=st.lists(st.text(max_size=2 * ERROR_CHARACTERS_MAX), min_size=ATTEMPTS_MAX, max_size=ATTEMPTS_MAX))
def test_a_mail_that_is_always_deferred_fails_after_its_last_attempt(errors: list[str]) -> None:
    tried = mail(attempts=0)
    moments = [tried.due_at]

    for attempt, error in enumerate(errors, start=1):
        assert tried.state is MailState.QUEUED
        claimed = mail(attempts=attempt, due_at=tried.due_at)
        tried = claimed.deferred(error, at=claimed.due_at)
        moments.append(tried.due_at)
        assert len(tried.last_error or "") <= ERROR_CHARACTERS_MAX

    assert tried.state is MailState.FAILED
    assert moments == sorted(moments)


def test_every_mail_declares_its_limits() -> None:
    assert set(messages.LIMITS) == set(MailTemplate)
    assert [template for template, limits in messages.LIMITS.items() if not limits] == [
        MailTemplate.TEST,
        MailTemplate.EMAIL_CHANGED,
        MailTemplate.TAKEOVER_UNDONE,
        MailTemplate.SAML_CERTIFICATE_ENDING,
        MailTemplate.CONNECTION_KEY_ENDING,
        MailTemplate.UPSTREAM_METADATA_ENDING,
        MailTemplate.SCIM_KEPT,
        MailTemplate.IMPERSONATION_STARTED,
        MailTemplate.CUSTOMER_IMPERSONATION_STARTED,
    ]
