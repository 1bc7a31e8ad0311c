"""Running use cases in transactions: the seam between the event loop and the database.

How a use case waits without blocking others, which connection it gets and what is retried can change behind this port
without changing a use case.

What is slow, such as a password hash or a mail server, happens between transactions, never inside one. A use case
decides what is allowed inside its transaction, from the present state of the database.
"""

from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar
from uuid import UUID

from core.connection_uses import BACKGROUND_USE, ConnectionUse
from core.errors import Refusal
from core.organizations.key_callers import TokenOfKey
from core.organizations.link_callers import SetupVisit
from core.prefixed_tokens import PrefixedToken
from core.sessions.origins import Origin
from ports.unit_of_work import UnitOfWork

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Database(Protocol):
    """Runs use cases. A task that is cancelled while one runs waits for its end: a transaction finishes as a whole."""

    async def transact(
        self,
        use_case: Callable[Concatenate[UnitOfWork, Arguments], Result | Refusal],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run the use case in one transaction: committed when it returns, rolled back when it raises.

        A refusal that the use case returns is raised after the commit. Serialization failures, deadlocks and
        connections lost before the commit are retried a bounded number of times; a reference to a row that was deleted
        meanwhile is retried once. So a use case may run more than once; only its last run has an effect. Raise
        `ServiceUnavailable` when the database cannot be reached.
        """
        ...

    async def read(
        self,
        use_case: Callable[Concatenate[UnitOfWork, Arguments], Result],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run a use case that only reads: each statement by itself, without BEGIN and COMMIT."""
        ...

    async def step(
        self,
        use_case: Callable[Concatenate[UnitOfWork, Arguments], Result],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run a use case that writes with one statement, which is a transaction by itself, without BEGIN and COMMIT.

        It must be safe to run twice: that happens when the connection is lost while it is executed, and when the use
        case requires a transaction.
        """
        ...

    def on_behalf_of(
        self,
        origin: Origin,
        session_id: UUID | None = None,
        client_id: UUID | None = None,
        api_key: PrefixedToken | None = None,
        scim_token: PrefixedToken | None = None,
        organization_credential: PrefixedToken | TokenOfKey | SetupVisit | None = None,
        use: ConnectionUse = BACKGROUND_USE,
    ) -> "Database":
        """Return the same database for a request from that origin.

        The session identifies the caller; its service must be that client, or none. An API key identifies the backend
        of a service instead, a SCIM token the directory of an organization, and the key of an organization or the
        cookie of a setup link the member who made it.

        Requests share the connections by organization and network: each uses at most half of them, a quarter is
        reserved for sign-ins, and transactions that change the same organization take turns on one connection.
        """
        ...
