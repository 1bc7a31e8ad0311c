"""A program that takes a terminal and becomes another program: `python on_terminal.py TERMINAL COMMAND…`.

It has to lead its session, to which the terminal then belongs.
"""

from __future__ import annotations

import fcntl
import os
import sys
import termios
from collections.abc import Sequence


def main(terminal: str, command: Sequence[str]) -> None:
    """Take the terminal, and become the command."""
    descriptor = os.open(terminal, os.O_RDWR)
    fcntl.ioctl(descriptor, termios.TIOCSCTTY, 0)
    os.close(descriptor)
    os.execvp(command[0], [*command])  # noqa: S606 - the command that is to be tried


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
