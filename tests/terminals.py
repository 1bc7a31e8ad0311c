"""An output that is a terminal, for tests of what commands print."""

from __future__ import annotations

import io


class Terminal(io.StringIO):
    """An output that is a terminal."""

    def isatty(self) -> bool:
        return True
