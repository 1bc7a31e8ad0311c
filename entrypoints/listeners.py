"""The sockets on which a server listens: handed over by another process, or reserved at addresses of the settings."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import field, replace
from typing import Final

from core.lazy_dataclasses import dataclass
from entrypoints import handed_sockets
from entrypoints.handed_sockets import HandedSocket
from entrypoints.refusals import CannotStart
from entrypoints.server import listen_on, reserve
from entrypoints.setting_kinds import Bind
from entrypoints.settings import Settings

BIND: Final = "GATEHOUSE_BIND"
METRICS_BIND: Final = "GATEHOUSE_METRICS_BIND"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listeners:
    """The socket for everyone, and the one for what only the operator may reach, if that has an address of its own."""

    public: HandedSocket
    internal: HandedSocket | None
    # Of a process alone that begins anew.
    kept: dict[str, HandedSocket] = field(default_factory=dict)

    @property
    def all(self) -> dict[str, HandedSocket]:
        """All of them by their names."""
        return {"public": self.public} | ({} if self.internal is None else {handed_sockets.METRICS: self.internal})

    def listen(self, settings: Settings) -> None:
        """Start listening on those that do not listen yet."""
        for one, bind, setting in (
            (self.public, settings.bind, BIND),
            (self.internal, settings.metrics_bind, METRICS_BIND),
        ):
            if one is not None and bind is not None and not handed_sockets.is_listening(one.listener):
                listen_on(one.listener, bind, setting=setting)

    def keep(self) -> None:
        """Keep copies of the sockets for the time after this process has closed them."""
        self.kept.update({name: replace(one, listener=one.listener.dup()) for name, one in self.all.items()})


@contextmanager
def reserved(settings: Settings) -> Generator[Listeners]:
    """Reserve the addresses of the settings, where no socket was handed over for them."""
    handed = handed_sockets.taken(os.environ)
    if handed and settings.metrics_bind is None and handed_sockets.METRICS in handed:
        raise CannotStart(
            f"A socket for /metrics was handed over, and {METRICS_BIND} is not set. Set it, or disable the unit of the"
            " socket."
        )
    with ExitStack() as open_sockets:

        def listener(name: str, bind: Bind, setting: str) -> HandedSocket:
            one = handed.get(name) or HandedSocket(reserve(bind, setting=setting), is_kept=False)
            open_sockets.enter_context(one.listener)
            return one

        public = listener("public", settings.bind, BIND)
        internal = None
        if settings.metrics_bind is not None:
            internal = listener(handed_sockets.METRICS, settings.metrics_bind, METRICS_BIND)
        yield Listeners(public=public, internal=internal)
