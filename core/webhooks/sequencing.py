"""Handing events on: each committed event gets its position in the feed, and a delivery to each webhook that wants it.

Positions are given by one transaction at a time, so a reader who has seen one never misses a lower one. Events that
were stored before there were positions get theirs beside the new ones, so that they delay none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.webhooks.feed import RETENTION

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def hand_on(uow: UnitOfWork, limit: int) -> int | None:
    """Hand on at most `limit` new events and as many old ones; return how many events.

    None means that another transaction is doing it at this moment. Events of one transaction keep their order. Events
    that are older than the feed keeps them need no position.
    """
    return uow.event_sequencing.hand_on(limit, kept_since=uow.now - RETENTION)
