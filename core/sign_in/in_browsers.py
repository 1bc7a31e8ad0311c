"""What a sign-in on a page leaves in the browser: a new session, or the present one, authenticated again.

A browser has one session. Signing in again as the same user continues it with a new secret, so that its children and
its place in the list of sessions stay; signing in as another user ends it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from core.lazy_dataclasses import dataclass
from core.secrets import Secret, hash_token
from core.sessions import browser_sessions, sessions
from core.sessions.browser_sessions import BrowserCookie, BrowserSession
from core.sessions.limits import ClosedWhileImpersonating
from core.sessions.refresh import SessionOver
from core.sessions.sessions import Session
from core.sign_in import browser_returns
from core.sign_in.proofs import FEDERATED, InBrowser

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


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
        browser_returns.record_sign_in(uow, browser.return_id, kept.session.id)
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
