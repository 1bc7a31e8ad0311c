"""Events about people of customers, sent to their vendors as the actor sends them."""

from __future__ import annotations

from core.customers.people_events import BATCH_PEOPLE_MAX, PublishedBatch, publish_batch
from ports.database import Database


async def publish_everything(database: Database, *, people_max: int = BATCH_PEOPLE_MAX) -> int:
    """Tell vendors of all that waits, in batches of so many people; return how many batches it took."""
    batches, published = 0, PublishedBatch(has_more=True, last_turn=None)
    while True:
        published = await database.transact(publish_batch, people_max, published.last_turn)
        if not published.has_more:
            return batches
        batches += 1
