"""What comes of a sign-in."""

from __future__ import annotations

from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from core.sessions.browser_sessions import BrowserCookie
from core.sessions.sessions import Session
from core.sessions.token_claims import TokenGrant
from core.sign_in.mfa_challenges import MfaChallenge


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunSession:
    """A session has begun. `conclude_child` returns no more: who takes it over gets tokens later (`refresh.py`)."""

    session: Session
    device_token: Secret
    refresh_token: Secret
    cookie: BrowserCookie | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInCompleted:
    """A session has begun, or was continued. A browser gets the cookie, any other client the tokens of the grant."""

    grant: TokenGrant
    cookie: BrowserCookie | None = None
    # Its user is told so, and asked to change it.
    has_breached_password: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactorPending:
    """The first factor was right; a second one is required, which may be a passkey if `takes_passkey`."""

    challenge: MfaChallenge
    takes_passkey: bool
    has_breached_password: bool = False


Outcome = SignInCompleted | SecondFactorPending | Refusal
