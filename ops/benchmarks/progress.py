"""Where a measurement reports its progress: on standard error, because the tables go to standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeAlias

Say: TypeAlias = Callable[[str], None]


def say(text: str) -> None:
    """Print a line at once."""
    print(text, file=sys.stderr, flush=True)
