"""Memory that this process has freed, and the allocator keeps: given back to the system where that is possible."""

from __future__ import annotations

import ctypes
from typing import Final

_C: Final = ctypes.CDLL(None)


def return_free_memory() -> None:
    """Give freed memory back; does nothing where the C library is not that of GNU."""
    # It takes milliseconds for hundreds of megabytes, during which other threads may allocate.
    trim = getattr(_C, "malloc_trim", None)
    if trim is not None:
        trim(0)
