"""Events about people of customers, sent to their vendors as the actor sends them."""

from __future__ import annotations

from core.customers.people_events import BATCH_PEOPLE_MAX, Told, tell
from ports.database import Database


async def tell_everything(database: Database, *, people_max: int = BATCH_PEOPLE_MAX) -> int:
    """Tell vendors of all that waits, in batches of so many people; return how many batches it took."""
    batches, told = 0, Told(has_more=True, last_turn=None)
    while True:
        told = await database.transact(tell, people_max, told.last_turn)
        if not told.has_more:
            return batches
        batches += 1
