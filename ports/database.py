"""The seam between the event loop and the transactions: a use case goes in, its result comes out.

How a use case waits without keeping others waiting, which connection it takes and what is retried can all change behind
this port without touching one.
"""

from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar
from uuid import UUID

from core.sessions.callers import Origin
from ports.unit_of_work import UnitOfWork

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Database(Protocol):
    """Runs use cases. A caller that is cancelled while one runs waits for it: a transaction finishes whole."""

    async def transact(
        self,
        use_case: Callable[Concatenate[UnitOfWork, Arguments], Result],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run the use case in one transaction: committed when it returns, rolled back when it raises.

        Serialization failures, deadlocks and connections lost before the commit are retried a bounded number of times,
        and so is, once, a reference to a row that was deleted meanwhile. So a use case may run more than once; only its
        last run leaves a trace. Raise `ServiceUnavailable` when the database is away.
        """
        ...

    async def read(
        self,
        use_case: Callable[Concatenate[UnitOfWork, Arguments], Result],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run a use case that only looks: each statement by itself, without BEGIN and COMMIT."""
        ...

    async def step(
        self,
        use_case: Callable[Concatenate[UnitOfWork, Arguments], Result],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run a use case that changes something with one statement: a transaction by itself, without BEGIN and COMMIT.

        It may run again after it was done, when the connection was lost at that moment, so it has to be one that may.
        """
        ...

    def on_behalf_of(self, origin: Origin, session_id: UUID | None = None, client_id: UUID | None = None) -> "Database":
        """Give the same database as seen by a request from there.

        The session says who the caller is, and has to be one with the service of that client, or with none.
        """
        ...
