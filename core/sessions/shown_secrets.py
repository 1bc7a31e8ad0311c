"""Secrets that a page shows once, after the form that made them.

The answer to the form leads to the page, so that reloading it repeats nothing. Until the page is opened, the secrets
are kept here, sealed, for the browser session that made them, or for the cookie of a setup link: no other session reads
them, nor does any session twice. They end with it, and after ten minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final, TypeVar
from uuid import UUID

from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.secrets import Secret, hash_token

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

Made = TypeVar("Made")

LIFETIME: Final = timedelta(minutes=10)
# The oldest go first: a browser opens the page right after the form.
KEPT_MAX: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who may see secrets: a browser session, or the cookie of a setup link, by its hash. One of the two is None."""

    session_id: UUID | None = None
    setup_visit_hash: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToShow:
    """What a form has made: its secrets, if any, and the page below which they are shown."""

    page: str
    secrets: Sequence[Secret]


def holder_of_setup(cookie: str) -> Holder:
    """Return the holder that has the cookie of a setup link."""
    return Holder(setup_visit_hash=hash_token(cookie))


def keep(
    uow: UnitOfWork, holder: Holder, make: Callable[[UnitOfWork], Made | Refusal], to_show: Callable[[Made], ToShow]
) -> tuple[Made, UUID | None] | Refusal:
    """Run the use case that makes secrets and keep them with it; return what it made, and under which id they are kept.

    The id is None when nothing secret was made. A refusal that the use case returns keeps nothing.
    """
    made = make(uow)
    if isinstance(made, Refusal):
        return made
    shown = to_show(made)
    if not shown.secrets:
        return made, None
    shown_id = uow.randomness.new_id()
    uow.shown_secrets.add(
        holder, shown_id, page=shown.page, secrets=shown.secrets, expires_at=uow.now + LIFETIME, kept_max=KEPT_MAX
    )
    return made, shown_id


def show(uow: UnitOfWork, holder: Holder, shown_id: UUID, *, page: str) -> tuple[Secret, ...] | None:
    """Return the secrets that this page shows to this holder, for the only time.

    None when they were shown, have expired, or belong to another page or holder.
    """
    return uow.shown_secrets.claim(holder, shown_id, page=page)
