"""The life of a letter: queued, tried a bounded number of times, and ended exactly once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.mail import mail as messages
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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ports.unit_of_work import UnitOfWork

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
LETTER = MailMessage(to="ada@example.org", template=MailTemplate.TEST, values={"link": "https://id.example.com/s3cret"})


FIRST_TRY = Mail(id=UUID(int=1), message=LETTER, state=MailState.QUEUED, attempts=1, due_at=NOW, created_at=NOW)


def mail(**changes: Any) -> Mail:
    return replace(FIRST_TRY, **changes)


class Installation:
    """As much of a unit of work as a letter needs: its outbox, the time, and ids."""

    def __init__(self, *claimable: Mail) -> None:
        self.now = NOW
        self.mail = self
        self.randomness = self
        self.added: list[Mail] = []
        self.saved: list[Mail] = []
        self.asked: list[dict[str, Any]] = []
        self.has_lease = True
        self._claimable = claimable

    def new_id(self) -> UUID:
        return UUID(int=7)

    def add(self, mail: Mail) -> None:
        self.added.append(mail)

    def claim(self, limit: int, *, now: datetime, leased_until: datetime) -> Sequence[Mail]:
        self.asked.append({"limit": limit, "now": now, "leased_until": leased_until})
        return self._claimable

    def save(self, mail: Mail) -> bool:
        self.saved.append(mail)
        return self.has_lease

    def latest(self, limit: int) -> Sequence[Mail]:
        return self._claimable[:limit]

    def forget(self, before: datetime, limit: int) -> int:
        self.asked.append({"before": before, "limit": limit})
        return 3


def uow(installation: Installation) -> UnitOfWork:
    return cast("UnitOfWork", installation)


def test_a_letter_is_queued_and_due_at_once() -> None:
    installation = Installation()

    messages.send(
        uow(installation), "ada@example.org", MailTemplate.TEST, organization_id=UUID(int=3), link="https://x"
    )

    assert installation.added == [
        Mail(
            id=UUID(int=7),
            message=MailMessage(to="ada@example.org", template=MailTemplate.TEST, values={"link": "https://x"}),
            state=MailState.QUEUED,
            attempts=0,
            due_at=NOW,
            created_at=NOW,
            organization_id=UUID(int=3),
        )
    ]


def test_a_claim_lasts_for_the_lease() -> None:
    installation = Installation(mail())

    assert messages.claim(uow(installation), 4) == [mail()]
    assert installation.asked == [{"limit": 4, "now": NOW, "leased_until": NOW + LEASE}]


def test_a_letter_that_no_attempt_ever_reported_on_is_given_up() -> None:
    installation = Installation(mail(attempts=ATTEMPTS_MAX + 1), mail(attempts=ATTEMPTS_MAX))

    claimed = messages.claim(uow(installation), 4)

    assert claimed == [mail(attempts=ATTEMPTS_MAX)]
    (given_up,) = installation.saved
    assert (given_up.state, given_up.last_error) == (
        MailState.FAILED,
        "No attempt to send it ever came to an end.",
    )


@pytest.mark.parametrize(("attempt", "delay"), list(enumerate(RETRY_DELAYS, start=1)))
def test_a_deferred_letter_waits_longer_after_every_attempt(attempt: int, delay: timedelta) -> None:
    installation = Installation()

    messages.record_deferred(uow(installation), mail(attempts=attempt), "busy")

    assert installation.saved == [mail(attempts=attempt, due_at=NOW + delay, last_error="busy")]


def test_a_letter_that_is_deferred_at_its_last_attempt_has_failed() -> None:
    installation = Installation()

    messages.record_deferred(uow(installation), mail(attempts=ATTEMPTS_MAX), "busy")

    assert installation.saved == [mail(attempts=ATTEMPTS_MAX, state=MailState.FAILED, last_error="busy")]


def test_a_refused_letter_has_failed_at_once() -> None:
    installation = Installation()

    messages.record_failed(uow(installation), mail(), "no such user")

    assert installation.saved == [mail(state=MailState.FAILED, last_error="no such user")]


def test_a_letter_that_got_out_has_no_error_any_more() -> None:
    installation = Installation()

    messages.record_sent(uow(installation), mail(attempts=3, last_error="busy"))

    assert installation.saved == [mail(attempts=3, state=MailState.SENT)]


def test_a_letter_without_a_mail_server_is_kept() -> None:
    installation = Installation()

    messages.record_kept(uow(installation), mail())

    assert installation.saved == [mail(state=MailState.KEPT)]


def test_whoever_lost_the_lease_is_told() -> None:
    installation = Installation()
    installation.has_lease = False

    outcomes = [
        messages.record_sent(uow(installation), mail()),
        messages.record_kept(uow(installation), mail()),
        messages.record_deferred(uow(installation), mail(), "busy"),
        messages.record_failed(uow(installation), mail(), "no such user"),
    ]

    assert outcomes == [False] * 4


def test_letters_are_forgotten_after_their_retention() -> None:
    installation = Installation()

    assert messages.delete_old(uow(installation), 500) == 3
    assert installation.asked == [{"before": NOW - RETENTION, "limit": 500}]


def test_the_latest_letters_are_listed_up_to_a_limit() -> None:
    installation = Installation(mail(attempts=1), mail(attempts=2))

    assert messages.latest(uow(installation), 1) == (mail(attempts=1),)


def test_what_a_letter_says_is_not_printed() -> None:
    assert "s3cret" not in repr(mail())


def test_a_letter_is_tried_for_some_hours_and_not_for_days() -> None:
    assert timedelta(hours=4) < sum(RETRY_DELAYS, timedelta()) < timedelta(hours=24)


@given(errors=st.lists(st.text(max_size=2 * ERROR_CHARACTERS_MAX), min_size=ATTEMPTS_MAX, max_size=ATTEMPTS_MAX))
def test_however_it_goes_a_letter_that_never_gets_out_fails_after_its_last_attempt(errors: list[str]) -> None:
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
