"""No file refers to a numbered section of documents that are not in the repository.

Say the rule where it is enforced, or name a page of the manual, a record in `ops/decisions/` or an RFC.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from typing import Final

import pytest

from tests.documents import ROOT

# The text of a released migration never changes.
MIGRATIONS: Final = "adapters/postgres/schema/migrations/"
# The number may stand in the next line of a comment. Four digits are the number of a record in `ops/decisions/`.
REFERENCE: Final = re.compile(
    r"(?<![\w/.-])(?:decisions?|identity|operations)(?:\s|#|\*|--|//)+\d{1,2}(?!\d)(?:\.\d+)*", re.IGNORECASE
)


def references(text: str) -> list[str]:
    """Return each reference after the number of its line."""
    return [
        f"{len(text[: found.end()].splitlines())}: {' '.join(found[0].split())}" for found in REFERENCE.finditer(text)
    ]


def tracked() -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each tracked file in UTF-8, without links to others."""
    listed = subprocess.run(["git", "ls-files", "-z"], check=True, cwd=ROOT, capture_output=True, text=True, timeout=60)
    for path in listed.stdout.split("\0")[:-1]:
        file = ROOT / path
        # A file may be deleted and not committed.
        if file.is_file() and not file.is_symlink():
            try:
                yield path, file.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def test_no_file_refers_to_a_section_of_a_document_that_is_not_here() -> None:
    texts = {path: text for path, text in tracked() if not path.startswith(MIGRATIONS)}

    found = [f"{path}:{reference}" for path, text in texts.items() for reference in references(text)]

    assert {"README.md", "pyproject.toml", "core/limits.py", "tests/sources/test_references.py"} <= texts.keys()
    assert found == []


@pytest.mark.parametrize("document", ["decisions", "Decision", "identity", "operations"])
@pytest.mark.parametrize(
    "written", ["({} 5.7)", "See {} 8.", "# As ({}\n    # 12.5) says.", "-- {} 1.2 and 3", "{}\n4.8"]
)
def test_a_reference_is_found(document: str, written: str) -> None:
    assert len(references(written.format(document))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "ops/decisions/0092-locks-of-migrations.md",
        "[0092](ops/decisions/0092-locks-of-migrations.md)",
        "as decision 0092 says",
        "service-identity 24.1",
        "RFC 9728, 5.1",
        "two decisions, 5 minutes apart",
        "operations.py:12",
    ],
)
def test_what_a_reader_can_follow_is_left(text: str) -> None:
    assert references(text) == []
