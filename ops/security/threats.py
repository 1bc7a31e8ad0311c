"""The threat model: reads `threats.toml`, checks it, and writes a page of the manual for each boundary.

    .venv/bin/python -m ops.security.threats

A threat has the rule against it, with the number that comments of the code have, the code that holds the rule, and
tests that try it. The pages do not show the number.
"""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ops.security.names import ROOT, is_named, is_test

SOURCE: Final = ROOT / "ops" / "security" / "threats.toml"
FOLDER: Final = ROOT / "ops" / "docs" / "security"
# Every boundary has its page.
BOUNDARIES: Final = ("browser", "service", "customer", "directory", "provider", "operator", "database")
_FIELDS: Final = {"threat", "rule", "answer", "code", "tests"}
_RULE: Final = re.compile(r"\d{1,2}\.\d{1,2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """A boundary, who reads its page, what is behind it, and the threats that cross it."""

    name: str
    title: str
    reader: str
    assets: str
    threats: list[dict[str, Any]]

    @property
    def page(self) -> Path:
        """The page of the manual."""
        return FOLDER / f"threats-{self.name}.md"


def main() -> int:
    """Check the source and write the pages; return the status."""
    boundaries = read(SOURCE.read_text())
    if found := problems(boundaries):
        print(*found, sep="\n", file=sys.stderr)
        return 1
    FOLDER.mkdir(exist_ok=True)
    for boundary in boundaries:
        boundary.page.write_text(page(boundary, boundaries))
        print(boundary.page.relative_to(ROOT))
    return 0


def read(text: str) -> list[Boundary]:
    """Return the boundaries of a source, in its order."""
    return [Boundary(name=name, **fields) for name, fields in tomllib.loads(text).items()]


def problems(boundaries: list[Boundary]) -> list[str]:
    """Return what is wrong; each begins with the boundary and the number of the threat in it."""
    names = [boundary.name for boundary in boundaries]
    found = [f"the boundaries are {names}, not {list(BOUNDARIES)}"] if names != list(BOUNDARIES) else []
    return found + [
        f"{boundary.name} {number}: {problem}"
        for boundary in boundaries
        for number, threat in enumerate(boundary.threats, 1)
        for problem in _problems_of(threat)
    ]


def _problems_of(threat: dict[str, Any]) -> list[str]:
    if threat.keys() != _FIELDS:
        return [f"has the fields {sorted(threat)}, not {sorted(_FIELDS)}"]
    found = [] if _RULE.fullmatch(threat["rule"]) else [f"the rule {threat['rule']} is no number of a decision"]
    if not is_named(threat["code"]):
        found.append(f"the rule is gone: {threat['code']} does not exist")
    if not threat["tests"]:
        found.append("has no test")
    return found + [f"the test {test} does not exist" for test in threat["tests"] if not is_test(test)]


def page(boundary: Boundary, boundaries: list[Boundary]) -> str:
    """Return the page of a boundary."""
    rows = [_row(number, threat) for number, threat in enumerate(boundary.threats, 1)]
    others = ", ".join(f"[{one.title}]({one.page.name})" for one in boundaries if one is not boundary)
    return "\n".join(
        [
            f"# Threats: {boundary.title}",
            "",
            boundary.reader,
            "",
            f"Behind this boundary: {boundary.assets}. The other boundaries: {others}. What ends what is in the",
            "[table of endings](endings.md).",
            "",
            "| | What is tried | The rule | Where it is held | Tests that try it |",
            "|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _row(number: int, threat: dict[str, Any]) -> str:
    tests = "<br>".join(_linked(test) for test in threat["tests"])
    return f"| {number} | {threat['threat']} | {threat['answer']} | {_linked(threat['code'])} | {tests} |"


def _linked(name: str) -> str:
    path, _, inside = name.partition("::")
    return f"[{inside or path}](../../../{path})"


if __name__ == "__main__":
    sys.exit(main())
