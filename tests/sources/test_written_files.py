"""The table of the files that the product writes is complete, and the manual has it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import pytest

from entrypoints.written_files import DATA_FOLDER, ELSEWHERE
from tests.documents import MANUAL, ROOT

LAYERS: Final = ("core", "ports", "adapters", "actors", "entrypoints")
# Of modules and of paths. Other functions named `link` or `move` take other keywords, or belong to other objects.
WRITING: Final = frozenset(
    {
        *("write_text", "write_bytes", "touch", "mkdir", "makedirs", "symlink_to", "hardlink_to", "mknod", "mkfifo"),
        *("mkstemp", "mkdtemp", "NamedTemporaryFile", "TemporaryFile", "TemporaryDirectory", "SpooledTemporaryFile"),
        *("ftruncate", "posix_fallocate", "pwrite", "copyfile", "copy2", "copytree", "copyfileobj"),
    }
)
FLAGS: Final = frozenset({"O_CREAT", "O_WRONLY", "O_RDWR", "O_APPEND", "O_TRUNC"})
MODES: Final = frozenset("wax+")
# Standard output, when its reader has closed the pipe; and what the log goes to, opened once more.
NO_FILES: Final = {
    "entrypoints/operator/cli.py": "os.open(os.devnull, os.O_WRONLY)",
    "entrypoints/log_outlets.py": (
        "os.open(f'/proc/self/fd/{descriptor}', os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_APPEND | os.O_CLOEXEC)"
    ),
}


def writes(tree: ast.AST) -> Iterator[str]:
    """Yield the calls that write a file, or map one into memory."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _writes(node):
            yield ast.unparse(node)


def _writes(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    match name:
        case "open" | "fdopen":
            modes = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            flags = {one.attr for part in given for one in ast.walk(part) if isinstance(one, ast.Attribute)}
            return bool(flags & FLAGS) or any(len(mode) <= 3 and set(mode) & MODES for mode in modes)
        case "mmap":
            return ast.unparse(given[0]) != "-1"
        case _:
            return name in WRITING


def found() -> dict[str, set[str]]:
    """Return the calls of each module of the product that write."""
    calls: dict[str, set[str]] = {}
    for layer in LAYERS:
        for path in sorted((ROOT / layer).rglob("*.py")):
            module = str(path.relative_to(ROOT))
            of_module = set(writes(ast.parse(path.read_text()))) - {NO_FILES.get(module)}
            if of_module:
                calls[module] = {call for call in of_module if call is not None}
    return calls


def test_each_module_that_writes_a_file_says_what_happens_where_it_cannot() -> None:
    named = {written.module for written in (*DATA_FOLDER, *ELSEWHERE)}

    calls = found()

    assert {module: calls[module] for module in calls.keys() - named} == {}
    assert named - calls.keys() == set()


@pytest.mark.parametrize(
    "source",
    [
        "path.write_text('x')",
        "open(path, 'ab')",
        "path.open(mode='w')",
        "os.open(path, os.O_RDWR | os.O_CREAT)",
        "tempfile.NamedTemporaryFile()",
        "mmap.mmap(file.fileno(), 10)",
        "folder.mkdir()",
    ],
)
def test_what_writes_is_found(source: str) -> None:
    assert list(writes(ast.parse(source))) == [ast.unparse(ast.parse(source))]


@pytest.mark.parametrize(
    "source", ["path.open()", "open(path, 'rb')", "os.open(path, os.O_RDONLY)", "mmap.mmap(-1, 8)"]
)
def test_what_only_reads_is_not(source: str) -> None:
    assert list(writes(ast.parse(source))) == []


def test_the_manual_says_what_is_written_to_the_data_folder_while_it_serves() -> None:
    page = (MANUAL / "production.md").read_text()

    for written in DATA_FOLDER:
        assert f"| `{written.place}` | {written.occasion} | {written.otherwise} |" in page
