"""Signing out at the request of a service (OpenID Connect RP-Initiated Logout), and telling services about it.

An ID token as a hint proves which sign-in the service means; then the browser's session ends at once, with all sessions
that began from it. Without a hint a page asks the user first. The services of ended sessions get a token that Gatehouse
posts to them, and a page of theirs that the browser loads. After that come the service providers of SAML
(`core/saml/logouts.py`).

A trigger on the table of sessions queues a notice in the transaction that ends a session of a service (OpenID Connect
Back-Channel Logout). A dispatcher leases a service that has notices due, posts a logout token for each, and records the
outcome, on the schedule of webhooks. A notice is deleted when it has arrived, or when the last attempt has failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.attempts import LEASE, ORGANIZATION_TARGETS_MAX, POSTPONEMENT, Attempt, next_attempt_at
from core.lazy_dataclasses import dataclass
from core.openid import client_troubles, clients
from core.openid.authorization_endpoint import with_parameters
from core.openid.client_troubles import LogoutUriRefused, RequestRefused
from core.openid.clients import Client
from core.saml import logouts as saml_logouts
from core.saml.logouts import TakenLogout
from core.secrets import Secret
from core.sessions import sessions
from core.sessions.browser_sessions import BrowserSession
from core.sessions.security_profiles import SecurityProfile, SignatureAlgorithm, signature_algorithm

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

Claims = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutRequest:
    """The request of a service; the hint has the claims of an ID token of ours, which may have expired."""

    hint: Claims | None = None
    client_id: str | None = None
    redirect_uri: str | None = None
    state: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedOut:
    """The sessions have ended: where the browser goes now, if anywhere, and the pages of services it loads before.

    `saml` is the logout in between, in which the browser visits service providers of SAML.
    """

    address: str | None
    pages: tuple[str, ...] = ()
    saml: TakenLogout | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOutQuestion:
    """The user is asked whether to sign out; `service_name` is the name of the asking service, if it names itself.

    `address` is where the service wants the browser to go afterwards.
    """

    service_name: str | None
    address: str | None


def begin(
    uow: UnitOfWork,
    wanted: LogoutRequest,
    browser: BrowserSession | None,
    *,
    issuer: str,
    saml_key: Secret | None = None,
) -> SignedOut | SignOutQuestion:
    """Sign out if the hint shows that the service may ask for it, else ask the user; raise `RequestRefused`."""
    client = _client(uow, wanted)
    address = _address(client, wanted)
    question = SignOutQuestion(service_name=client.service.name if client is not None else None, address=address)
    if wanted.hint is None:
        return question
    session_id, user_id = UUID(wanted.hint["sid"]), UUID(wanted.hint["sub"])
    if browser is None:
        return SignedOut(address=address, pages=_end_session(uow, session_id, user_id, issuer))
    if browser.user_id != user_id or not uow.clients.is_child(session_id, parent_id=browser.session_id):
        # The service means another sign-in than this browser's.
        return question
    return replace(sign_out(uow, browser, issuer=issuer, saml_key=saml_key), address=address)


def confirm(
    uow: UnitOfWork,
    wanted: LogoutRequest,
    browser: BrowserSession | None,
    *,
    issuer: str,
    saml_key: Secret | None = None,
) -> SignedOut:
    """Sign out after the user has agreed; raise `RequestRefused` for an address that is not registered."""
    address = _address(_client(uow, wanted), wanted)
    if browser is None:
        return SignedOut(address=address)
    return replace(sign_out(uow, browser, issuer=issuer, saml_key=saml_key), address=address)


def sign_out(uow: UnitOfWork, browser: BrowserSession, *, issuer: str, saml_key: Secret | None = None) -> SignedOut:
    """End the session of a browser, and the sessions that began from it; SAML knows the browser by `saml_key`."""
    pages = _pages(uow.clients.children_with_pages(browser.session_id), issuer)
    return SignedOut(address=None, pages=pages, saml=saml_logouts.sign_out(uow, browser, saml_key))


def _client(uow: UnitOfWork, wanted: LogoutRequest) -> Client | None:
    """Return the client of the hint or the request, which must agree; None without either."""
    hinted = wanted.hint["aud"] if wanted.hint is not None else None
    named = wanted.client_id or hinted
    if named is None:
        return None
    if hinted not in {None, named}:
        raise RequestRefused("The request names another application than its id_token_hint.")
    try:
        client = clients.find(uow, UUID(named))
    except ValueError:
        client = None
    if client is None:
        raise RequestRefused("The application that sent you here is not known.")
    return client


def _address(client: Client | None, wanted: LogoutRequest) -> str | None:
    if wanted.redirect_uri is None:
        return None
    if client is None:
        raise RequestRefused("The request names an address to go back to, and not the application that it belongs to.")
    if not client.service.has_registered(wanted.redirect_uri, among=client.service.post_logout_redirect_uris):
        raise client_troubles.leaving_logout(LogoutUriRefused(client, wanted.redirect_uri))
    return with_parameters(wanted.redirect_uri, state=wanted.state) if wanted.state else wanted.redirect_uri


def _end_session(uow: UnitOfWork, session_id: UUID, user_id: UUID, issuer: str) -> tuple[str, ...]:
    """End the session of a service alone, because this browser has no session of Gatehouse."""
    caller = uow.callers.of_session(session_id, is_limited=True)
    if caller is None or caller.account.id != user_id:
        return ()
    pages = _pages(uow.clients.with_page(session_id), issuer)
    sessions.sign_out(uow, session_id, user_id, caller.account.email)
    return pages


def _pages(ended: Mapping[UUID, str], issuer: str) -> tuple[str, ...]:
    return tuple(with_parameters(uri, iss=issuer, sid=str(session_id)) for session_id, uri in ended.items())


LOGOUT_TOKEN_LIFETIME: Final = timedelta(minutes=2)
EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutNotice:
    """A session that has ended; `host` is the custom host under which it began, None for the base URL."""

    id: UUID
    session_id: UUID
    user_id: UUID
    attempt_count: int
    host: str | None = None

    def claims(self, client_id: UUID) -> dict[str, Any]:
        """Return the claims of its logout token."""
        return {
            "sub": str(self.user_id),
            "sid": str(self.session_id),
            "aud": str(client_id),
            "events": {EVENT: {}},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedService:
    """A service that this dispatcher alone serves until the lease ends, with the notices to send.

    Without an address it gets no notices any more.
    """

    id: UUID
    organization_id: UUID
    client_id: UUID
    uri: str | None
    leased_until: datetime
    notices: Sequence[LogoutNotice]
    security_profile: SecurityProfile | None = None
    token_signing: str = SignatureAlgorithm.RS256

    @property
    def signature_algorithm(self) -> SignatureAlgorithm:
        """The algorithm that signs the tokens of the service."""
        return signature_algorithm(self.security_profile, self.token_signing)


def lease_service(uow: UnitOfWork, services_max: int, notices_max: int) -> Sequence[LeasedService]:
    """Lease services that have something due, fairly among organizations.

    The notices of an organization that is not active wait until it is active again.
    """
    uow.logout_notices.postpone_inactive(services_max=services_max, until=uow.now + POSTPONEMENT)
    return uow.logout_notices.lease(
        services_max=services_max,
        of_organization_max=ORGANIZATION_TARGETS_MAX,
        notices_max=notices_max,
        leased_until=uow.now + LEASE,
    )


def record_notice(uow: UnitOfWork, service: LeasedService, notice: LogoutNotice, attempt: Attempt) -> None:
    """Delete a notice that has arrived or was tried for the last time, or set the time of the next attempt."""
    attempts = notice.attempt_count + 1
    next_at = None if attempt.is_success else next_attempt_at(notice.id, attempts, at=uow.now)
    if next_at is None:
        uow.logout_notices.remove(service.organization_id, service.id, notice.id)
    else:
        uow.logout_notices.postpone(service.organization_id, service.id, notice.id, attempts=attempts, until=next_at)


def release_service(uow: UnitOfWork, service: LeasedService) -> None:
    """End the lease of a service; it queues behind the others when it has more due."""
    uow.logout_notices.release(service.organization_id, service.id, leased_until=service.leased_until)
