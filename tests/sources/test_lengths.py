"""Every module of the product is short enough to be read at once."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
LAYERS = ("core", "ports", "adapters", "actors", "entrypoints")
LINES_MAX = 450


def test_no_module_of_the_product_is_longer_than_the_rule() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *(f"{layer}/*.py" for layer in LAYERS)],
        check=True,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    lengths = {str(file.relative_to(ROOT)): _lines(file) for file in files if file.is_file() and not file.is_symlink()}

    assert len(lengths) > 500
    assert {name: lines for name, lines in lengths.items() if lines > LINES_MAX} == {}, "split it by story"


def _lines(file: Path) -> int:
    return len(file.read_bytes().splitlines())
