"""A program that hands listening sockets over and becomes another program, as systemd starts a unit with a socket.

`python handing.py DESCRIPTORS NAMES COMMAND…`: the first two are separated by commas, and the names may be empty.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Sequence
from typing import Final

FIRST: Final = 3
# Above the places that they get.
ABOVE: Final = 100


def main(descriptors: str, names: str, command: Sequence[str]) -> None:
    """Put the sockets where they are looked for, and become the command."""
    given = [fcntl.fcntl(int(descriptor), fcntl.F_DUPFD, ABOVE) for descriptor in descriptors.split(",")]
    for place, descriptor in enumerate(given):
        os.dup2(descriptor, FIRST + place, inheritable=True)
    os.environ["LISTEN_PID"], os.environ["LISTEN_FDS"] = str(os.getpid()), str(len(given))
    if names:
        os.environ["LISTEN_FDNAMES"] = names.replace(",", ":")
    os.execvp(command[0], [*command])  # noqa: S606 - the command that is to be tried


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
