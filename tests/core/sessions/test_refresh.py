"""The law of refresh tokens: whatever the order of uses, an old one is forgiven for half a minute and then betrays."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.secrets import Secret, hash_token
from core.sessions import refresh as sessions_refresh
from core.sessions.callers import Caller
from core.sessions.refresh import FORGIVEN_EXCHANGES_MAX, GRACE, Refreshable, RefreshRefused, TokenReused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from core.deferred import Deferred
    from core.events.events import EventType
    from ports.unit_of_work import UnitOfWork

START = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
CALLER = Caller(
    user_id=uuid4(),
    email="ada@example.com",
    email_verified_at=START,
    is_platform_owner=False,
    user_created_at=START,
    session_id=uuid4(),
    amr=["pwd"],
    authenticated_at=START,
    device_id=None,
    organization_id=None,
    organization_slug=None,
    organization_status=None,
    role=None,
    custom_permissions=None,
    service_id=None,
    service_slug=None,
    service_client_id=None,
    is_end_user=False,
    impersonator_id=None,
)


@dataclass
class Installation:
    """What a refresh needs of the unit of work, for one session; it is its own ports."""

    now: datetime = START
    refresh_hash: bytes = b""
    exchanged_at: list[datetime] = field(default_factory=list[datetime])
    is_alive: bool = True
    racer: Callable[[], object] | None = None
    told: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def __post_init__(self) -> None:
        self.sessions = self.randomness = self.pepper = self.members = self.mfa_events = self

    def begin(self) -> str:
        """Make the first token of the session."""
        token = sessions_refresh.first_token(cast("UnitOfWork", self), CALLER.session_id).reveal()
        self.refresh_hash = hash_token(token)
        return token

    def refresh(self, token: str) -> str | None:
        """Exchange a token; None when it was refused."""
        uow = cast("UnitOfWork", self)
        try:
            outcome = sessions_refresh.refresh(uow, token)
        except RefreshRefused:
            return None
        if isinstance(outcome, TokenReused):
            sessions_refresh.end_reused(uow, outcome)
            return None
        return outcome.refresh_token.reveal()

    def token(self) -> Secret:
        return Secret(uuid4().hex)

    def mark(self, purpose: str, /, *parts: bytes) -> bytes:
        return hashlib.sha256(purpose.encode() + b"|".join(parts)).digest()

    def find_refreshable(self, session_id: UUID) -> Refreshable | None:
        if not self.is_alive or session_id != CALLER.session_id:
            return None
        return Refreshable(
            caller=CALLER,
            refresh_hash=self.refresh_hash,
            exchanged_at=self.exchanged_at,
            expires_at=START + timedelta(days=90),
        )

    def exchange(self, session_id: UUID, *, old_hash: bytes, new_hash: bytes, remembered_max: int) -> bool:
        if self.racer is not None:
            # Whoever is quicker does the same.
            racer, self.racer = self.racer, None
            racer()
        if self.refresh_hash != old_hash or not self.is_alive:
            return False
        self.refresh_hash = new_hash
        self.exchanged_at = [self.now, *self.exchanged_at][:remembered_max]
        return True

    def revoke(self, session_id: UUID, *, user_id: UUID) -> Sequence[UUID | None]:
        was_alive, self.is_alive = self.is_alive, False
        return [None] if was_alive else []

    def defer_organizations_of(self, user_id: UUID | None) -> Deferred[Sequence[UUID]]:
        return list

    def publish_to_each(self, event: EventType, organization_ids: Sequence[UUID | None], /, **data: Any) -> None:
        self.told.append(data)

    def add(self, user_id: UUID, event_type: str, *, is_success: bool, details: dict[str, Any]) -> None:
        self.told.append({"event_type": event_type, **details})


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5)), max_size=25))
def test_a_token_leads_to_the_newest_until_half_a_minute_after_its_exchange_and_then_ends_the_session(
    uses: list[tuple[int, int]],
) -> None:
    installation = Installation()
    tokens, exchanged_at = [installation.begin()], list[datetime]()
    for seconds, age in uses:
        installation.now += timedelta(seconds=seconds)
        position = max(0, len(tokens) - 1 - age)

        answer = installation.refresh(tokens[position])

        if position == len(tokens) - 1:
            assert answer is not None
            assert answer not in tokens
            tokens.append(answer)
            exchanged_at.append(installation.now)
        elif installation.now <= exchanged_at[position] + GRACE:
            assert answer == tokens[-1]
        else:
            assert (answer, installation.is_alive) == (None, False)
            assert len(installation.told) == 2
            return
        assert (installation.is_alive, installation.told) == (True, [])


def test_however_often_a_session_is_refreshed_what_is_kept_of_it_stays_small() -> None:
    installation = Installation()
    token = first = installation.begin()
    for _ in range(FORGIVEN_EXCHANGES_MAX * 3):
        answer = installation.refresh(token)
        assert answer is not None
        token = answer

    assert len(installation.exchanged_at) == FORGIVEN_EXCHANGES_MAX
    assert installation.refresh(first) is None


def test_of_two_racers_the_slower_gets_what_the_quicker_got() -> None:
    installation = Installation()
    token = installation.begin()
    quicker: list[str | None] = []
    installation.racer = lambda: quicker.append(installation.refresh(token))

    slower = installation.refresh(token)

    assert slower is not None
    assert quicker == [slower]


def test_whoever_loses_every_race_is_refused_rather_than_kept_waiting() -> None:
    class Elusive(Installation):
        def exchange(self, session_id: UUID, *, old_hash: bytes, new_hash: bytes, remembered_max: int) -> bool:
            return False

    installation = Elusive()

    assert installation.refresh(installation.begin()) is None
    assert installation.is_alive


def test_a_session_that_ends_in_between_is_not_gone_on_with() -> None:
    installation = Installation()
    token = installation.begin()

    def end() -> None:
        installation.is_alive = False

    installation.racer = end

    assert installation.refresh(token) is None


def test_of_several_who_find_out_that_a_token_was_copied_one_tells() -> None:
    installation = Installation()
    token = installation.begin()
    installation.refresh(token)
    installation.now += GRACE + timedelta(seconds=1)
    uow = cast("UnitOfWork", installation)
    found = [sessions_refresh.refresh(uow, token) for _ in range(2)]

    for outcome in found:
        assert isinstance(outcome, TokenReused)
        sessions_refresh.end_reused(uow, outcome)

    assert len(installation.told) == 2
    assert installation.told[0]["reason"] == installation.told[1]["event_type"] == "refresh_token_reused"


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=100) | st.text())
def test_no_invented_text_is_a_token_and_none_ends_the_session(text: str) -> None:
    installation = Installation()
    installation.begin()

    assert installation.refresh(text) is None
    assert (installation.is_alive, installation.told) == (True, [])


@given(st.integers(0, 87), st.integers(1, 63))
def test_a_token_with_one_character_changed_is_none(position: int, distance: int) -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    installation = Installation()
    token = installation.begin()
    changed = alphabet[(alphabet.index(token[position]) + distance) % len(alphabet)]

    assert installation.refresh(token[:position] + changed + token[position + 1 :]) is None
    assert installation.is_alive


def test_a_token_does_not_show_itself() -> None:
    installation = Installation()

    made = sessions_refresh.first_token(cast("UnitOfWork", installation), CALLER.session_id)

    assert "***" in repr(made)
    assert made.reveal() not in repr(
        sessions_refresh.refresh(cast("UnitOfWork", house_with(installation, made)), made.reveal())
    )


def house_with(installation: Installation, token: Secret) -> Installation:
    installation.refresh_hash = hash_token(token.reveal())
    return installation


@pytest.mark.parametrize("length", [0, 87, 89, 88 * 100])
def test_a_text_of_another_length_is_not_even_looked_at(length: int) -> None:
    assert Installation().refresh("A" * length) is None
