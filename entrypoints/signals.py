"""The signals that stop Gatehouse."""

import signal
from typing import Final

# Sent by a supervisor, by Ctrl-C, and by a terminal that closes.
_STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def stop_signals() -> frozenset[signal.Signals]:
    """Return the signals that stop the process, without those that its parent set to be ignored, as nohup does."""
    return frozenset(number for number in _STOP_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN)
