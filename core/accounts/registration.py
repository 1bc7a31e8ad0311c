"""Registration: asking for an account with a password.

Anyone can register any address. While it is not proved, each registration keeps a password of its own
(`open_registrations.py`), and the mailed link that is used decides whose account it is (`email_verification.py`).
Pending invitations wait until the address is proved. The password is hashed before anything is read, so that the
response time reveals no more about an address than the answer does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from core.accounts import email_verification, links, open_registrations, return_targets
from core.accounts.links import LinkTexts
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.return_targets import RequestingBrowser, ReturnRequest, ReturnTarget
from core.accounts.sign_in_methods import Provider
from core.accounts.users import User, add_unproved, fresh_account
from core.errors import Conflict
from core.events import person_events
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.mail.mail import MailTemplate

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


TEXTS: Final = LinkTexts(
    unknown="This link is not valid. Open it exactly as it appears in the mail, or sign in where you registered.",
    used="This link was used already, or is no longer needed. Sign in where you registered.",
    expired="This link has expired. It was valid for 24 hours; sign in where you registered.",
)


class AddressTaken(Conflict):
    """An account has the address."""

    default_message = "This email address is already registered. Sign in with it, or reset its password."


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInLink:
    """The account of an address that was registered again, where the sign-in leads, and in which browser.

    `browser` is None when a program has registered it.
    """

    email: str
    place: ReturnTarget
    browser: RequestingBrowser | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Registered:
    """What a registration has found: whether it has created the account, or the account whose address is proved."""

    is_new: bool
    proved: User | None


def register(
    uow: UnitOfWork, email: str, password_hash: str, return_request: ReturnRequest, *, name: str | None = None
) -> AddressTaken | None:
    """Register a normalized address, and send the link that proves it and makes password and name the account's.

    Return `AddressTaken` when an account has the address; while it is not proved, the link is sent all the same.
    """
    back = return_targets.find(uow, return_request)
    registered = _register(uow, email, password_hash, back, None, name)
    return None if registered.is_new else AddressTaken()


def register_evenly(
    uow: UnitOfWork,
    email: str,
    password_hash: str,
    return_request: ReturnRequest,
    browser: RequestingBrowser | None,
    *,
    name: str | None = None,
) -> None:
    """Register an address as `register` does, or mail the owner of the address that it has an account.

    Both take the same work, so that only the owner of the address learns which it was. Both links lead on to where the
    sign-in of the browser was to lead.
    """
    back = return_targets.find(uow, return_request)
    registered = _register(uow, email, password_hash, back, browser, name)
    links.send(
        uow,
        registered.proved,
        TokenPurpose.CONTINUE_SIGN_IN,
        MailTemplate.ACCOUNT_EXISTS,
        back=back,
        browser=browser,
        requested_for=email,
    )


def inspect_sign_in_link(uow: UnitOfWork, token: str) -> SignInLink:
    """Return where the link of the mail about an existing account leads; raise `LinkUnusable`. It stays valid."""
    link = links.inspect(uow, TokenPurpose.CONTINUE_SIGN_IN, token, TEXTS)
    browser = return_targets.recall_browser(link.token.data)
    back = return_targets.recall(uow, link.token.data)
    return SignInLink(email=link.user.email, place=return_targets.place_of(uow, back, browser), browser=browser)


def _register(
    uow: UnitOfWork,
    email: str,
    password_hash: str,
    back: ReturnTarget,
    browser: RequestingBrowser | None,
    name: str | None,
) -> _Registered:
    """Create the account unless there is one, and keep the registration if its address may still be proved by it.

    What is not mailed, because of a limit, is not kept either. A registration with the password of an open one counts
    as that one: its link is mailed once more, and nothing else changes. Every address takes the same statements.
    """
    fresh = replace(fresh_account(uow, email), language=uow.origin.language)
    is_new, present = add_unproved(uow, fresh, password_hash)
    active = present if present.is_active else None
    waiting = active if active is not None and not active.is_verified else None
    registration = open_registrations.begin(
        uow, waiting.id if waiting is not None else fresh.id, email, password_hash, back, browser, name=name
    )
    repeated = open_registrations.repeated(uow, registration)
    meant = repeated or registration
    is_mailed = email_verification.send(
        uow, waiting, back, browser=browser, registration_id=meant.id, requested_for=email
    )
    open_registrations.prolong(uow, meant if is_mailed else registration, by=registration)
    is_kept = repeated is None and is_mailed
    # No account has this id: the same statements keep nothing.
    unused_id = uow.randomness.new_account_id()
    open_registrations.keep(uow, registration if is_kept else replace(registration, user_id=unused_id))
    if is_new:
        # It has its password already.
        uow.credentials.set_password_hash(unused_id if is_kept else fresh.id, None)
    else:
        uow.credentials.set_password_hash(registration.user_id if is_kept else unused_id, password_hash)
    _publish(uow, fresh, back, is_new=is_new)
    return _Registered(is_new=is_new, proved=active if active is not None and active.is_verified else None)


def _publish(uow: UnitOfWork, user: User, back: ReturnTarget, *, is_new: bool) -> None:
    """Publish the event of a new account; without one, the same statements publish nothing."""
    receivers = person_events.defer_receivers(uow, user.id, back.organization_id)()
    uow.publish_to_each(
        EventType.USER_SIGNUP_SUCCESS,
        receivers if is_new else (),
        actor_user_id=user.id,
        actor_email=user.email,
        provider=Provider.PASSWORD,
        service_id=str(back.service_id) if back.service_id is not None else None,
    )
