"""The channels of announcements, to which `listening.py` listens in every process, and what others announce."""

from __future__ import annotations

from typing import Final

from ports.listening import Word

CHANNEL: Final = "gatehouse"
# Of its own, because the process that polls does not listen to it: each notification that a session receives is a
# transaction for PostgreSQL.
POLLS_CHANNEL: Final = "gatehouse_polls"
ANNOUNCE_FEED: Final = f"SELECT pg_notify('{CHANNEL}', '{Word.FEED.value}')"
