"""Memory that this process has freed, and the allocator keeps: given back to the system where that is possible."""

from __future__ import annotations

import ctypes
import gc
from typing import Final

_C: Final = ctypes.CDLL(None)


def return_free_memory() -> None:
    """Free what a flood has left in circles of references, and give freed memory back to the system.

    The collector stops everything else for about a tenth of a second for 1,500 connections. The second step takes
    milliseconds, and does nothing where the C library is not that of GNU.
    """
    gc.collect()
    trim = getattr(_C, "malloc_trim", None)
    if trim is not None:
        trim(0)
