"""How much there is in the sections of a person's account, for its overview."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Counting stops here.
FIGURE_MAX: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountFigures:
    """The numbers of a person's live sessions, applications, live subscriptions and organizations."""

    sessions: int
    applications: int
    subscriptions: int
    organizations: int


def read_figures(uow: UnitOfWork) -> AccountFigures:
    """Return the figures of the caller's account, as far as their session shows it."""
    caller = uow.caller
    return uow.account_figures.of_user(
        caller.account.id,
        limits=caller.shown_within,
        only_organization_id=caller.only_organization_id,
        current_id=caller.session.id,
        figure_max=FIGURE_MAX,
    )
