"""Secrets that a page shows once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from core.errors import Conflict, Refusal
from core.secrets import Secret
from core.sessions import shown_secrets
from core.sessions.shown_secrets import KEPT_MAX, LIFETIME, Holder, ToShow
from ports.unit_of_work import UnitOfWork
from tests.clock import SettableClock
from tests.ids import new_id
from tests.world.builder import Builder

PAGE = "/app/organizations/acme/keys"
SECRETS = (Secret("the-first-secret"), Secret("the-second-secret"))
Transact = Callable[..., Any]


def session_of(builder: Builder, email: str) -> Holder:
    """Insert a user with a session."""
    session_id, now = new_id(), builder.clock()
    builder.connection.execute(
        """
        INSERT INTO sessions (id, user_id, provider, amr, authenticated_at, refresh_hash, refreshed_at, expires_at,
                              created_at)
        VALUES (%s, %s, 'password', '{pwd}', %s, '', %s, %s, %s)
        """,
        (session_id, builder.user(email), now, now, now + timedelta(days=1), now),
    )
    return Holder(session_id=session_id)


@pytest.fixture
def holder(builder: Builder) -> Holder:
    """The session of a user."""
    return session_of(builder, "ada@example.com")


def kept(transact: Transact, holder: Holder, *secrets: Secret) -> UUID:
    """Keep secrets for a page, and return their id."""
    _, shown_id = transact(
        shown_secrets.keep, holder, lambda _uow: "made", lambda _made: ToShow(page=PAGE, secrets=secrets or SECRETS)
    )
    return shown_id


def shown(transact: Transact, holder: Holder, shown_id: UUID, page: str = PAGE) -> tuple[Secret, ...] | None:
    """Ask for secrets, as a page does."""
    return transact(shown_secrets.show, holder, shown_id, page=page)


def test_secrets_are_shown_once(transact: Transact, holder: Holder) -> None:
    shown_id = kept(transact, holder)

    assert shown(transact, holder, shown_id) == SECRETS
    assert shown(transact, holder, shown_id) is None


def test_another_session_and_another_page_show_nothing_and_spend_nothing(
    transact: Transact, builder: Builder, holder: Holder
) -> None:
    shown_id = kept(transact, holder)
    others = [
        session_of(builder, "eve@example.com"),
        Holder(setup_visit_hash=b"of a setup link"),
        Holder(),
    ]

    assert [shown(transact, other, shown_id) for other in others] == [None] * 3
    assert shown(transact, holder, shown_id, "/app/organizations/globex/keys") is None
    assert shown(transact, holder, new_id()) is None
    assert shown(transact, holder, shown_id) == SECRETS


def test_they_end_after_ten_minutes(transact: Transact, clock: SettableClock, holder: Holder) -> None:
    late, early = kept(transact, holder), kept(transact, holder)
    clock.advance(LIFETIME - timedelta(seconds=1))
    in_time = shown(transact, holder, early)
    clock.advance(timedelta(seconds=1))

    assert in_time == SECRETS
    assert shown(transact, holder, late) is None


def test_they_end_with_the_session(transact: Transact, builder: Builder, holder: Holder) -> None:
    shown_id = kept(transact, holder)
    builder.connection.execute("UPDATE sessions SET revoked_at = created_at")

    assert shown(transact, holder, shown_id) is None


def test_a_session_keeps_the_newest_of_many(transact: Transact, clock: SettableClock, holder: Holder) -> None:
    ids: list[UUID] = []
    for _ in range(KEPT_MAX + 1):
        ids.append(kept(transact, holder))
        clock.advance(timedelta(seconds=1))

    assert [shown(transact, holder, one) for one in ids] == [None, *[SECRETS] * KEPT_MAX]


def test_what_has_no_secret_is_kept_nowhere(transact: Transact, builder: Builder, holder: Holder) -> None:
    made = transact(shown_secrets.keep, holder, lambda _uow: "made", lambda _made: ToShow(page=PAGE, secrets=()))

    assert made == ("made", None)
    assert builder.connection.execute("SELECT FROM shown_secrets").rowcount == 0


def test_a_refusal_keeps_nothing(transact: Transact, builder: Builder, holder: Holder) -> None:
    def refuse(_uow: UnitOfWork) -> Refusal:
        return Conflict("Taken.")

    refused = transact(shown_secrets.keep, holder, refuse, lambda _made: ToShow(page=PAGE, secrets=SECRETS))

    assert isinstance(refused, Conflict)
    assert builder.connection.execute("SELECT FROM shown_secrets").rowcount == 0


def test_nothing_of_them_can_be_read_in_the_database(transact: Transact, builder: Builder, holder: Holder) -> None:
    kept(transact, holder)

    [(row,)] = builder.connection.execute("SELECT encode(secrets_sealed, 'escape') FROM shown_secrets").fetchall()
    assert "secret" not in row


def test_the_cookie_of_a_setup_is_a_holder() -> None:
    assert shown_secrets.holder_of_setup("cookie") == shown_secrets.holder_of_setup("cookie")
    assert shown_secrets.holder_of_setup("cookie") != shown_secrets.holder_of_setup("another")
