"""Browser sessions: sessions whose secret is in a cookie, for the pages of Gatehouse.

A browser session is a session like any other, listed and ended like any other, on the platform and never of a service.
It has a secret instead of tokens. `core/sign_in/conclusion.py` begins it; what is signed in to from it, a service or a
SAML service provider, has a session of its own, its child (`core/sign_in/child_sessions.py`).

The end of the session moves with its use, so that every statement about live sessions applies to it unchanged.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Callable
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Concatenate, Final, ParamSpec, TypeVar
from uuid import UUID

from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.secrets import Secret, hash_token
from core.sessions import sessions
from core.sessions.caller_limits import Confinement
from core.sessions.sessions import ABSOLUTE_LIFETIME

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

IDLE_LIFETIME: Final = timedelta(hours=12)
# For a session that stays signed in.
LONG_IDLE_LIFETIME: Final = sessions.IDLE_LIFETIME
# A use is stored when the last stored one is this old, because nearly every page would write otherwise.
TOUCH_PERIOD: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSession:
    """A live browser session with its user.

    `used_at` is the stored time of its last use. `has_lost_organization`: its user is no longer a member of the
    organization that they had chosen. `is_disowned`: the organization of the mail domain has taken the address back.
    `form_token` is what the forms of its pages carry. A session that began under a custom domain has `domain_id`, and
    signs in to the organization of that domain only. `language` is the account's. The session of an impersonation names
    the session of the platform owner in whose browser it is, and when it ends at the latest.
    `lacks_required_connection`: an organization requires its own sign-in of the user, and the session began otherwise.
    """

    session_id: UUID
    user_id: UUID
    email: str
    organization_id: UUID | None
    device_id: UUID | None
    provider: str
    amr: list[str]
    authenticated_at: datetime
    used_at: datetime
    created_at: datetime
    stays_signed_in: bool
    has_lost_organization: bool = False
    confined_to: UUID | None = None
    confined_to_service: UUID | None = None
    connection_id: UUID | None = None
    confined_to_role: str | None = None
    lacks_connection: bool = False
    bounded_until: datetime | None = None
    domain_id: UUID | None = None
    domain_organization_id: UUID | None = None
    is_disowned: bool = False
    language: str | None = None
    impersonator_session_id: UUID | None = None
    impersonated_until: datetime | None = None
    lacks_required_connection: bool = False
    form_token: Secret = field(default=Secret(""))

    @property
    def is_impersonation(self) -> bool:
        """Whether a platform owner acts as its user in it, in the browser that has their own session."""
        return self.impersonated_until is not None

    @property
    def has_proved_second_factor(self) -> bool:
        """Whether a second factor was proved in this session, at its beginning or since."""
        return sessions.MFA in self.amr

    @property
    def confinement(self) -> Confinement | None:
        """The limits of what may be signed in to from it; None for a session without limits."""
        if self.confined_to is None:
            return None
        return Confinement(
            organization_id=self.confined_to,
            service_id=self.confined_to_service,
            connection_id=self.connection_id,
            role=self.confined_to_role,
            lacks_connection=self.lacks_connection,
        )

    @property
    def is_closed_to_account(self) -> bool:
        """Whether it opens only what it is limited to, and nothing of the account."""
        return self.confined_to is not None and self.lacks_required_connection

    def goes_to(self, organization_id: UUID | None, service_id: UUID | None) -> bool:
        """Return whether its user goes on there with this session; otherwise they sign in for it first."""
        confinement = self.confinement
        if confinement is None:
            return not self.lacks_required_connection
        if organization_id is None:
            return not self.is_closed_to_account
        return confinement.allows(organization_id, service_id)

    def is_recent(self, period: timedelta, *, at: datetime) -> bool:
        """Return whether its user has authenticated within that period."""
        return at - self.authenticated_at <= period


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserCookie:
    """What a browser keeps of its session; without a lifetime it forgets it when it is closed."""

    secret: Secret
    lifetime: timedelta | None


def find(uow: UnitOfWork, secret: str) -> BrowserSession | None:
    """Return the live session of a cookie, None when there is none, or when it belongs to another host.

    The secret of an impersonation belongs to no session: it means nothing without the platform owner's own.
    """
    found = _found(uow, secret)
    return None if found is None or found.is_impersonation else found


def find_impersonation(uow: UnitOfWork, own: BrowserSession, secret: str) -> BrowserSession | None:
    """Return the live impersonation of a cookie that began in this session of the same browser; None without one."""
    found = _found(uow, secret)
    return None if found is None or found.impersonator_session_id != own.session_id else found


def end_of(
    created_at: datetime, *, stays_signed_in: bool, at: datetime, bounded_until: datetime | None = None
) -> datetime:
    """Return when a session ends that is used at that moment for the last time."""
    ends_at = min(at + (LONG_IDLE_LIFETIME if stays_signed_in else IDLE_LIFETIME), created_at + ABSOLUTE_LIFETIME)
    return ends_at if bounded_until is None else min(ends_at, bounded_until)


def begin(uow: UnitOfWork, session_id: UUID, *, stays_signed_in: bool) -> BrowserCookie:
    """Keep a new session in a browser: return the cookie."""
    secret = uow.randomness.token()
    uow.browser_sessions.add(session_id, secret_hash=hash_token(secret.reveal()), stays_signed_in=stays_signed_in)
    return _cookie(secret, stays_signed_in=stays_signed_in)


def renew(uow: UnitOfWork, browser: BrowserSession) -> BrowserCookie:
    """Replace the secret of a session, because it may do more from now on; the old cookie is void."""
    secret = uow.randomness.token()
    uow.browser_sessions.replace_secret(browser.session_id, secret_hash=hash_token(secret.reveal()))
    return _cookie(secret, stays_signed_in=browser.stays_signed_in)


def and_renew(
    uow: UnitOfWork,
    browser: BrowserSession,
    use_case: Callable[Concatenate[UnitOfWork, Arguments], Result | Refusal],
    /,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> tuple[Result, BrowserCookie] | Refusal:
    """Run a use case that adds a factor, and renew the session with it unless it refuses."""
    result = use_case(uow, *args, **kwargs)
    return result if isinstance(result, Refusal) else (result, renew(uow, browser))


def needs_upkeep(browser: BrowserSession, *, at: datetime) -> bool:
    """Return whether `keep_up` has anything to store."""
    return browser.has_lost_organization or at - browser.used_at >= TOUCH_PERIOD


def keep_up(uow: UnitOfWork, browser: BrowserSession) -> None:
    """Store that a session is used now, which moves its end, and let go of an organization that it has lost.

    Without the second, every page would refuse a user who was removed from the organization that they had chosen.
    """
    # The use of an impersonation never moves its end.
    ends_at = browser.impersonated_until or end_of(
        browser.created_at,
        stays_signed_in=browser.stays_signed_in,
        at=uow.now,
        bounded_until=browser.bounded_until,
    )
    uow.browser_sessions.store_use(
        browser.session_id, ends_at=ends_at, leave_organization=browser.has_lost_organization
    )


def kept(browser: BrowserSession, secret: str) -> BrowserCookie:
    """Return the cookie that a browser has already; its lifetime begins anew with a use."""
    return _cookie(Secret(secret), stays_signed_in=browser.stays_signed_in)


def form_token_of(value: str) -> Secret:
    """Return the form token of a browser without a session, from the value of its short-lived cookie."""
    return _encoded(hmac.digest(value.encode("utf-8", "surrogatepass"), b"form", "sha256"))


def _found(uow: UnitOfWork, secret: str) -> BrowserSession | None:
    found = uow.browser_sessions.by_secret_hash(hash_token(secret))
    if found is None or found.domain_id != uow.origin.domain_id:
        return None
    return replace(found, form_token=_form_token(uow, found.session_id))


def _form_token(uow: UnitOfWork, session_id: UUID) -> Secret:
    # From the session and not from its secret, so that a form in another tab outlives a new secret.
    return _encoded(uow.pepper.mark("browser form", session_id.bytes))


def _encoded(digest: bytes) -> Secret:
    return Secret(base64.urlsafe_b64encode(digest).rstrip(b"=").decode())


def _cookie(secret: Secret, *, stays_signed_in: bool) -> BrowserCookie:
    return BrowserCookie(secret=secret, lifetime=LONG_IDLE_LIFETIME if stays_signed_in else None)
