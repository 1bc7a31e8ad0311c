"""Compares what can be seen of Gatehouse at two commits: what a change of the code alone must not change.

`ops/surface BASE` compares a commit with the files here, `ops/surface BASE COMMIT` with another one. Each is prepared
in a folder of its own and asked from outside, so that it does not matter how its code is divided: its commands, and a
server on an empty database. What is compared, a file each:

- `routes`: each route, and who may call it
- `openapi`: the document of the interface and of the pages, with the events
- `settings`: each setting with its default and its description
- `commands`: each command with its help
- `metrics`: each metric with its kind and its description
- `texts`: the catalogue of texts, without their places
- `schema`: `ops/schema.sql`, which a test of each commit compares with a fresh database

It prints the differences and ends with 1 if there are some.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Final

from ops.benchmarks.releases import ROOT, Release, check_out
from ops.benchmarks.servers import CannotMeasure, RunningServer, environment_of, service

Json = Mapping[str, "Json"] | Sequence["Json"] | str | float | None
COMMAND_SECONDS_MAX: Final = 120.0
DEVELOPMENT: Final = {"GATEHOUSE_DEV": "on"}
# What differs between two runs of one commit: the address of the server, and the version with the number of commits.
_RUN: Final = re.compile(r"(?:127\.0\.0\.1|localhost):\d+|\d+\.\d+\.\d+(?:\.dev\d+)?(?:\+g?[0-9a-f]+)?(?:\.dirty)?")
# Of a catalogue: a text with its context, whose translation may change without the text.
_TEXT: Final = re.compile(r"^(?:msgctxt|msgid|msgid_plural|msgstr(?:\[\d\])?) |^\"", re.MULTILINE)
_COMMAND: Final = re.compile(r"^ {4}([a-z][a-z-]*)(?: |$)", re.MULTILINE)
_METRIC: Final = re.compile(r"^# (?:HELP|TYPE) .*$", re.MULTILINE)


def main(arguments: Sequence[str]) -> int:
    """Compare two commits, and print what differs."""
    parser = argparse.ArgumentParser(prog="ops/surface", description="Compare what can be seen of two commits.")
    parser.add_argument("base", help="the commit to compare with, such as a release's")
    parser.add_argument("commit", nargs="?", help="the other commit; by default the files here")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="gatehouse-surface-") as scratch:
        try:
            before = surface(_gatehouse(given.base, Path(scratch) / "before"), Path(scratch) / "data-before")
            gatehouse = ROOT / ".venv/bin/gatehouse"
            if given.commit is not None:
                gatehouse = _gatehouse(given.commit, Path(scratch) / "after")
            after = surface(gatehouse, Path(scratch) / "data-after")
        except CannotMeasure as failure:
            print(failure, file=sys.stderr)
            return 2
    found = list(differences(before, after))
    for line in found:
        print(line)
    _say("nothing differs" if not found else f"{len(found)} lines differ")
    return 1 if found else 0


def surface(gatehouse: Path, data: Path) -> dict[str, list[str]]:
    """Return what can be seen of the version with this command, in lines by what they are."""
    root = gatehouse.parents[2]
    _say(f"asking {root}")
    commands = dict(_commands(gatehouse, ()))
    with service(data, DEVELOPMENT, gatehouse=gatehouse) as server:
        return {
            "routes": _run(gatehouse, "routes").splitlines(),
            "openapi": [*_document(server, "/openapi.json"), *_document(server, "/openapi.json?pages=true")],
            "settings": _run(gatehouse, "config").splitlines(),
            "commands": [f"{name}: {line}" for name, text in commands.items() for line in text.splitlines()],
            "metrics": sorted(_METRIC.findall(server.get("/metrics").decode())),
            "texts": [*_texts(root)],
            "schema": (root / "ops/schema.sql").read_text().splitlines(),
        }


def differences(before: Mapping[str, Sequence[str]], after: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the lines that differ, with what they are, without the lines around them."""
    for name in before:
        old, new = ([_RUN.sub("…", line) for line in lines[name]] for lines in (before, after))
        for line in difflib.unified_diff(old, new, n=0, lineterm=""):
            if not line.startswith(("---", "+++", "@@")):
                yield f"{name} {line}"


def _gatehouse(commit: str, folder: Path) -> Path:
    """Prepare a commit in a folder, and return its command."""
    return check_out(Release(version=commit, date="", commit=commit), folder, _say)


def _run(gatehouse: Path, *arguments: str) -> str:
    done = subprocess.run(
        [gatehouse, *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=gatehouse.parents[2],
        env=environment_of(Path("gatehouse-data")) | DEVELOPMENT | {"COLUMNS": "100"},
        timeout=COMMAND_SECONDS_MAX,
    )
    if done.returncode:
        raise CannotMeasure(f"gatehouse {' '.join(arguments)} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def _commands(gatehouse: Path, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each command with its help, those inside of it after it."""
    text = _run(gatehouse, *words, "--help")
    yield " ".join(words) or "gatehouse", text
    for name in _COMMAND.findall(text.partition("\ncommands:\n")[2]):
        yield from _commands(gatehouse, [*words, name])


def _document(server: RunningServer, path: str) -> list[str]:
    return list(_values(json.loads(server.get(path))))


def _values(value: Json, place: str = "") -> Iterator[str]:
    """Yield a line for each value of a document, with its place."""
    if isinstance(value, dict):
        for name, part in sorted(value.items()):
            yield from _values(part, f"{place} {name}")
    elif isinstance(value, list) and any(isinstance(part, dict) for part in value):
        # What has a name, as parameters and tags have, means the same in another order.
        places = [
            str(part.get("name", number) if isinstance(part, dict) else number) for number, part in enumerate(value)
        ]
        for name, part in sorted(zip(places, value, strict=True), key=itemgetter(0)):
            yield from _values(part, f"{place} {name}")
    else:
        yield f"{place}: {json.dumps(value, ensure_ascii=False)}"


def _texts(root: Path) -> Iterator[str]:
    for file in sorted((root / "entrypoints").rglob("*.po")):
        entries = file.read_text().split("\n\n")
        yield from sorted(
            " ".join(line for line in entry.splitlines() if _TEXT.match(line)) for entry in entries if "msgid" in entry
        )


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
