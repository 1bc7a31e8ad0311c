"""Places: the use cases that may run at the same time, shared out among all that wait (`ops/decisions/0050`).

Each claim names its share, by a key such as an organization. The shares take turns, so a claim waits behind the earlier
claims of its own share and at most one claim of each other one. A share has at most half of the places. A quarter of
the places is reserved for sign-ins, and one share has at most half of these. Each of these numbers is at least one; a
single place is reserved for nothing.

A claim may name a row that its use case locks. One claim for a row has a place at a time. The others wait for it before
they wait for a place, so that they hold none while PostgreSQL would make them wait.

Everything here is done without switching tasks, and nothing is kept of a share that neither waits nor has a place.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import NamedTuple

import trio


class Share(NamedTuple):
    """The share that a claim belongs to; sign-ins have keys of their own."""

    key: Hashable
    is_sign_in: bool = False
    # The row that the use case locks, if the caller names one.
    row: Hashable = None


class PlacesStatistics(NamedTuple):
    """How many places are taken, and how many claims wait for one."""

    taken: int
    waiting: int
    waiting_sign_ins: int


class _Holder:
    """What a share has at present, and its claims that wait for a place."""

    __slots__ = ("held", "key", "reserved", "waiting")

    def __init__(self, key: Hashable) -> None:
        self.key = key
        self.held = 0
        # The reserved ones among them.
        self.reserved = 0
        self.waiting: OrderedDict[Claim, None] | None = None


class Claim:
    """One place, as a limiter of Trio: to be acquired once, and then released."""

    __slots__ = ("_places", "holder", "is_reserved", "share", "task")

    def __init__(self, places: Places, share: Share) -> None:
        self._places = places
        self.share = share
        self.is_reserved = False
        self.holder: _Holder
        # The task that waits.
        self.task: trio.lowlevel.Task

    def acquire_nowait(self) -> None:
        """Take a place that is free; raise `trio.WouldBlock`."""
        if not self._places.take(self):
            raise trio.WouldBlock

    async def acquire(self) -> None:
        """Take a place, and wait for it first; a claim whose task is cancelled leaves its queue."""
        if self._places.take(self):
            return
        self.task = trio.lowlevel.current_task()
        self._places.wait(self)
        await trio.lowlevel.wait_task_rescheduled(self._leave)

    def release(self) -> None:
        """Give the place back."""
        self._places.give_back(self)

    def _leave(self, _raise_cancel: object) -> trio.lowlevel.Abort:
        self._places.leave(self)
        return trio.lowlevel.Abort.SUCCEEDED


class Places:
    """A number of places; whenever one is free, no claim waits that might have it."""

    def __init__(self, total: int) -> None:
        reserved = min(max(1, total // 4), total - 1)
        self._total = total
        self._of_a_share_max = max(1, total // 2)
        self._reserved_of_a_share_max = max(1, reserved // 2)
        self._free = total - reserved
        self._reserved_free = reserved
        self._sign_ins: dict[Hashable, _Holder] = {}
        self._others: dict[Hashable, _Holder] = {}
        # The shares that may have one more place of either kind and wait for it; the next one is at the beginning.
        self._turns: OrderedDict[_Holder, None] = OrderedDict()
        self._reserved_turns: OrderedDict[_Holder, None] = OrderedDict()
        # For each row that is taken, the claims that wait for it.
        self._rows: dict[Hashable, OrderedDict[Claim, None]] = {}

    def claim(self, share: Share) -> Claim:
        """Return a claim to a place."""
        return Claim(self, share)

    def statistics(self) -> PlacesStatistics:
        """Count the places that are taken, and the claims that wait."""
        sign_ins = sum(len(holder.waiting or ()) for holder in self._sign_ins.values())
        others = sum(len(holder.waiting or ()) for holder in self._others.values())
        return PlacesStatistics(
            taken=sum(holder.held for holders in (self._sign_ins, self._others) for holder in holders.values()),
            waiting=sign_ins + others + sum(map(len, self._rows.values())),
            waiting_sign_ins=sign_ins,
        )

    @property
    def keys_count(self) -> int:
        """The number of shares and rows that are remembered."""
        return len(self._sign_ins) + len(self._others) + len(self._rows)

    def take(self, claim: Claim) -> bool:
        """Give a claim a free place; return whether it has one now."""
        row = claim.share.row
        if row is not None and row in self._rows:
            return False
        holder = claim.holder = self._holder(claim)
        if holder.waiting:
            return False
        if self._may_have_reserved(claim.share, holder) and self._reserved_free:
            self._grant(claim, is_reserved=True)
        elif holder.held < self._of_a_share_max and self._free:
            self._grant(claim, is_reserved=False)
        else:
            return False
        if row is not None:
            self._rows[row] = OrderedDict()
        return True

    def wait(self, claim: Claim) -> None:
        """Put a claim that has no place at the end of its queue."""
        row = claim.share.row
        if row is None:
            self._queue(claim)
        elif row in self._rows:
            self._rows[row][claim] = None
        else:
            self._rows[row] = OrderedDict()
            self._queue(claim)

    def leave(self, claim: Claim) -> None:
        """Take a claim out of its queue."""
        row = claim.share.row
        if row is not None and claim in self._rows[row]:
            del self._rows[row][claim]
            return
        waiting = claim.holder.waiting
        assert waiting is not None, "a claim leaves the queue of a share that has none"
        del waiting[claim]
        self._renew_turns(claim)
        self._pass_row_on(claim)
        self._serve()

    def give_back(self, claim: Claim) -> None:
        """Take the place of a claim, and give it to the next one."""
        holder = claim.holder
        holder.held -= 1
        if claim.is_reserved:
            holder.reserved -= 1
            self._reserved_free += 1
        else:
            self._free += 1
        self._renew_turns(claim)
        self._pass_row_on(claim)
        self._serve()

    def _holder(self, claim: Claim) -> _Holder:
        """Return the holder of a share; a new one is kept as soon as it has or awaits a place."""
        return self._holders(claim.share).get(claim.share.key) or _Holder(claim.share.key)

    def _holders(self, share: Share) -> dict[Hashable, _Holder]:
        return self._sign_ins if share.is_sign_in else self._others

    def _may_have_reserved(self, share: Share, holder: _Holder) -> bool:
        return (
            share.is_sign_in and holder.reserved < self._reserved_of_a_share_max and holder.held < self._of_a_share_max
        )

    def _grant(self, claim: Claim, *, is_reserved: bool) -> None:
        holder = claim.holder
        self._holders(claim.share)[holder.key] = holder
        claim.is_reserved = is_reserved
        holder.held += 1
        if is_reserved:
            holder.reserved += 1
            self._reserved_free -= 1
        else:
            self._free -= 1

    def _queue(self, claim: Claim) -> None:
        holder = claim.holder = self._holder(claim)
        self._holders(claim.share)[holder.key] = holder
        if holder.waiting is None:
            holder.waiting = OrderedDict()
        holder.waiting[claim] = None
        self._renew_turns(claim)

    def _renew_turns(self, claim: Claim) -> None:
        """Let the share of a claim wait for the places that it may have; forget it if it has and awaits none."""
        share, holder = claim.share, claim.holder
        if not holder.waiting:
            self._turns.pop(holder, None)
            self._reserved_turns.pop(holder, None)
            if not holder.held:
                self._holders(share).pop(holder.key, None)
            return
        if holder.held < self._of_a_share_max:
            self._turns.setdefault(holder)
        else:
            self._turns.pop(holder, None)
        if self._may_have_reserved(share, holder):
            self._reserved_turns.setdefault(holder)
        else:
            self._reserved_turns.pop(holder, None)

    def _pass_row_on(self, claim: Claim) -> None:
        """Let the next claim for the row of this one wait for a place."""
        row = claim.share.row
        if row is None:
            return
        waiting = self._rows[row]
        if waiting:
            self._queue(waiting.popitem(last=False)[0])
        else:
            del self._rows[row]

    def _serve(self) -> None:
        """Give every free place to a claim that may have it, one of each share after the other."""
        while self._reserved_free and self._reserved_turns:
            self._serve_next(self._reserved_turns, is_reserved=True)
        while self._free and self._turns:
            self._serve_next(self._turns, is_reserved=False)

    def _serve_next(self, turns: OrderedDict[_Holder, None], *, is_reserved: bool) -> None:
        holder, _ = turns.popitem(last=False)
        assert holder.waiting, "a share has a turn although it waits for nothing"
        claim, _ = holder.waiting.popitem(last=False)
        self._grant(claim, is_reserved=is_reserved)
        # At the end, if it waits for another one.
        self._renew_turns(claim)
        trio.lowlevel.reschedule(claim.task)
