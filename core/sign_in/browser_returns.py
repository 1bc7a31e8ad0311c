"""Where a browser goes after signing in: a path of Gatehouse; and what the sign-in leaves in it.

A path without parameters is part of the address of the sign-in page. One with parameters, or on behalf of an
organization or service, is kept here under an id that is valid once, so that no parameter passes through an address.
Anything but a path of Gatehouse is ignored.

Some paths answer a request of another system, an OpenID client or a SAML service provider. A form of the sign-in names
the return that it carries, so the completed form is recorded for that one request: it answers the question of a first
visit there, and not for any other request that is open in the same browser.

A sign-in leaves a session in the browser, which has one. Signing in again as the same user continues it with a new
secret, so that its children and its place in the list of sessions stay; signing in as another user ends it.
"""

from __future__ import annotations

import re
from dataclasses import field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.organizations.settings.branding import BrandedOrganization
from core.secrets import Secret, hash_token
from core.sessions import browser_sessions, sessions
from core.sessions.browser_sessions import BrowserCookie, BrowserSession
from core.sessions.caller_limits import ClosedWhileImpersonating
from core.sessions.refresh import SessionOver
from core.sessions.sessions import Session
from core.sign_in.proofs import FEDERATED, InBrowser

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

LIFETIME: Final = timedelta(hours=1)
# A sign-in that leads below this path is made to confirm the address: it takes a mailed code.
CONFIRMED: Final = "/app/account/confirm-address"
PATH_CHARACTERS_MAX: Final = 1000
# More than an id has; a longer text is not kept.
ID_CHARACTERS_MAX: Final = 100
# A query may carry a whole request of another system, such as a SAML message.
TARGET_CHARACTERS_MAX: Final = 16_000
_SEGMENTS: Final = re.compile(r"(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+)+/?|/")
# What a segment may not contain once it is decoded: another segment, its Windows form, or what is not printed.
_UNSAFE: Final = re.compile(r"[/\\\x00-\x20\x7f]")
_QUERY: Final = re.compile(r"[!-~]*")
# The pages of an organization name it in their paths; PostgreSQL reads the expression too.
PAGE_OF_ORGANIZATION: Final = "^/app/(?:organizations|invitations/joined)/([^/?]+)"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserReturn:
    """A path of Gatehouse with its query, and the organization and service to which the sign-in leads, if any.

    `email` is the address with which the user probably signs in. `place` is the name of the service, else of the
    organization, while the organization is active; `owner` is the name of the service's organization. An account alone
    opens nothing in a service that `is_closed`. `brand` is what the pages of the sign-in show of the organization, if
    it has set something. `request_key` names the request that the path answers, if it does. `request_target` is the
    path on which a request finally goes on, where `target` is a step before it. `language` is the tag of the language
    in which a service has asked for the pages. `not_in_session` is a session of the browser that does not go there: its
    user signs in anew.
    """

    target: str
    organization_slug: str | None = None
    service_slug: str | None = None
    email: str | None = None
    place: str = ""
    owner: str = ""
    is_closed: bool = False
    brand: BrandedOrganization | None = None
    language: str | None = None
    request_target: str | None = None
    not_in_session: UUID | None = None
    request_key: bytes | None = field(default=None, repr=False)

    @property
    def answering(self) -> str:
        """The path on which a request goes on, if the sign-in belongs to one."""
        return self.request_target or self.target

    @property
    def leads_to_organization(self) -> str | None:
        """The slug of the organization to which the sign-in leads: the one that is named, or the one of the page."""
        return self.organization_slug or organization_of_page(self.target)


def safe_path(text: str) -> str | None:
    """Return a path of Gatehouse without parameters; None for everything else."""
    if len(text) > PATH_CHARACTERS_MAX or not _SEGMENTS.fullmatch(text):
        return None
    segments = [unquote(unquote(segment)) for segment in text.split("/")]
    if any(segment in {".", ".."} or _UNSAFE.search(segment) for segment in segments):
        return None
    return text


def safe_target(text: str) -> str | None:
    """Return a path of Gatehouse with its query; None for everything else."""
    path, _, query = text.partition("?")
    is_safe = safe_path(path) is not None and len(text) <= TARGET_CHARACTERS_MAX and _QUERY.fullmatch(query)
    return text if is_safe else None


def organization_of_page(path: str) -> str | None:
    """Return the slug of the organization to which a page belongs; None for every other path."""
    found = re.match(PAGE_OF_ORGANIZATION, path)
    return found[1] if found is not None else None


def confirms_address(return_to: str) -> bool:
    """Return whether a sign-in that leads to a path is made to confirm the address of the account."""
    return return_to.startswith(f"{CONFIRMED}/")


