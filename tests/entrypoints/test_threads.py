"""Work on threads: no part of serving waits for the threads that the whole process shares."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
# What runs alone: the start of a process, and the commands of an operator.
ALONE = ("entrypoints/main.py", "entrypoints/signing_key_pairs.py", "entrypoints/operator/")


def test_work_on_threads_names_threads_of_its_own() -> None:
    paths = [path for layer in ("actors", "adapters", "entrypoints") for path in (ROOT / layer).rglob("*.py")]
    calls = [
        (str(path.relative_to(ROOT)), call)
        for path in paths
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("to_thread.run_sync")
    ]

    sharing = [
        f"{name}:{call.lineno}"
        for name, call in calls
        if not name.startswith(ALONE) and "limiter" not in {keyword.arg for keyword in call.keywords}
    ]

    assert len(calls) > len(ALONE)
    assert sharing == []
