"""The receiver of the payment provider's events, for its route and for the sandbox."""

from typing import Protocol

from ports.database import Database


class BillingReceiver(Protocol):
    """The receiver of events, for the route of the provider and for the sandbox."""

    async def receive(self, header: str | None, body: bytes, database: Database) -> None:
        """Store and apply an event in the database of the request; raise the refusal of one that is not acceptable."""
        ...

    async def deliver(self, body: bytes) -> bool:
        """Sign an event and hand it to the receiver; return whether it was answered with success."""
        ...
