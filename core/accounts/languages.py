"""The language in which a person reads: chosen on a page, and kept with the account for other browsers and for mails.

What shows pages and writes mails knows the languages; here a language is a tag (BCP 47).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts.users import User

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def of_reader(uow: UnitOfWork, user: User | None) -> str | None:
    """Return the language of the person that this request writes to: the account's, else the request's.

    None when neither is known.
    """
    kept = user.language if user is not None else None
    return kept or uow.origin.language


def choose(uow: UnitOfWork, user_id: UUID, language: str) -> None:
    """Keep the language that the user of an account has chosen."""
    uow.users.set_language(user_id, language)


def keep(uow: UnitOfWork, user_id: UUID) -> None:
    """Keep the language of this request, if it is known, with the account of the user who makes it."""
    if uow.origin.language is not None:
        uow.users.set_language(user_id, uow.origin.language)
