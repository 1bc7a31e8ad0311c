"""Rules of what is read, of what waits and of what is imported, each undone by one patch; `ALL_UNDONE` are all."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.accounts.own_accounts import PostgresOwnAccounts
from ports.unit_of_work import UnitOfWork
from tests.tenants.taking import Story
from tests.tenants.undone import UNDONE, Undone


def _unless_locked(_original: Any) -> Any:
    """Return a property by which an account that is deactivated signs in."""
    return property(lambda user: user.locked_at is None)


def _of_anybody(_original: Any) -> Any:
    """Return a method by which an organization activates accounts that it has not deactivated."""

    def activate(
        accounts: PostgresOwnAccounts, _organization_id: UUID, user_ids: Sequence[UUID], *, at: datetime
    ) -> None:
        accounts._connection.execute_later(
            "UPDATE users SET deactivated_at = NULL, updated_at = %s WHERE id = ANY (%s)", (at, list(user_ids))
        )

    return activate


def _by_support(original: Any) -> Any:
    """Return a use case by which support opens what was imported as blocked."""

    def unlock(uow: UnitOfWork, user_id: UUID) -> None:
        original(uow, user_id)
        uow.users.unblock_imported(user_id)

    return unlock


_BLOCK: Final = ("outlived a block",)
OPENINGS: Final = (
    Undone(
        "an account that was imported as blocked signs in by no way",
        "core.accounts.users.User",
        "may_sign_in",
        _unless_locked,
        Story.SWITCHING,
        _BLOCK,
    ),
    Undone(
        "no organization opens an account that was imported as blocked",
        "adapters.postgres.accounts.own_accounts.PostgresOwnAccounts",
        "activate",
        _of_anybody,
        Story.SWITCHING,
        _BLOCK,
    ),
    Undone(
        "support opens no account that was imported as blocked",
        "core.platform.locks",
        "unlock",
        _by_support,
        Story.SWITCHING,
        _BLOCK,
    ),
)
ALL_UNDONE: Final = (*UNDONE, *OPENINGS)
