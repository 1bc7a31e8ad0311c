"""The language in which a person reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from core.accounts import languages
from core.accounts.users import User
from core.sessions.origins import Origin

USER_ID = UUID(int=1)
NOW = datetime(2026, 11, 22, tzinfo=UTC)


def user(language: str | None) -> User:
    """Return an account that keeps this language."""
    return User(
        id=USER_ID,
        email="ada@example.com",
        email_verified_at=None,
        is_platform_owner=False,
        created_at=NOW,
        updated_at=NOW,
        language=language,
    )


@dataclass
class Work:
    """A unit of work that records which languages are stored."""

    origin: Origin
    stored: list[tuple[UUID, str]] = field(default_factory=list[tuple[UUID, str]])

    @property
    def users(self) -> Any:
        """The port `Users`, of which one method is called."""
        return SimpleNamespace(set_language=lambda user_id, language: self.stored.append((user_id, language)))


@pytest.mark.parametrize(
    ("kept", "of_request", "known"),
    [("de", "en", "de"), (None, "en", "en"), ("de", None, "de"), (None, None, None)],
)
def test_the_language_of_the_account_counts_before_that_of_the_request(
    kept: str | None, of_request: str | None, known: str | None
) -> None:
    uow: Any = Work(Origin(language=of_request))

    assert languages.of_reader(uow, user(kept)) == known
    assert languages.of_reader(uow, None) == of_request


def test_a_language_that_is_chosen_is_kept() -> None:
    uow: Any = Work(Origin(language="en"))

    languages.choose(uow, USER_ID, "de")

    assert uow.stored == [(USER_ID, "de")]


@pytest.mark.parametrize(("of_request", "stored"), [("de", [(USER_ID, "de")]), (None, [])])
def test_a_language_that_is_known_is_kept(of_request: str | None, stored: list[tuple[UUID, str]]) -> None:
    uow: Any = Work(Origin(language=of_request))

    languages.keep(uow, USER_ID)

    assert uow.stored == stored
