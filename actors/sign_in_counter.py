"""Counts the sign-ins and active users of all organizations in advance, so that no plot counts millions of sign-ins.

`core/audit/sign_in_counts.py` says which sign-ins are old enough. The process whose turn it is counts. While none
counts, pages add the sign-ins of a day themselves, and say after that up to when the log is counted.
"""

from __future__ import annotations

import trio

from actors.periods import PeriodicActor
from core.audit import sign_in_counts

# Each sign-in takes some 40 blocks, and each forgotten day two; the pause leaves the connection to others.
BATCH_SIGN_INS_MAX = 100
FORGOTTEN_DAYS_MAX = 2_000
PAUSE_SECONDS = 0.01
# Days go out of use one a day.
FORGETTING_SECONDS = 3600.0


class SignInCounter(PeriodicActor):
    """An actor; sign-ins that it has not counted remain for the next period, so it needs no draining."""

    job_type = "sign_in_counting"
    period_seconds = 60.0
    in_turn = True
    _forgets_at = 0.0

    async def work(self) -> None:
        await self._in_short_batches(
            sign_in_counts.count_next, rows_max=BATCH_SIGN_INS_MAX, pause_seconds=PAUSE_SECONDS
        )
        if trio.current_time() >= self._forgets_at:
            await self._in_short_batches(
                sign_in_counts.forget_days, rows_max=FORGOTTEN_DAYS_MAX, pause_seconds=PAUSE_SECONDS
            )
            self._forgets_at = trio.current_time() + FORGETTING_SECONDS
