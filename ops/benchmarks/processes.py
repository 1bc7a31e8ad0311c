"""Processor time and memory of processes, read from /proc: Linux only, like the embedded PostgreSQL.

A tree is a process and all its descendants. PostgreSQL's server leaves the tree of the process that started it, so a
service is several trees.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
_TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process: its parent, and the processor time of its children that have ended, in whole hundredths."""

    pid: int
    parent: int
    ended_cpu_seconds: float


def parse_stat(text: str) -> Process:
    """Parse the line of /proc/PID/stat; proc_pid_stat(5) numbers its fields."""
    # The second field is the program's name in parentheses, and may contain spaces and parentheses.
    before, _, after = text.rpartition(")")
    fields = after.split()
    ended_user, ended_system = map(int, fields[13:15])
    return Process(
        pid=int(before.partition(" ")[0]),
        parent=int(fields[1]),
        ended_cpu_seconds=(ended_user + ended_system) / _TICKS_PER_SECOND,
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
        # The list grows while it is read, until no process in it has further children.
        found += children.get(process.pid, [])
    return found


def machine_cpu_seconds() -> float:
    """Return the processor time of all processes of this machine, and the time that its host has stolen."""
    user, nice, system, _idle, _waiting, *interrupts_and_stolen = map(
        int, (PROC / "stat").read_text().partition("\n")[0].split()[1:9]
    )
    return (user + nice + system + sum(interrupts_and_stolen)) / _TICKS_PER_SECOND


def own_cpu_seconds() -> float:
    """Return the processor time of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process, including what it shares with others."""
    return int((PROC / str(pid) / "statm").read_text().split()[1]) * _PAGE_BYTES


def proportional_bytes(roots: Collection[int]) -> int | None:
    """Return the memory of these trees, with shared memory counted once; None if the kernel does not permit it."""
    try:
        return sum(_proportional_bytes(process.pid) for process in tree(roots))
    except PermissionError:
        # Root in a container may not inspect the processes of PostgreSQL's user.
        return None


def _proportional_bytes(pid: int) -> int:
    for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name == "Pss":
            return int(rest.split()[0]) * 1024
    raise ValueError(f"/proc/{pid}/smaps_rollup has no proportional set size")


def _all_processes() -> list[Process]:
    processes: list[Process] = []
    for folder in PROC.iterdir():
        if folder.name.isdecimal():
            try:
                processes.append(parse_stat((folder / "stat").read_text()))
            except (FileNotFoundError, ProcessLookupError):
                # It ended after the listing; its parent has its processor time now.
                continue
    return processes
