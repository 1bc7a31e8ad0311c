"""What processes use, as the operating system counts it. Read from /proc: Linux only, like the embedded PostgreSQL.

A tree is a process and everything that descends from it. PostgreSQL's server leaves the tree of whoever started it, so
a service is several trees.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

PROC: Final = Path("/proc")
_TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process: its parent, and the time that it and those of its children that have ended spent on a processor."""

    pid: int
    parent: int
    cpu_seconds: float


def parse_stat(text: str) -> Process:
    """Read the line of /proc/PID/stat, as proc_pid_stat(5) numbers its fields."""
    # The second field is the program's name in parentheses, and a name may hold spaces and parentheses.
    before, _, after = text.rpartition(")")
    fields = after.split()
    user, system, ended_user, ended_system = map(int, fields[11:15])
    return Process(
        pid=int(before.partition(" ")[0]),
        parent=int(fields[1]),
        cpu_seconds=(user + system + ended_user + ended_system) / _TICKS_PER_SECOND,
    )


def tree(roots: Collection[int]) -> list[Process]:
    """List the processes of these trees; raise `ProcessLookupError` when one of the roots has ended."""
    children: dict[int, list[Process]] = {}
    found: list[Process] = []
    for process in _all_processes():
        children.setdefault(process.parent, []).append(process)
        if process.pid in roots:
            found.append(process)
    missing = set(roots).difference(process.pid for process in found)
    if missing:
        raise ProcessLookupError(f"Process {missing.pop()}, which is being measured, has ended.")
    for process in found:
        # The list grows while it is read, until the last one has no children.
        found += children.get(process.pid, [])
    return found


def cpu_seconds(roots: Collection[int]) -> float:
    """Sum up the processor time, user and system, of these trees; of what has ended in them too."""
    return sum(process.cpu_seconds for process in tree(roots))


def machine_cpu_seconds() -> float:
    """Sum up the processor time that everything on this machine has used, and that its host has kept from it."""
    user, nice, system, _idle, _waiting, *interrupts_and_stolen = map(
        int, (PROC / "stat").read_text().partition("\n")[0].split()[1:9]
    )
    return (user + nice + system + sum(interrupts_and_stolen)) / _TICKS_PER_SECOND


def own_cpu_seconds() -> float:
    """Sum up the processor time of this process and of those of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def resident_bytes(pid: int) -> int:
    """Give the memory that a process has in RAM, what it shares with others included."""
    return int((PROC / str(pid) / "statm").read_text().split()[1]) * _PAGE_BYTES


def proportional_bytes(roots: Collection[int]) -> int | None:
    """Sum up the memory of these trees, what several share once; None where the kernel does not show it to us."""
    try:
        return sum(_proportional_bytes(process.pid) for process in tree(roots))
    except PermissionError:
        # Root in a container may not look into the processes of PostgreSQL's user.
        return None


def _proportional_bytes(pid: int) -> int:
    for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name == "Pss":
            return int(rest.split()[0]) * 1024
    raise ValueError(f"/proc/{pid}/smaps_rollup does not tell the proportional set size")


def _all_processes() -> list[Process]:
    processes: list[Process] = []
    for folder in PROC.iterdir():
        if folder.name.isdecimal():
            try:
                processes.append(parse_stat((folder / "stat").read_text()))
            except (FileNotFoundError, ProcessLookupError):
                # It ended between the listing and the reading; whoever waits for it has its time now.
                continue
    return processes
