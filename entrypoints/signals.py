"""Which signals mean that somebody wants us to stop."""

import signal
from typing import Final

# From a supervisor, from a person's Ctrl-C, and from a terminal that is closed.
_CUSTOMARY: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def stop_signals() -> frozenset[signal.Signals]:
    """List the signals that stop us; those that whoever started us wants ignored, as nohup does, stay ignored."""
    return frozenset(number for number in _CUSTOMARY if signal.getsignal(number) is not signal.SIG_IGN)
