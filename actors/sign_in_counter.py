"""Counts the sign-ins and active users of all organizations in advance, so that no plot counts millions of sign-ins.

`core/audit/sign_in_counts.py` says which sign-ins are old enough. The process whose turn it is counts. While none
counts, pages add the sign-ins of a day themselves, and say after that up to when the log is counted.
"""

from __future__ import annotations

from typing import Unpack

from actors.batch_sizes import BatchSize
from actors.periods import PeriodicActor, PeriodicConnections
from core.audit import sign_in_counts

PERIOD_SECONDS = 60.0
# Each sign-in takes some 40 blocks, and each forgotten day two; the pause leaves the connection to others.
BATCH_SIGN_INS_MAX = 100
FORGOTTEN_DAYS_MAX = 2_000
PAUSE_SECONDS = 0.01

JOB_TYPE = "sign_in_counting"


class SignInCounter(PeriodicActor):
    """An actor; sign-ins that it has not counted remain for the next period, so it needs no draining."""

    job_type = JOB_TYPE
    period_seconds = PERIOD_SECONDS
    in_turn = True

    def __init__(self, **connections: Unpack[PeriodicConnections]) -> None:
        super().__init__(**connections)
        self._sign_ins = BatchSize(BATCH_SIGN_INS_MAX)
        self._days = BatchSize(FORGOTTEN_DAYS_MAX)

    async def work(self) -> None:
        await self._in_short_batches(self._sign_ins, sign_in_counts.count_next, pause_seconds=PAUSE_SECONDS)
        await self._in_short_batches(self._days, sign_in_counts.forget_days, pause_seconds=PAUSE_SECONDS)