def keep(uow: UnitOfWork, wanted: BrowserReturn) -> Secret:
    """Keep a return and return its id."""
    return_id = uow.randomness.token()
    uow.browser_returns.add(wanted, hash_token(return_id.reveal()), expires_at=uow.now + LIFETIME)
    return return_id


def find(uow: UnitOfWork, return_id: str) -> BrowserReturn | None:
    """Return what an id stands for, without using it up; None for one that is unknown, used or expired."""
    return uow.browser_returns.find(hash_token(return_id), at=uow.now)


def find_lapsed(uow: UnitOfWork, return_id: str) -> BrowserReturn | None:
    """Return what an id stood for until it expired, within the last day; None for every other one."""
    return uow.browser_returns.find_lapsed(hash_token(return_id), at=uow.now)


def use(uow: UnitOfWork, return_id: str) -> BrowserReturn | None:
    """Use an id up and return what it stands for; None for one that is unknown, used or expired."""
    return uow.browser_returns.use(hash_token(return_id), at=uow.now)


def record_sign_in(uow: UnitOfWork, return_id: str, session_id: UUID) -> None:
    """Record that a form which carried this id has begun or continued a session, for the request of the return.

    An id that is unknown, used or expired, and a return that answers no request, record nothing.
    """
    uow.browser_returns.record_sign_in(hash_token(return_id), session_id, at=uow.now, expires_at=uow.now + LIFETIME)


def has_signed_in(uow: UnitOfWork, request_key: bytes, session_id: UUID) -> bool:
    """Return whether a form that belonged to this request has begun or continued this session."""
    return uow.browser_returns.has_signed_in(request_key, session_id, at=uow.now)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSession:
    """The session that the browser has from now on, and its cookie."""

    session: Session
    cookie: BrowserCookie


def keep_session(uow: UnitOfWork, session: Session, refresh_token: Secret, browser: InBrowser) -> KeptSession:
    """Store the session of a sign-in, or continue the one that the browser has; the account is locked.

    The sign-in counts for the request to which its form belonged, if it belonged to one. Raise `SessionOver` when a
    session is to be continued and has ended, or belongs to another user.
    """
    kept = _keep_session(uow, session, refresh_token, browser)
    if browser.return_id:
        record_sign_in(uow, browser.return_id, kept.session.id)
    return kept


def _keep_session(uow: UnitOfWork, session: Session, refresh_token: Secret, browser: InBrowser) -> KeptSession:
    present = uow.browser_sessions.lock(browser.present.session_id) if browser.present is not None else None
    if present is not None and present.is_impersonation:
        raise ClosedWhileImpersonating
    if present is not None and present.user_id == session.user_id and _is_continued(browser, present, session):
        return _continue(uow, session, present)
    if browser.is_again:
        raise SessionOver
    if present is not None and present.user_id == session.user_id and present.is_closed_to_account:
        # Its child sessions go on: the user signs in to each organization separately, and this leaves none.
        uow.browser_sessions.store_use(present.session_id, ends_at=uow.now, leave_organization=False)
    elif present is not None:
        sessions.sign_out(uow, present.session_id, present.user_id, present.email)
    ends_at = browser_sessions.end_of(
        session.created_at,
        stays_signed_in=browser.stays_signed_in,
        at=uow.now,
        bounded_until=session.bounded_until,
    )
    session = replace(session, expires_at=ends_at)
    uow.sessions.add(session, refresh_hash=hash_token(refresh_token.reveal()))
    cookie = browser_sessions.begin(uow, session.id, stays_signed_in=browser.stays_signed_in)
    return KeptSession(session=session, cookie=cookie)


def _is_continued(browser: InBrowser, present: BrowserSession, session: Session) -> bool:
    """Return whether the present session goes on; what it is limited to never changes."""
    return browser.is_again or present.confinement == session.confinement


def _continue(uow: UnitOfWork, session: Session, present: BrowserSession) -> KeptSession:
    assert session.device_id is not None, "a sign-in began on no device"
    # Only a provider that signs the user in again sets a new end.
    bounded_until = session.bounded_until if FEDERATED in session.amr else present.bounded_until
    ends_at = browser_sessions.end_of(
        present.created_at, stays_signed_in=present.stays_signed_in, at=uow.now, bounded_until=bounded_until
    )
    uow.browser_sessions.authenticate(
        present.session_id, session.amr, device_id=session.device_id, ends_at=ends_at, bounded_until=bounded_until
    )
    continued = replace(session, id=present.session_id, expires_at=ends_at, bounded_until=bounded_until)
    return KeptSession(session=continued, cookie=browser_sessions.renew(uow, present))
