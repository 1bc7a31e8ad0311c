"""The index of the decision records has each of them once, with what was decided."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from tests.documents import DECISIONS, ROOT

INDEX: Final = ROOT / "ops" / "decisions" / "README.md"
# A title is shorter than what was decided.
WORDS_MIN: Final = 8


def entries() -> list[tuple[str, str, str]]:
    """Return the number, the file and the words of each line of the index."""
    return re.findall(r"^- \[(\d{4})\]\((\S+)\): (.+)$", INDEX.read_text(), re.MULTILINE)


def test_every_record_is_in_the_index_once() -> None:
    records = {path.name for path in DECISIONS} - {INDEX.name}

    assert Counter(file for _, file, _ in entries()) == Counter(records)
    assert [file for number, file, _ in entries() if not file.startswith(f"{number}-")] == []


def test_a_line_of_the_index_says_what_was_decided() -> None:
    assert [words for _, _, words in entries() if len(words.split()) < WORDS_MIN or not words.endswith(".")] == []
