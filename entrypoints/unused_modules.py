"""Modules that libraries import at a start, though a server uses nothing of them (ops/decisions/0101-a-lean-start.md).

Quart imports its command line, its client for tests and a server for asyncio; Hypercorn imports HTTP/2 and WebSocket,
which `web/serving/protocols.py` never begins; structlog and httpx load rich and Pygments where they find them.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Final

# Each has a stand-in while a server is imported, whose names are classes that do nothing.
STOOD_IN: Final = (
    "aiofiles",
    "aiofiles.base",
    "aiofiles.threadpool",
    "aiofiles.threadpool.binary",
    "click",
    "flask.cli",
    "h2",
    "h2.events",
    "hypercorn.asyncio",
    "hypercorn.protocol.h2",
    "hypercorn.protocol.ws_stream",
    "quart.cli",
    "quart.testing",
    "quart_trio.testing",
    "werkzeug.serving",
    "werkzeug.test",
)
# These are not found while a server is imported, and what imports them does without.
HIDDEN: Final = ("pygments", "rich")


class _StandIn(ModuleType):
    """Has every name."""

    def __getattr__(self, name: str) -> type[Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        found = type(name, (_Unused,), {"__module__": self.__name__})
        setattr(self, name, found)
        return found


class _Unused:
    """What has a name of a stand-in: it is made of anything, and has no use."""

    def __init__(self, *arguments: object, **named: object) -> None:
        pass


@contextmanager
def left_out() -> Generator[None]:
    """Import a server without them; what is imported already, or later, is the real one."""
    stand_ins = {name: _StandIn(name) for name in STOOD_IN} | dict.fromkeys(HIDDEN)
    placed = {name: module for name, module in stand_ins.items() if name not in sys.modules}
    # None is what Python has for a module that is not to be found.
    modules: dict[str, Any] = sys.modules
    modules.update(placed)
    try:
        yield
    finally:
        for name in placed:
            del modules[name]
