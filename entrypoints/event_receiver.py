"""The receiver of the payment provider's events: signature, decoding, one transaction.

The route `/webhooks/billing` and the sandbox provider both end here, so that an event of the sandbox passes the same
checks as one of the provider. The sandbox passes its events within the process: behind a proxy, or on a port that the
kernel chose, an installation does not know its own address.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
import structlog

from core.billing import provider_events, receiver, signatures
from core.billing.provider import BillingMode
from core.billing.provider_events import EventInvalid
from core.billing.receiver import EventReceipt, Received
from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from ports.clock import Clock

if TYPE_CHECKING:
    from ports.database import Database

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventReceiver:
    """Receives events that are signed with the secret; the port `BillingReceiver`."""

    mode: BillingMode
    secret: Callable[[], Secret]
    clock: Clock
    database: Database

    async def receive(self, header: str | None, body: bytes, database: Database) -> None:
        """Store and apply an event; raise what is wrong with its signature or its body, and store nothing then."""
        signatures.verify(signatures.parse(header), body, self.secret(), at=self.clock())
        event = provider_events.parse(_decoded(body))
        received = await database.transact(receiver.receive, event, self.mode)
        _log(event.id, event.type, received)

    async def deliver(self, body: bytes) -> bool:
        """Sign an event as the provider does, and receive it; return whether that succeeded."""
        header = signatures.header_of(body, self.secret(), at=self.clock())
        try:
            await self.receive(header, body, self.database)
        except Refusal as refusal:
            log.warning("sandbox.event_refused", reason=refusal.message)
            return False
        return True


def _decoded(body: bytes) -> object:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise EventInvalid("The body is not valid JSON in UTF-8.") from None
    except RecursionError:
        raise EventInvalid("The body is nested too deeply.") from None


def _log(event_id: str, event_type: str, received: Received) -> None:
    """Report an event whose effect an operator has to know of, and the others at the lowest level."""
    about = {"event_id": event_id, "event_type": event_type}
    for refused_id in received.refused:
        # It names another organization's customer, another service's plan, or another purchase than before.
        log.warning("billing.event_refused", refused_event_id=refused_id, **about)
    if received.receipt is EventReceipt.CONFLICT:
        log.warning("billing.second_subscription", **about)
    log.debug("billing.event", receipt=received.receipt.value, **about)
