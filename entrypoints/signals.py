"""The signals that stop Gatehouse, and the one that lets a server read its settings again."""

import os
import signal
from contextlib import suppress
from functools import cache
from typing import Final

# Sent by a supervisor, by Ctrl-C, and by a terminal that closes.
_STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def stop_signals() -> frozenset[signal.Signals]:
    """Return the signals that stop a command, without those that its parent set to be ignored, as nohup does."""
    return frozenset(number for number in _STOP_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN)


def reload_signals() -> frozenset[signal.Signals]:
    """Return the signal by which a server reads its settings again: none with a terminal, whose end is that signal."""
    return frozenset() if has_terminal() else stop_signals() & {signal.SIGHUP}


def server_stop_signals() -> frozenset[signal.Signals]:
    """Return the signals that stop a server."""
    return stop_signals() - reload_signals()


@cache
def has_terminal() -> bool:
    """Return whether this process was started at a terminal; one that has closed since is still one."""
    with suppress(OSError):
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
        return True
    return False
