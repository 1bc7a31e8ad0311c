"""The part of the unit of work that belongs to the area `sessions`."""

from typing import Final, Protocol

from core.sessions.callers import Caller
from core.sessions.origins import Origin
from core.sessions.token_additions import TokenSubject
from ports.sessions.secrets import ServerSecrets, ShownSecrets, SigningKeys
from ports.sessions.sessions import (
    BrowserSessions,
    Callers,
    ClientGrants,
    CustomerSessions,
    Sessions,
    UnfinishedSignIns,
)


class SessionsUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    @property
    def origin(self) -> Origin:
        """The origin of the request."""
        ...

    @property
    def caller(self) -> Caller:
        """The signed-in caller, loaded once in this transaction.

        Raise `Unauthorized` when their session has ended, and `NoLongerInContext` when they no longer belong to the
        organization or service of the session.
        """
        ...

    @property
    def token_subject(self) -> TokenSubject:
        """The caller with the claims that the service adds to tokens, in one statement; raise as `caller` does."""
        ...

    @property
    def caller_if_signed_in(self) -> Caller | None:
        """The caller of a request that may carry an access token, None without one; else as `caller`.

        The caller need no longer belong to the context of their session, but must still be admitted by its service.
        """
        ...

    @property
    def caller_to_log_out(self) -> Caller | None:
        """As `caller_if_signed_in`, also for a caller that the service no longer admits."""
        ...

    callers: Final[Callers]
    sessions: Final[Sessions]
    customer_sessions: Final[CustomerSessions]
    client_grants: Final[ClientGrants]
    browser_sessions: Final[BrowserSessions]
    shown_secrets: Final[ShownSecrets]
    unfinished_sign_ins: Final[UnfinishedSignIns]
    signing_keys: Final[SigningKeys]
    server_secrets: Final[ServerSecrets]
