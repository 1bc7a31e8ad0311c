"""The link that proves the address of an account: sent at registration and on request.

It is valid once and for a day. A newer link leaves older ones valid, because mails arrive out of order and users open
the first that they find; using one withdraws the others. The link of a registration makes the password and the name of
that registration the account's, and ends the other registrations. A link without a registration keeps
neither, and its user chooses a password. A change of the address has a link of its own, which `email_changes.py` sends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.accounts import addresses, languages, links, one_time_tokens, open_registrations, return_targets
from core.accounts.links import LinkTexts, LinkUnusable, ValidLink
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.open_registrations import OpenRegistration
from core.accounts.return_targets import RequestingBrowser, ReturnRequest, ReturnTarget
from core.accounts.users import User, lock_unless_anonymized
from core.email_addresses import canonical_email
from core.lazy_dataclasses import dataclass
from core.mail.mail import MailTemplate
from core.secrets import Secret

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

TEXTS: Final = LinkTexts(
    unknown="This link is not valid. Open it exactly as it appears in the mail, or request a new one where you"
    " registered.",
    used="This link was used already, or is no longer needed. Try to sign in; if your address is still not verified,"
    " request a new link.",
    expired="This link has expired. It was valid for 24 hours; request a new one where you registered.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnprovedAddress:
    """What a link would prove: the address of an account, and for which registration.

    `browser` is the browser in which the registration was made on a page, else the one in which the link was requested;
    None when a program did both. `place` is where the user came from, or where the sign-in in that browser leads.
    """

    user: User
    back: ReturnTarget
    place: ReturnTarget
    registration: OpenRegistration | None
    browser: RequestingBrowser | None

    @property
    def registering_browser(self) -> RequestingBrowser | None:
        """The browser that needs no password: only the one of the registration, whose password its user knows."""
        return self.registration.browser if self.registration is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedAddress:
    """The address that was proved, and where its user came from; without a password the user chooses one next."""

    email: str
    back: ReturnTarget
    has_password: bool = True


def send(
    uow: UnitOfWork,
    user: User | None,
    back: ReturnTarget = links.NOWHERE,
    *,
    browser: RequestingBrowser | None = None,
    registration_id: UUID | None = None,
    stored: dict[str, Any] | None = None,
    requested_for: str = "",
) -> bool:
    """Send the link to the address of an account; without a user the same work is done and no mail leaves.

    Return whether a mail leaves. `stored` are a return target and a browser as they are stored, in place of those here.
    """
    named = {"registration_id": str(registration_id)} if registration_id is not None else {}
    return links.send(
        uow,
        user,
        TokenPurpose.VERIFY_EMAIL,
        MailTemplate.VERIFY_EMAIL,
        back=back,
        browser=browser,
        data={**(stored or {}), **named},
        requested_for=requested_for,
    )


def resend(
    uow: UnitOfWork, email: str, return_request: ReturnRequest, browser: RequestingBrowser | None = None
) -> None:
    """Send the link again if an account's address is unverified, without revealing whether there is one.

    With one open registration it is the link of that registration. With several, nothing shows which is the caller's,
    and the link keeps no password. `browser` is the browser in which it is requested on a page.
    """
    back = return_targets.find(uow, return_request)
    address = canonical_email(email, uow.domain_names.to_ascii)
    user = lock_unless_anonymized(uow, uow.users.by_email(address))
    user_id = user.id if user is not None else uow.randomness.new_account_id()
    registration = uow.open_registrations.sole(user_id, address, at=uow.now)
    is_unverified = user is not None and user.is_active and not user.is_verified
    send(
        uow,
        user if is_unverified else None,
        back,
        browser=browser,
        registration_id=registration.id if registration is not None else None,
        stored=registration.stored_way if registration is not None and back.organization is None else None,
        requested_for=address,
    )


def send_for(uow: UnitOfWork, user: User) -> bool:
    """Send the link again to a locked account whose address is unverified, on behalf of its user.

    It is the link that the user gets by `resend`. Return whether a mail leaves: one above a limit does not.
    """
    registration = uow.open_registrations.sole(user.id, user.email, at=uow.now)
    return links.send(
        uow,
        user,
        TokenPurpose.VERIFY_EMAIL,
        MailTemplate.VERIFY_EMAIL,
        data={**registration.stored_way, "registration_id": str(registration.id)} if registration is not None else {},
        is_asked_for=False,
    )


def inspect(uow: UnitOfWork, token: str) -> UnprovedAddress | VerifiedAddress:
    """Return what a link would prove, or that it is proved already; raise `LinkUnusable`. A valid link stays valid."""
    link = links.inspect(uow, TokenPurpose.VERIFY_EMAIL, token, TEXTS)
    back = return_targets.recall(uow, link.token.data)
    if link.user.is_verified:
        return VerifiedAddress(email=link.user.email, back=back)
    registration = _registration(uow, link)
    of_registration = registration.browser if registration is not None else None
    browser = of_registration or return_targets.recall_browser(link.token.data)
    return UnprovedAddress(
        user=link.user,
        back=back,
        place=return_targets.place_of(uow, back, browser),
        registration=registration,
        browser=browser,
    )


def inspect_unproved(uow: UnitOfWork, token: str) -> UnprovedAddress:
    """Return what a link would prove, as `inspect` does; raise `LinkUnusable` even if the address is proved already."""
    found = inspect(uow, token)
    if isinstance(found, VerifiedAddress):
        raise LinkUnusable(TEXTS.used).because("already_verified")
    return found


def verify(uow: UnitOfWork, token: str) -> VerifiedAddress:
    """Use up a link and prove the address that it was sent to; raise `LinkUnusable`.

    The password of its registration becomes the account's, and everything that others have set up is removed.
    """
    link = links.lock_and_use(uow, TokenPurpose.VERIFY_EMAIL, token, TEXTS)
    registration = _registration(uow, link)
    is_first_proof = not link.user.is_verified
    if is_first_proof:
        _prove(uow, link.user, registration)
    return VerifiedAddress(
        email=link.user.email,
        back=return_targets.recall(uow, link.token.data),
        has_password=registration is not None or not is_first_proof,
    )


def confirm(uow: UnitOfWork, token: str) -> User:
    """Use up the link of a registration as `verify` does, and return the account, locked; raise `LinkUnusable`."""
    link, registration = _use_unproved(uow, token)
    if registration is None:
        raise LinkUnusable(TEXTS.used).because("no_registration")
    return _prove(uow, link.user, registration)


def choose_password(uow: UnitOfWork, token: str) -> Secret:
    """Use up a link and prove the address, without any registration; return the token of a link to choose a password.

    Raise `LinkUnusable`.
    """
    link, _ = _use_unproved(uow, token)
    user = _prove(uow, link.user, None)
    return one_time_tokens.issue(uow, TokenPurpose.RESET_PASSWORD, user.id, user.email, **link.token.data)


def disown(uow: UnitOfWork, token: str) -> None:
    """Use up a link and end its registration, which its reader did not make; raise `LinkUnusable`."""
    link, registration = _use_unproved(uow, token)
    if registration is not None:
        open_registrations.end(uow, link.user, registration)


def _use_unproved(uow: UnitOfWork, token: str) -> tuple[ValidLink, OpenRegistration | None]:
    link = links.lock_and_use(uow, TokenPurpose.VERIFY_EMAIL, token, TEXTS)
    if link.user.is_verified:
        raise LinkUnusable(TEXTS.used).because("already_verified")
    return link, _registration(uow, link)


def _prove(uow: UnitOfWork, user: User, registration: OpenRegistration | None) -> User:
    proved = addresses.mark_proved(uow, user)
    if registration is not None:
        uow.credentials.set_password_hash(user.id, registration.password_hash)
        # The page of a registration asks for a name, and a program may not have.
        uow.users.set_name(user.id, registration.name, at=uow.now, was_asked=registration.browser is not None)
    # Anyone can register the address; the person who proves it may have chosen another language.
    languages.keep(uow, user.id)
    return proved


def _registration(uow: UnitOfWork, link: ValidLink) -> OpenRegistration | None:
    """Return the registration of a link; None for a link without one, or when it has ended."""
    registration_id = link.token.data.get("registration_id")
    if registration_id is None:
        return None
    return uow.open_registrations.find(link.user.id, UUID(registration_id), at=uow.now)
