"""Writes the table of endings of `core/endings.py` as a page of the manual.

.venv/bin/python -m ops.security.endings
"""

from __future__ import annotations

import string
import sys
from typing import Final

from core.endings import ENDED_BY, Cause, Issued
from ops.security.names import ROOT

PAGE: Final = ROOT / "ops" / "docs" / "security" / "endings.md"
INTRODUCTION: Final = """\
# What ends what

For security reviewers and support: what Gatehouse issues, and which events end it at once.

A dot means that the event ends what was issued before it, in the transaction of the event: the next request is
refused. The table is made from [core/endings.py](../../../core/endings.py); a test carries out each event with
everything issued, and expects exactly this.
"""


def main() -> int:
    """Write the page; return the status."""
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page())
    print(PAGE.relative_to(ROOT))
    return 0


def page() -> str:
    """Return the page: the events with a letter each, and a row for everything that is issued."""
    letters = dict(zip(Cause, string.ascii_uppercase[: len(Cause)], strict=True))
    causes = [f"| {letter} | {cause.value} |" for cause, letter in letters.items()]
    rows = [
        f"| {issued.value} | {' | '.join('●' if issued in ENDED_BY[cause] else '' for cause in letters)} |"
        for issued in Issued
    ]
    return "\n".join(
        [
            INTRODUCTION,
            "| | Event |",
            "|---|---|",
            *causes,
            "",
            f"| Issued | {' | '.join(letters.values())} |",
            f"|---|{'---|' * len(letters)}",
            *rows,
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
