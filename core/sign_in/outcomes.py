"""The outcomes of a sign-in."""

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
    """A session has begun, without tokens: the party that `conclude_child` is for gets them later (`refresh.py`)."""

    session: Session
    device_token: Secret
    refresh_token: Secret
    cookie: BrowserCookie | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInCompleted:
    """A session has begun, or was continued. A browser gets the cookie, any other client the tokens of the grant."""

    grant: TokenGrant
    cookie: BrowserCookie | None = None
    # The page tells its user, and asks them to change it.
    has_breached_password: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactorPending:
    """The first factor was right; a second one is required, which may be a passkey if `takes_passkey`."""

    challenge: MfaChallenge
    takes_passkey: bool
    has_breached_password: bool = False


Outcome = SignInCompleted | SecondFactorPending | Refusal
