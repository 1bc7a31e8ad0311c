"""The links that letters bring: how one is sent, and what to say to whoever opens one that is no good.

A link holds a one-time token of its purpose and is good as long as the account still has the address that it was sent
to. Asking for one is the same work whether or not somebody has the address: without an account a token of nobody and a
discarded letter are written instead, and the address that was asked for is stored nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.accounts import one_time_tokens
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.return_targets import ReturnTarget
from core.errors import BadRequest
from core.mail import mail
from core.secrets import hash_token

if TYPE_CHECKING:
    from core.accounts.one_time_tokens import OneTimeToken
    from core.accounts.users import User
    from core.mail.mail import MailTemplate
    from ports.unit_of_work import UnitOfWork

NOWHERE = ReturnTarget()


class LinkUnusable(BadRequest):
    """The link is unknown, used or expired; the message says which, and what to do next."""

    default_message = "This link is not valid. Open it exactly as it stands in the letter, or ask for a new one."


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What to say about a link of one purpose that is no good; the first sentence is the heading of a page."""

    unknown: str
    used: str
    expired: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A link that is good, and whose account it is about."""

    token: OneTimeToken
    user: User


def send(
    uow: UnitOfWork,
    user: User | None,
    purpose: TokenPurpose,
    template: MailTemplate,
    /,
    *,
    back: ReturnTarget = NOWHERE,
    **values: str,
) -> None:
    """Send a link to the address of an account; the same work is done for nobody."""
    to = user.email if user is not None else ""
    token = one_time_tokens.issue(uow, purpose, user.id if user is not None else None, to, **back.remembered())
    mail.send(
        uow,
        to,
        template,
        organization_id=back.organization_id,
        is_discarded=user is None,
        token=token.reveal(),
        place=back.name,
        **values,
    )


def inspect(uow: UnitOfWork, purpose: TokenPurpose, token: str, words: Words) -> Opened:
    """Find the account that a link is about, without using the link up."""
    found = uow.one_time_tokens.find(hash_token(token), purpose)
    if found is None or found.used_at is not None or found.expires_at <= uow.now:
        raise _refusal(found, words)
    return _opened(uow, found, words)


def use(uow: UnitOfWork, purpose: TokenPurpose, token: str, words: Words) -> Opened:
    """Use a link up: of two that open it at once one may go on."""
    used = one_time_tokens.use(uow, purpose, token)
    if used is None:
        raise _refusal(uow.one_time_tokens.find(hash_token(token), purpose), words)
    return _opened(uow, used, words)


def _refusal(token: OneTimeToken | None, words: Words) -> LinkUnusable:
    if token is None:
        return LinkUnusable(words.unknown)
    return LinkUnusable(words.used if token.used_at is not None else words.expired)


def _opened(uow: UnitOfWork, token: OneTimeToken, words: Words) -> Opened:
    user = uow.users.by_id(token.user_id) if token.user_id is not None else None
    if user is None or not user.is_active:
        raise LinkUnusable(words.unknown)
    # Only an undo link is about an address that the account no longer has.
    if token.purpose is not TokenPurpose.UNDO_EMAIL_CHANGE and token.email != user.email:
        raise LinkUnusable(words.unknown)
    return Opened(token=token, user=user)
