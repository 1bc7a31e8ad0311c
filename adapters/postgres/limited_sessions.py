"""The sessions that `lean_callers.sql` does not find although they live, as far as this process has seen them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final
from uuid import UUID

SESSIONS_MAX: Final = 10_000


class LimitedSessions:
    """The ids of those that were used last; bounded in number. One that is not known costs a statement, no more."""

    def __init__(self, sessions_max: int = SESSIONS_MAX) -> None:
        self._sessions_max = sessions_max
        # The one that was used last is at the end.
        self._ids: OrderedDict[UUID, None] = OrderedDict()

    def __len__(self) -> int:
        """Return how many sessions are known."""
        return len(self._ids)

    def __contains__(self, session_id: UUID) -> bool:
        """Return whether a session is known, which is used now."""
        is_known = session_id in self._ids
        if is_known:
            self._ids.move_to_end(session_id)
        return is_known

    def add(self, session_id: UUID) -> None:
        """Remember a session that was found by the other statement."""
        self._ids[session_id] = None
        if len(self._ids) > self._sessions_max:
            self._ids.popitem(last=False)
