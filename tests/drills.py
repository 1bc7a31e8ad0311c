"""The sizes of drills: small in the tests, and as large as an operator's machine is tried with by a variable.

`GATEHOUSE_TEST_<NAME>=300 .venv/bin/python -m pytest FILE` sets one; the module of the drill names it.
"""

from __future__ import annotations

import os
from typing import Final

import psutil

PREFIX: Final = "GATEHOUSE_TEST_"


def size_of(name: str, otherwise: int) -> int:
    """Return the size of a drill that the environment sets, or the one of the tests."""
    return int(os.environ.get(PREFIX + name, otherwise))


def memory_of(processes: list[psutil.Process]) -> int:
    """Return the bytes that processes take together: pages that they share are divided among them."""
    return sum(process.memory_full_info().pss for process in processes)
