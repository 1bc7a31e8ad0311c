"""Links in mails: sending one, inspecting it, using it, and refusing one that is unusable.

A link contains a one-time token of its purpose and is valid while the account still has the address that it was sent
to. Requesting one is the same work whether or not an account has the address: without an account, a token without a
user and a discarded mail are written instead, and the requested address is not stored.
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
    """The link is unknown, used or expired; the message states which, and what to do next."""

    default_message = "This link is not valid. Open it exactly as it appears in the mail, or request a new one."


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTexts:
    """The messages about unusable links of one purpose; the first sentence becomes the heading of a page."""

    unknown: str
    used: str
    expired: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidLink:
    """A valid link's token, and the account that it belongs to."""

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
    """Send a link to the address of an account; without a user the same work is done and no mail leaves."""
    to = user.email if user is not None else ""
    token = one_time_tokens.issue(uow, purpose, user.id if user is not None else None, to, **back.stored())
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


def inspect(uow: UnitOfWork, purpose: TokenPurpose, token: str, texts: LinkTexts) -> ValidLink:
    """Return a valid link and its account, without using the link up; raise `LinkUnusable`."""
    found = uow.one_time_tokens.find(hash_token(token), purpose)
    if found is None or found.used_at is not None or found.expires_at <= uow.now:
        raise _refusal(found, texts)
    return _valid_link(uow, found, texts)


def use(uow: UnitOfWork, purpose: TokenPurpose, token: str, texts: LinkTexts) -> ValidLink:
    """Use up a valid link and return it with its account; raise `LinkUnusable`, also for the second of two at once."""
    used = one_time_tokens.use(uow, purpose, token)
    if used is None:
        raise _refusal(uow.one_time_tokens.find(hash_token(token), purpose), texts)
    return _valid_link(uow, used, texts)


def _refusal(token: OneTimeToken | None, texts: LinkTexts) -> LinkUnusable:
    if token is None:
        return LinkUnusable(texts.unknown).because("unknown_link")
    if token.used_at is not None:
        return LinkUnusable(texts.used).because("used_link")
    return LinkUnusable(texts.expired).because("expired_link")


def _valid_link(uow: UnitOfWork, token: OneTimeToken, texts: LinkTexts) -> ValidLink:
    user = uow.users.by_id(token.user_id) if token.user_id is not None else None
    if user is None or not user.is_active:
        raise LinkUnusable(texts.unknown).because("unknown_account" if user is None else "deactivated")
    # Only an undo link is about an address that the account no longer has.
    if token.purpose is not TokenPurpose.UNDO_EMAIL_CHANGE and token.email != user.email:
        raise LinkUnusable(texts.unknown).because("address_changed")
    return ValidLink(token=token, user=user)
