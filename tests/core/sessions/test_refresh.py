"""Refresh tokens: in any order of uses, an old token works for the grace period and then ends the session."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.deferred import Deferred
from core.events.events import EventType
from core.secrets import Secret, hash_token
from core.sessions import refresh as use_cases
from core.sessions.origins import BACKGROUND
from core.sessions.refresh import FORGIVEN_EXCHANGES_MAX, GRACE, Refreshable, RefreshRefused, TokenReused
from ports.unit_of_work import UnitOfWork
from tests.caller_values import ADA, START


@dataclass
class FakeUnitOfWork:
    """The part of the unit of work that a refresh needs, for one session; it implements the ports itself."""

    now: datetime = START
    refresh_hash: bytes = b""
    exchanged_at: list[datetime] = field(default_factory=list[datetime])
    is_alive: bool = True
    # Whether the session is the account's own, so that one statement reads it and exchanges its token.
    is_own: bool = False
    competitor: Callable[[], object] | None = None
    recorded: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def __post_init__(self) -> None:
        self.origin = BACKGROUND
        self.sessions = self.randomness = self.pepper = self.members = self.mfa_events = self

    def begin(self) -> str:
        """Return the first token of the session, and store its hash."""
        token = use_cases.first_token(cast("UnitOfWork", self), ADA.session.id).reveal()
        self.refresh_hash = hash_token(token)
        return token

    def refresh(self, token: str) -> str | None:
        """Return the next token; None when the token was refused."""
        uow = cast("UnitOfWork", self)
        try:
            outcome = use_cases.refresh(uow, token)
        except RefreshRefused:
            return None
        if isinstance(outcome, TokenReused):
            use_cases.end_reused(uow, outcome)
            return None
        return outcome.refresh_token.reveal()

    def token(self) -> Secret:
        return Secret(uuid4().hex)

    def mark(self, purpose: str, /, *parts: bytes) -> bytes:
        return hashlib.sha256(purpose.encode() + b"|".join(parts)).digest()

    def find_refreshable(self, session_id: UUID, *, is_limited: bool = False) -> Refreshable | None:
        if not self.is_alive or session_id != ADA.session.id:
            return None
        return Refreshable(
            caller=ADA,
            refresh_hash=self.refresh_hash,
            exchanged_at=self.exchanged_at,
            expires_at=START + timedelta(days=90),
        )

    def exchange(self, session_id: UUID, *, old_hash: bytes, new_hash: bytes, remembered_max: int) -> bool:
        if self.competitor is not None:
            # The competing request exchanges the token first.
            competitor, self.competitor = self.competitor, None
            competitor()
        if self.refresh_hash != old_hash or not self.is_alive:
            return False
        self.refresh_hash = new_hash
        self.exchanged_at = [self.now, *self.exchanged_at][:remembered_max]
        return True

    def exchange_own(
        self, session_id: UUID, *, old_hash: bytes, new_hash: bytes, remembered_max: int
    ) -> Refreshable | None:
        found = self.find_refreshable(session_id) if self.is_own else None
        if found is None:
            return None
        is_exchanged = self.exchange(session_id, old_hash=old_hash, new_hash=new_hash, remembered_max=remembered_max)
        return found if is_exchanged else None

    def revoke(self, session_id: UUID, *, user_id: UUID) -> Sequence[UUID | None]:
        was_alive, self.is_alive = self.is_alive, False
        return [None] if was_alive else []

    def defer_organizations_of(self, user_id: UUID | None) -> Deferred[Sequence[UUID]]:
        return list

    def publish_to_each(self, event: EventType, organization_ids: Sequence[UUID | None], /, **data: Any) -> None:
        self.recorded.append(data)

    def add(self, user_id: UUID, event_type: str, *, is_success: bool, details: dict[str, Any]) -> None:
        self.recorded.append({"event_type": event_type, **details})


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5)), max_size=25), st.booleans())
def test_an_exchanged_token_yields_the_newest_during_the_grace_period_and_then_ends_the_session(
    uses: list[tuple[int, int]], is_own: bool
) -> None:
    fake = FakeUnitOfWork(is_own=is_own)
    tokens, exchanged_at = [fake.begin()], list[datetime]()
    for seconds, age in uses:
        fake.now += timedelta(seconds=seconds)
        position = max(0, len(tokens) - 1 - age)

        answer = fake.refresh(tokens[position])

        if position == len(tokens) - 1:
            assert answer is not None
            assert answer not in tokens
            tokens.append(answer)
            exchanged_at.append(fake.now)
        elif fake.now <= exchanged_at[position] + GRACE:
            assert answer == tokens[-1]
        else:
            assert (answer, fake.is_alive) == (None, False)
            assert len(fake.recorded) == 2
            return
        assert (fake.is_alive, fake.recorded) == (True, [])


def test_the_number_of_remembered_exchanges_is_bounded() -> None:
    fake = FakeUnitOfWork()
    token = first = fake.begin()
    for _ in range(FORGIVEN_EXCHANGES_MAX * 3):
        answer = fake.refresh(token)
        assert answer is not None
        token = answer

    assert len(fake.exchanged_at) == FORGIVEN_EXCHANGES_MAX
    assert fake.refresh(first) is None


def test_two_concurrent_exchanges_return_the_same_token() -> None:
    fake = FakeUnitOfWork()
    token = fake.begin()
    first: list[str | None] = []
    fake.competitor = lambda: first.append(fake.refresh(token))

    second = fake.refresh(token)

    assert second is not None
    assert first == [second]


def test_a_refresh_that_loses_every_race_is_refused() -> None:
    class AlwaysLoses(FakeUnitOfWork):
        def exchange(self, session_id: UUID, *, old_hash: bytes, new_hash: bytes, remembered_max: int) -> bool:
            return False

    fake = AlwaysLoses()

    assert fake.refresh(fake.begin()) is None
    assert fake.is_alive


def test_a_session_that_ends_during_the_refresh_is_refused() -> None:
    fake = FakeUnitOfWork()
    token = fake.begin()

    def end() -> None:
        fake.is_alive = False

    fake.competitor = end

    assert fake.refresh(token) is None


def test_concurrent_reuses_of_a_token_are_recorded_once() -> None:
    fake = FakeUnitOfWork()
    token = fake.begin()
    fake.refresh(token)
    fake.now += GRACE + timedelta(seconds=1)
    uow = cast("UnitOfWork", fake)
    outcomes = [use_cases.refresh(uow, token) for _ in range(2)]

    for outcome in outcomes:
        assert isinstance(outcome, TokenReused)
        use_cases.end_reused(uow, outcome)

    assert len(fake.recorded) == 2
    assert fake.recorded[0]["reason"] == fake.recorded[1]["event_type"] == "refresh_token_reused"


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=100) | st.text())
def test_an_arbitrary_text_is_refused_and_does_not_end_the_session(text: str) -> None:
    fake = FakeUnitOfWork()
    fake.begin()

    assert fake.refresh(text) is None
    assert (fake.is_alive, fake.recorded) == (True, [])


@given(st.integers(0, 87), st.integers(1, 63))
def test_a_token_with_one_character_changed_is_refused(position: int, distance: int) -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    fake = FakeUnitOfWork()
    token = fake.begin()
    changed = alphabet[(alphabet.index(token[position]) + distance) % len(alphabet)]

    assert fake.refresh(token[:position] + changed + token[position + 1 :]) is None
    assert fake.is_alive


def test_a_token_is_not_printed() -> None:
    fake = FakeUnitOfWork()
    uow = cast("UnitOfWork", fake)

    token = use_cases.first_token(uow, ADA.session.id)
    fake.refresh_hash = hash_token(token.reveal())

    assert "***" in repr(token)
    assert token.reveal() not in repr(use_cases.refresh(uow, token.reveal()))


@pytest.mark.parametrize("length", [0, 87, 89, 88 * 100])
def test_a_text_of_another_length_is_refused(length: int) -> None:
    assert FakeUnitOfWork().refresh("A" * length) is None
