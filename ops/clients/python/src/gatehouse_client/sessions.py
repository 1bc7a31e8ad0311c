"""Sessions of signed-in people, and where they are kept. How they begin, go on and end is in `sign_in.py`."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Protocol

from gatehouse_client.callers import Caller, caller_of

SESSIONS_MAX: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A signed-in browser.

    `id` is a keyed hash of its cookie: who reads the store cannot use a session, and no other product that shares the
    store takes the cookie.
    """

    id: str
    # The session at Gatehouse, and the person: what a back-channel logout names.
    sid: str
    sub: str
    access_token: str = field(repr=False)
    refresh_token: str | None = field(repr=False)
    id_token: str = field(repr=False)
    # When the access token expires, in seconds since 1970.
    expires_at: float
    # What the access token says, and the ID token: with the scope `profile`, names.
    claims: Mapping[str, Any] = field(repr=False)
    identity: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)

    @property
    def caller(self) -> Caller:
        """Who is signed in."""
        return caller_of(self.claims)

    def to_json(self) -> str:
        """Return the session as a text for a store. It has the tokens: keep it as you keep secrets."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str | bytes) -> Session:
        """Return the session of such a text."""
        return cls(**json.loads(text))


class SessionStore(Protocol):
    """Where sessions are kept. Write one over your database; with the async classes its methods may be async.

    Sessions can be removed 90 days after they were put last: no session of Gatehouse lasts longer.
    """

    def get(self, session_id: str) -> Session | Awaitable[Session | None] | None:
        """Return a session; None when there is none."""
        ...

    def put(self, session: Session) -> Awaitable[None] | None:
        """Keep a session, in place of the one with its id."""
        ...

    def delete(self, session_id: str) -> Awaitable[None] | None:
        """Remove a session, if there is one."""
        ...

    def delete_by(self, *, sid: str | None, sub: str | None) -> Awaitable[None] | None:
        """Remove the session with that `sid`; without one, all sessions of the person `sub`."""
        ...


class MemorySessions:
    """Sessions in the memory of this process, for development and for one process; the oldest go when it is full."""

    def __init__(self, sessions_max: int = SESSIONS_MAX) -> None:
        self._sessions_max = sessions_max
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, session_id: str) -> Session | None:
        """Return a session; None when there is none."""
        return self._sessions.get(session_id)

    def put(self, session: Session) -> None:
        """Keep a session, in place of the one with its id."""
        with self._lock:
            self._sessions[session.id] = session
            self._sessions.move_to_end(session.id)
            if len(self._sessions) > self._sessions_max:
                self._sessions.popitem(last=False)

    def delete(self, session_id: str) -> None:
        """Remove a session, if there is one."""
        with self._lock:
            self._sessions.pop(session_id, None)

    def delete_by(self, *, sid: str | None, sub: str | None) -> None:
        """Remove the session with that `sid`; without one, all sessions of the person `sub`."""
        with self._lock:
            ended = [one.id for one in self._sessions.values() if is_meant(one, sid=sid, sub=sub)]
            for session_id in ended:
                del self._sessions[session_id]


def is_meant(session: Session, *, sid: str | None, sub: str | None) -> bool:
    """Return whether a back-channel logout with these values ends a session."""
    return session.sid == sid if sid is not None else session.sub == sub
