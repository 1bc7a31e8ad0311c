"""Where a measurement reports its progress: on standard error, because the tables go to standard output."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    Say: TypeAlias = Callable[[str], None]


def say(text: str) -> None:
    """Print a line at once."""
    print(text, file=sys.stderr, flush=True)
