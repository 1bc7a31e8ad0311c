"""The part of the unit of work that belongs to the area `sign_in`."""

from typing import Protocol

from ports.sign_in.browser_returns import BrowserReturns
from ports.sign_in.login_events import LoginEvents
from ports.sign_in.mfa_challenges import MfaChallenges


class SignInUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    @property
    def login_events(self) -> LoginEvents: ...

    @property
    def mfa_challenges(self) -> MfaChallenges: ...

    @property
    def browser_returns(self) -> BrowserReturns: ...
