"""The kinds of the sessions that were read last: they decide which statement reads a session, and nothing else."""

from __future__ import annotations

from collections import OrderedDict
from enum import Enum, auto
from typing import Final
from uuid import UUID

SESSIONS_MAX: Final = 10_000


class SessionKind(Enum):
    """Which statement finds a session; a wrong guess costs a statement."""

    # An account's own: for no service, no customer and no one organization, and begun by its own user.
    OWN = auto()
    # Any other one that acts for no customer, at a service without rules and claims of its own.
    LIMITED = auto()
    # Any other one.
    WHOLE = auto()


class SessionKinds:
    """The kinds of sessions that are not accounts' own, as far as this process has seen them; bounded in number."""

    def __init__(self, sessions_max: int = SESSIONS_MAX) -> None:
        self._sessions_max = sessions_max
        # The one that was used last is at the end.
        self._kinds: OrderedDict[UUID, SessionKind] = OrderedDict()

    def __len__(self) -> int:
        """Return of how many sessions the kind is known."""
        return len(self._kinds)

    def of(self, session_id: UUID, *, otherwise: SessionKind = SessionKind.OWN) -> SessionKind:
        """Return the kind of a session, which is used now."""
        kind = self._kinds.get(session_id)
        if kind is None:
            return otherwise
        self._kinds.move_to_end(session_id)
        return kind

    def add(self, session_id: UUID, kind: SessionKind) -> None:
        """Remember the kind of a session that is not an account's own."""
        self._kinds[session_id] = kind
        self._kinds.move_to_end(session_id)
        if len(self._kinds) > self._sessions_max:
            self._kinds.popitem(last=False)
