"""Where lines of the log go: a descriptor to which a process writes without ever waiting for the reader.

`O_NONBLOCK` belongs to the open file, which the terminal and other processes share, so it is never set on an inherited
descriptor. A pipe or a terminal is opened once more, which makes an open file of our own. A pipe of another user cannot
be opened, so lines are moved into it by `splice`. A socket takes the flag with each line. Writing to a file waits for
no reader.
"""

from __future__ import annotations

import fcntl
import os
import select
import socket
import stat
import sys
import termios
from contextlib import suppress
from typing import Final, Protocol

# A pipe takes this much whole or not at all, also with other writers.
WHOLE_BYTES_MAX: Final = select.PIPE_BUF
_INTEGER_BYTES: Final = 4


class Outlet(Protocol):
    """Takes the bytes of lines; only `wait` waits for a reader, and nothing raises `OSError`."""

    def send(self, data: bytes) -> int:
        """Take the bytes; return how many were taken: 0 when the reader is behind, has gone, or the disk is full."""
        ...

    def wait(self, seconds_max: float) -> bool:
        """Return whether more may be taken, as soon as that is so, or at the end of this time.

        Return False at once where waiting does not help.
        """
        ...

    def renew(self) -> None:
        """Stop sharing what a forked process must have for itself."""
        ...

    def close(self) -> None:
        """Close what was opened for this outlet, which is no longer used; the descriptor itself stays open."""
        ...


def outlet_of(descriptor: int) -> Outlet:
    """Return what writes to this descriptor, which stays open and as it is."""
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISSOCK(mode):
        return SocketOutlet(descriptor)
    if stat.S_ISFIFO(mode):
        own = _opened_again(descriptor)
        if own is not None:
            return PipeOutlet(own)
        # Elsewhere a line waits for its reader.
        return SplicingOutlet(descriptor) if sys.platform == "linux" else FileOutlet(descriptor)
    if os.isatty(descriptor) and (own := _opened_again(descriptor)) is not None:
        return ReaderOutlet(own)
    return FileOutlet(descriptor)


def _opened_again(descriptor: int) -> int | None:
    """Open what the descriptor leads to, without waiting; return None when that is not allowed or not possible."""
    with suppress(OSError):
        return os.open(
            f"/proc/self/fd/{descriptor}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_APPEND | os.O_CLOEXEC
        )
    return None


class FileOutlet:
    """A file or a device: one write for each line."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def send(self, data: bytes) -> int:
        try:
            return os.write(self._descriptor, data)
        except OSError:
            return 0

    def wait(self, seconds_max: float) -> bool:
        del seconds_max
        return False

    def renew(self) -> None:
        return

    def close(self) -> None:
        return


class ReaderOutlet(FileOutlet):
    """A descriptor that was opened for this outlet and has a reader."""

    def close(self) -> None:
        os.close(self._descriptor)

    def wait(self, seconds_max: float) -> bool:
        return _waited(self._descriptor, seconds_max)


class PipeOutlet(ReaderOutlet):
    """A pipe, in which long lines stay whole as well."""

    def send(self, data: bytes) -> int:
        if len(data) > WHOLE_BYTES_MAX and not _has_room(self._descriptor, len(data)):
            return 0
        # As in the class above, whose call every line would pay for.
        try:
            return os.write(self._descriptor, data)
        except OSError:
            return 0


class SplicingOutlet:
    """A pipe that this process may only write to: a line goes through a pipe of our own, and is moved from there."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._reader, self._writer = _own_pipe()

    def send(self, data: bytes) -> int:
        with suppress(OSError):
            if len(data) <= WHOLE_BYTES_MAX or _has_room(self._descriptor, len(data)):
                return self._send(data)
        return 0

    def wait(self, seconds_max: float) -> bool:
        return _waited(self._descriptor, seconds_max)

    def renew(self) -> None:
        self.close()
        self._reader, self._writer = _own_pipe()

    def close(self) -> None:
        os.close(self._reader)
        os.close(self._writer)

    def _send(self, data: bytes) -> int:
        assert sys.platform == "linux", "only Linux has pipes that are spliced"
        held = taken = os.write(self._writer, data)
        with suppress(OSError):
            while held:
                held -= os.splice(self._reader, self._descriptor, held, flags=os.SPLICE_F_NONBLOCK)
        if held:
            # The next line finds the pipe of our own empty.
            os.read(self._reader, held)
        return taken - held


class SocketOutlet:
    """A socket, as systemd gives one to the services that it starts."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=os.dup(descriptor))

    def send(self, data: bytes) -> int:
        try:
            return self._socket.send(data, socket.MSG_DONTWAIT)
        except OSError:
            return 0

    def wait(self, seconds_max: float) -> bool:
        return _waited(self._socket.fileno(), seconds_max)

    def renew(self) -> None:
        return

    def close(self) -> None:
        self._socket.close()


def _own_pipe() -> tuple[int, int]:
    reader, writer = os.pipe()
    for end in (reader, writer):
        os.set_blocking(end, False)
    return reader, writer


def _has_room(descriptor: int, size: int) -> bool:
    """Return whether a pipe takes a long line whole, if no other process fills it meanwhile; an empty one takes any."""
    if sys.platform != "linux":
        return True
    answer = bytearray(_INTEGER_BYTES)
    fcntl.ioctl(descriptor, termios.FIONREAD, answer)
    held = int.from_bytes(answer, sys.byteorder)
    # A line that does not fit into the rest of a page begins another, so at worst half of each page is unused.
    return not held or 2 * held + size + WHOLE_BYTES_MAX <= fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ)


def _waited(descriptor: int, seconds_max: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    ready = poll.poll(seconds_max * 1000)
    # Without POLLOUT alone, the reader has gone.
    return not ready or ready[0][1] == select.POLLOUT
