"""Links in mails: sending one, inspecting it, using it, and refusing one that is unusable.

A link contains a one-time token of its purpose and is valid while the account still has the address that it was sent
to. Requesting one is the same work whether or not an account has the address: without an account, a token without a
user and a discarded mail are written instead, and the requested address is not stored.

A request that names an address passes it on to the limits of mail also when no account has it, so that both cases count
alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.accounts import one_time_tokens, return_targets
from core.accounts.mailed_codes import Guess
from core.accounts.one_time_tokens import NewCode, OneTimeToken, TokenPurpose
from core.accounts.requesting_browsers import RequestingBrowser
from core.accounts.return_targets import ReturnTarget
from core.accounts.users import User
from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.secrets import hash_token

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

NOWHERE = ReturnTarget()


class LinkUnusable(BadRequest):
    """The link is unknown, used or expired; the message states which, and what to do next.

    `token` is the content of the link; None for an unknown one.
    """

    default_message = "This link is not valid. Open it exactly as it appears in the mail, or request a new one."

    def __init__(self, message: str | None = None, *, token: OneTimeToken | None = None) -> None:
        super().__init__(message)
        self.token = token


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


def send(  # noqa: PLR0913 - a mail has many values
    uow: UnitOfWork,
    user: User | None,
    purpose: TokenPurpose,
    template: MailTemplate,
    /,
    *,
    back: ReturnTarget = NOWHERE,
    browser: RequestingBrowser | None = None,
    data: Mapping[str, Any] | None = None,
    requested_for: str = "",
    is_asked_for: bool | None = None,
    code: NewCode | None = None,
    **values: str,
) -> bool:
    """Send a link to the address of an account; without a user the same work is done and no mail leaves.

    Return whether a mail leaves: one above a limit does not.

    `browser` is the browser in which the link was requested on a page; the mail names the place to which its sign-in
    leads. `data` is stored with the token, and `values` fill the mail. A request that names an address passes it as
    `requested_for`: without a user, the limits of mails count it. `is_asked_for` is False where another person requests
    the mail, whose language it must not have. `code` is the code that the mail has beside the link.
    """
    to = user.email if user is not None else ""
    language = uow.origin.language if is_asked_for is not False else None
    read_in = {"language": language} if language is not None else {}
    stored = {**back.stored(), **read_in, **(browser.stored() if browser is not None else {}), **(data or {})}
    place = return_targets.place_of(uow, back, browser)
    token = one_time_tokens.issue(uow, purpose, user.id if user is not None else None, to, code, **stored)
    typed = {"code": code.code.reveal()} if code is not None else {}
    return mail.send(
        uow,
        to or requested_for,
        template,
        organization_id=place.organization_id,
        is_discarded=user is None,
        account_language=user.language if user is not None else None,
        is_asked_for=is_asked_for,
        token=token.reveal(),
        place=place.name,
        **typed,
        **values,
    )


def inspect(uow: UnitOfWork, purpose: TokenPurpose, token: str, texts: LinkTexts) -> ValidLink:
    """Return a valid link and its account, without using the link up; raise `LinkUnusable`."""
    found = uow.one_time_tokens.find(hash_token(token), purpose)
    if found is None or found.used_at is not None or found.expires_at <= uow.now:
        raise _refusal(found, texts)
    return _valid_link(uow, found, texts)


def use(uow: UnitOfWork, purpose: TokenPurpose, token: str, texts: LinkTexts) -> ValidLink:
    """Use up a valid link and return it with its account; raise `LinkUnusable`, also for the second of two uses."""
    used = one_time_tokens.use(uow, purpose, token)
    if used is None:
        raise _refusal(uow.one_time_tokens.find(hash_token(token), purpose), texts)
    return _valid_link(uow, used, texts)


def use_with_code(uow: UnitOfWork, guess: Guess, texts: LinkTexts) -> ValidLink:
    """Use up the link of a mail by its right code, as `use` does by the link."""
    assert guess.is_right, "a link is used by a wrong code"
    used = uow.one_time_tokens.use_challenge(guess.challenge_id, at=uow.now)
    if used is None:
        raise _refusal(guess.token, texts)
    return _valid_link(uow, used, texts)


def lock_and_use(uow: UnitOfWork, purpose: TokenPurpose, token: str, texts: LinkTexts) -> ValidLink:
    """Lock the account of a link, then use the link up as `use` does.

    In this order, like every transaction that changes an account and withdraws its links.
    """
    uow.users.lock(inspect(uow, purpose, token, texts).user.id)
    return use(uow, purpose, token, texts)


def _refusal(token: OneTimeToken | None, texts: LinkTexts) -> LinkUnusable:
    if token is None:
        return LinkUnusable(texts.unknown).because("unknown_link")
    if token.used_at is not None:
        return LinkUnusable(texts.used, token=token).because("used_link")
    return LinkUnusable(texts.expired, token=token).because("expired_link")


def _valid_link(uow: UnitOfWork, token: OneTimeToken, texts: LinkTexts) -> ValidLink:
    user = uow.users.by_id(token.user_id) if token.user_id is not None else None
    may_use = user is not None and (user.may_sign_in or (user.deactivated_at is None and token.purpose.opens_locked))
    if user is None or not may_use:
        reason = "unknown_account" if user is None else "deactivated"
        raise LinkUnusable(texts.unknown, token=token).because(reason)
    if token.purpose.is_tied_to_address and (token.email != user.email or user.is_disowned):
        raise LinkUnusable(texts.unknown, token=token).because("address_changed")
    return ValidLink(token=token, user=user)
