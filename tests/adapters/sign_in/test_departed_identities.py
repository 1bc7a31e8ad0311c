"""Each statement that unlinks identities remembers who has left, so that they are linked again, or forgets them."""

from __future__ import annotations

import re
from pathlib import Path

import adapters.postgres

UNLINKS = re.compile(r"DELETE FROM identities\b|UPDATE identities SET user_id\b")
REMEMBERS_OR_FORGETS = re.compile(r"(?:DELETE FROM|INSERT INTO|UPDATE) departed_identities\b")


def test_each_statement_that_unlinks_remembers_who_has_left_or_forgets_them() -> None:
    root = Path(adapters.postgres.__path__[0])
    sources = {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*.py")}
    unlinking = {path: text for path, text in sources.items() if UNLINKS.search(text)}

    lacking = [
        path for path, text in unlinking.items() if len(UNLINKS.findall(text)) > len(REMEMBERS_OR_FORGETS.findall(text))
    ]

    assert len(unlinking) > 5
    assert lacking == []
