"""Listening sockets that another process hands over by `LISTEN_FDS`: systemd, or this process before it began anew.

What connects while no server runs waits in the queue of such a socket. systemd keeps its copy, so the queue outlives a
restart (sd_listen_fds(3)). A server without workers that reads its settings again hands its sockets to itself.
"""

from __future__ import annotations

import fcntl
import os
import socket
import sys
from collections.abc import Mapping, MutableMapping
from typing import Final

from core.lazy_dataclasses import dataclass
from entrypoints.refusals import CannotStart

# The name of the socket for /metrics and /internal/ (FileDescriptorName= in its unit); any other is for everyone.
METRICS: Final = "metrics"
# Before a name: no other process has the socket.
_OWN: Final = "own-"
_FIRST: Final = 3
_VARIABLES: Final = ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES")


@dataclass(frozen=True, slots=True)
class HandedSocket:
    """A listening socket; `is_kept` says that another process keeps it, so that its queue outlives this one."""

    listener: socket.socket
    is_kept: bool


def taken(environment: MutableMapping[str, str]) -> dict[str, HandedSocket]:
    """Take the sockets that this process was given from the environment: `metrics`, and by any other name `public`.

    Raise `CannotStart` for a socket on which it cannot serve.
    """
    process, number, names = (environment.pop(name, "") for name in _VARIABLES)
    if process != str(os.getpid()) or not number.isdecimal():
        # Of a parent, which has left its variables to its children.
        return {}
    found: dict[str, HandedSocket] = {}
    for place, name in enumerate((names.split(":") if names else [""] * int(number))[: int(number)]):
        own = name.startswith(_OWN)
        kind = METRICS if name.removeprefix(_OWN) == METRICS else "public"
        if kind in found:
            raise CannotStart(
                f"Two sockets were handed over for {kind}. Gatehouse takes one for everyone, and one that is called"
                f" {METRICS} (FileDescriptorName={METRICS})."
            )
        found[kind] = HandedSocket(_listening(_FIRST + place), is_kept=not own)
    return found


def is_listening(listener: socket.socket) -> bool:
    """Return whether clients can connect to a socket."""
    return bool(listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))


def begin_anew(listeners: Mapping[str, HandedSocket]) -> None:
    """Execute this command again, which takes the sockets; it returns only by an `OSError`."""
    above = _FIRST + len(listeners)
    moved = [fcntl.fcntl(one.listener.fileno(), fcntl.F_DUPFD_CLOEXEC, above) for one in listeners.values()]
    names = [name if one.is_kept else _OWN + name for name, one in listeners.items()]
    for place, descriptor in enumerate(moved):
        os.dup2(descriptor, _FIRST + place, inheritable=True)
    values = (str(os.getpid()), str(len(names)), ":".join(names))
    environment = {**os.environ, **dict(zip(_VARIABLES, values, strict=True))}
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)  # noqa: S606 - this very command


def _listening(descriptor: int) -> socket.socket:
    try:
        # Programs that this process runs, such as PostgreSQL, must not have it.
        os.set_inheritable(descriptor, False)
        listener = socket.socket(fileno=descriptor)
        listens = is_listening(listener)
    except OSError as error:
        raise CannotStart(f"LISTEN_FDS hands over no socket as file {descriptor}: {error.strerror}.") from None
    if not listens or listener.family not in {socket.AF_INET, socket.AF_INET6}:
        raise CannotStart(
            "LISTEN_FDS hands over a socket that does not listen on TCP. Use ListenStream= with a port, and Accept=no."
        )
    listener.setblocking(False)
    return listener
