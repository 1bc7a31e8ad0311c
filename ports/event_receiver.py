"""The receiver of the payment provider's events, for its route and for the sandbox."""

from typing import Protocol

from ports.database import Database


class BillingReceiver(Protocol):
    """The receiver of events, for the route of the provider and for the sandbox."""

    async def receive(self, header: str | None, body: bytes, database: Database) -> None:
        """Store and apply an event in the database of the request; raise a refusal when it is not acceptable."""
        ...

    async def deliver(self, body: bytes) -> bool:
        """Sign an event and pass it to the receiver; return whether the receiver accepted it."""
        ...
