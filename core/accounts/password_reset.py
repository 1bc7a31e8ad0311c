"""Forgotten passwords: a link to the account's address, valid once and for an hour, to choose a new password.

The link also proves the address. A reset ends all earlier access: every session, the trust in every device, and, when
the address was never proved before, every credential that an attacker may have prepared on the account. It opens a
locked account again (`locks.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import addresses, links, locks, passwords, return_targets, single_sign_on
from core.accounts.links import LinkTexts, ValidLink
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.passwords import NewPassword, PasswordRules
from core.accounts.return_targets import RequestingBrowser, ReturnRequest, ReturnTarget
from core.accounts.users import lock_unless_anonymized
from core.email_addresses import canonical_email
from core.errors import Refusal, SsoRequired
from core.lazy_dataclasses import dataclass
from core.mail.mail import MailTemplate

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

TEXTS: Final = LinkTexts(
    unknown="This link is not valid. Open it exactly as it appears in the mail, or request a new one where you wanted"
    " to sign in.",
    used="This link was used already, or is no longer needed. Sign in with your new password; if you did not choose"
    " one, request a new link at once.",
    expired="This link has expired. It was valid for one hour; request a new one where you wanted to sign in.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset:
    """The account's address, and where its user came from.

    `browser` is the browser in which the link was requested on a page, None for a program; `place` is where the user
    came from, or where the sign-in in that browser leads.
    """

    user_id: UUID
    email: str
    back: ReturnTarget
    place: ReturnTarget
    browser: RequestingBrowser | None


def request(
    uow: UnitOfWork, email: str, return_request: ReturnRequest, browser: RequestingBrowser | None = None
) -> None:
    """Send a link to choose a password if an account has the address, without revealing whether one does.

    It is never refused for what the request names: for an unknown organization the mail is the platform's.
    """
    back = return_targets.find_known(uow, return_request)
    address = canonical_email(email, uow.domain_names.to_ascii)
    found = uow.credentials.defer_password_of(address)()
    locked = lock_unless_anonymized(uow, found.user if found is not None else None)
    user = locked if locked is not None and locked.receives_reset_links else None
    has_no_password = found is not None and found.password_hash is None
    template = MailTemplate.CHOOSE_PASSWORD if has_no_password else MailTemplate.RESET_PASSWORD
    links.send(uow, user, TokenPurpose.RESET_PASSWORD, template, back=back, browser=browser, requested_for=address)


def inspect(uow: UnitOfWork, token: str) -> Reset:
    """Return the account of a link, without using the link up; raise `LinkUnusable`."""
    link = links.inspect(uow, TokenPurpose.RESET_PASSWORD, token, TEXTS)
    return _reset(uow, link)


def check(uow: UnitOfWork, token: str, new_password: str, rules: PasswordRules) -> NewPassword:
    """Return a new password before the slow hashing; raise `LinkUnusable`, or `BadRequest` when it is not accepted."""
    found = inspect(uow, token)
    about = [*passwords.about_account(uow, found.user_id, found.email), found.place.name]
    return passwords.accepted(new_password, "new_password", rules, about)


def reset(uow: UnitOfWork, token: str, password_hash: str, *, binding: str | None = None) -> Reset | Refusal:
    """Use up a link, set the new password of its account, and end all its sessions; raise `LinkUnusable`.

    Raise `SsoRequired` where the user has to sign in by a connection, unless the browser of this `binding` comes from
    it, to sign in to the account once and link the two. The link still opens a locked account, and the refusal is then
    returned: the link is one proof, and the connection is the other.
    """
    link = links.use(uow, TokenPurpose.RESET_PASSWORD, token, TEXTS)
    done = _reset(uow, link)
    if _is_closed(uow, link, done.place, binding):
        if link.user.locked_at is None:
            raise SsoRequired
        addresses.mark_proved(uow, link.user)
        locks.lift(uow, link.user, by="mailed_link")
        return SsoRequired().because("unlocked")
    user = addresses.mark_proved(uow, link.user)
    locks.lift(uow, link.user, by="password_reset")
    uow.credentials.set_password_hash(user.id, password_hash)
    passwords.lock_out(uow, user.id, user.email)
    # Another person may have known the password, and trusted a device with it.
    uow.devices.revoke_trust(user.id)
    passwords.record_changed(uow, user.id, user.email, MailTemplate.PASSWORD_CHANGED)
    return done


def _is_closed(uow: UnitOfWork, link: ValidLink, place: ReturnTarget, binding: str | None) -> bool:
    """Return whether the user of a link has to sign in by a connection and their browser does not come from it."""
    required = single_sign_on.defer_required_connection(uow, link.user.id, binding)()
    return required is not None and required.holds_for(place.organization_id) and not required.is_linking


def _reset(uow: UnitOfWork, link: ValidLink) -> Reset:
    back, browser = return_targets.recall(uow, link.token.data), return_targets.recall_browser(link.token.data)
    place = return_targets.place_of(uow, back, browser)
    return Reset(user_id=link.user.id, email=link.user.email, back=back, place=place, browser=browser)
